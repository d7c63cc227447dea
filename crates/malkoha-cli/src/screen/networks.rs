//! Addresses that lie in networks of a list.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use anyhow::Result;

use super::{Matcher, Origin};
use crate::input::Texts;
use crate::records::Unfit;
use crate::records::domains::Line;
use crate::records::networks::{Lines, Mark, Verdict, is_comment, subject};
use crate::records::range::{Range, v4};

/// Networks as sorted ranges of addresses that do not overlap.
#[derive(Default)]
pub(crate) struct Networks {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
    /// Where networks are listed, if requested.
    origins: Vec<Origin>,
}

/// First and last address, and the number of the smallest network that has them.
type Part<T> = (T, T, u32);

#[derive(Default)]
struct Ranges<T> {
    parts: Vec<Part<T>>,
    excepted: Vec<Part<T>>,
}

impl Matcher for Networks {
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()> {
        for (key, found) in keys.iter().zip(found) {
            *found |= match v4(key.trim_ascii()) {
                Some(address) => self.v4.owner(address, address).is_some(),
                None => self.owner(key).is_some(),
            };
        }
        Ok(())
    }

    fn origin(&self, key: &[u8]) -> Option<Origin> {
        self.origins.get(self.owner(key)? as usize).copied()
    }

    fn has_forms(&self) -> bool {
        true
    }

    fn refuses(&self, key: &[u8]) -> Option<Unfit> {
        (subject(key).is_none() && !is_comment(key)).then_some(Unfit::NoNetwork)
    }
}

impl Networks {
    /// Adds the networks of lists; all are exceptions if these are allowed. [`part`](Self::part)
    /// must follow.
    pub(crate) fn add(&mut self, lists: &Texts, with_origins: bool, allowed: bool) -> Result<()> {
        lists.read_forms(allowed, Lines::new, Lines::unended, |lines, batch, i, line| {
            let mut owner = 0;
            if with_origins {
                owner = u32::try_from(self.origins.len()).unwrap_or(u32::MAX);
                self.origins.push(Origin { list: batch.file(), line: batch.line(i) });
            }
            let mut is_any_excepted = false;
            let read = lines.read(line, self.lens(), |range, is_excepted| {
                is_any_excepted |= is_excepted;
                let excepted = is_excepted || allowed;
                match range {
                    Range::V4(first, last) => self.v4.add((first, last, owner), excepted),
                    Range::V6(first, last) => self.v6.add((first, last, owner), excepted),
                }
            });
            if let Some((since, verdict)) = lines.turned() {
                self.v4.turn([since[0], since[1]], verdict);
                self.v6.turn([since[2], since[3]], verdict);
            }
            let read =
                if is_any_excepted && !allowed { Line::Reported(Unfit::Excepted) } else { read };
            (read, lines.under.take())
        })
    }

    /// Makes them ready for lookups.
    pub(crate) fn part(mut self) -> Self {
        self.v4.part();
        self.v6.part();
        self
    }

    fn lens(&self) -> Mark {
        let (v4, v6) = (&self.v4, &self.v6);
        [v4.parts.len(), v4.excepted.len(), v6.parts.len(), v6.excepted.len()]
    }

    /// All ranges, in ascending order.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range> {
        let v4 = self.v4.parts.iter().map(|&(first, last, _)| Range::V4(first, last));
        v4.chain(self.v6.parts.iter().map(|&(first, last, _)| Range::V6(first, last)))
    }

    /// The number of the smallest network that has the first address in a line.
    fn owner(&self, key: &[u8]) -> Option<u32> {
        match subject(key)? {
            Range::V4(first, last) => self.v4.owner(first, last),
            Range::V6(first, last) => self.v6.owner(first, last),
        }
    }
}

/// An address as a number.
trait Address: Copy + Ord + Into<u128> + TryFrom<u128> {
    fn after(self) -> Option<Self> {
        self.into().checked_add(1)?.try_into().ok()
    }

    fn before(self) -> Option<Self> {
        self.into().checked_sub(1)?.try_into().ok()
    }
}

impl Address for u32 {}
impl Address for u128 {}

impl<T: Address> Ranges<T> {
    fn add(&mut self, part: Part<T>, is_excepted: bool) {
        if is_excepted { self.excepted.push(part) } else { self.parts.push(part) }
    }

    /// Does with all since a mark what their block says at its end.
    fn turn(&mut self, [parts, excepted]: [usize; 2], verdict: Verdict) {
        match verdict {
            Ok(false) => {}
            Ok(true) => self.excepted.extend(self.parts.drain(parts..)),
            Err(_) => {
                self.parts.truncate(parts);
                self.excepted.truncate(excepted);
            }
        }
    }

    /// Parts the ranges so that each address has one: that of the smallest network that has it, or
    /// of the first of equal ones. Takes the excepted ones out.
    fn part(&mut self) {
        let excepted = sweep(&mut std::mem::take(&mut self.excepted), |_| 0);
        let mut excepted = excepted.iter().peekable();
        let mut parts = Vec::new();
        for (mut first, last, owner) in sweep(&mut self.parts, |owner| owner) {
            while let Some(&&(from, to, _)) = excepted.peek().filter(|it| it.0 <= last) {
                if to < first {
                    excepted.next();
                    continue;
                }
                if let Some(end) = from.before().filter(|&end| end >= first) {
                    parts.push((first, end, owner));
                }
                match to.after().filter(|&next| next <= last) {
                    Some(next) => first = next,
                    // Nothing is left of it.
                    None => break,
                }
            }
            let is_out = excepted.peek().is_some_and(|it| it.0 <= last && it.1 >= first);
            if !is_out {
                parts.push((first, last, owner));
            }
        }
        parts.shrink_to_fit();
        self.parts = parts;
    }

    /// The owner of the first of some addresses, if all have one.
    fn owner(&self, first: T, last: T) -> Option<u32> {
        let after = self.parts.partition_point(|part| part.0 <= first);
        let mut at = after.checked_sub(1)?;
        let &(_, mut end, owner) = self.parts.get(at)?;
        if end < first {
            return None;
        }
        while end < last {
            at += 1;
            let &(next, its_end, _) = self.parts.get(at)?;
            if end.after() != Some(next) {
                return None;
            }
            end = its_end;
        }
        Some(owner)
    }
}

/// Ranges that do not overlap, in ascending order, each with the number of the smallest that has
/// it.
fn sweep<T: Address>(parts: &mut [Part<T>], number: impl Fn(u32) -> u32) -> Vec<Part<T>> {
    parts.sort_unstable_by_key(|&(first, last, owner)| (first, Reverse(last), owner));
    let mut swept: Vec<Part<T>> = Vec::new();
    let mut push = |first: T, last: T, owner: u32| match swept.last_mut() {
        Some(part) if part.2 == owner && part.1.after() == Some(first) => part.1 = last,
        _ => swept.push((first, last, owner)),
    };
    // Those that have not ended, the smallest first.
    let mut open: BinaryHeap<Reverse<(u128, u32, T)>> = BinaryHeap::new();
    let mut rest = parts.iter().peekable();
    let mut at = parts.first().map(|part| part.0);
    while let Some(first) = at {
        while let Some(&(from, to, owner)) = rest.next_if(|part| part.0 == first) {
            // One less than it has addresses.
            open.push(Reverse((to.into() - from.into(), number(owner), to)));
        }
        while open.peek().is_some_and(|Reverse((_, _, last))| *last < first) {
            open.pop();
        }
        let next = rest.peek().map(|part| part.0);
        at = match open.peek() {
            None => next,
            Some(&Reverse((_, owner, last))) => {
                let end = next.and_then(T::before).map_or(last, |before| before.min(last));
                push(first, end, owner);
                end.after()
            }
        };
    }
    swept
}
