//! Domain names that are in a list or lie below one that is.

use anyhow::Result;
use hashbrown::HashTable;
use memchr::memchr;

use super::suffixes::{Suffix, Suffixes};
use super::{Matcher, Origin};
use crate::input::Texts;
use crate::records::domains::{FINAL, IMPORTANT, Lines, Reach, domains, is_listed, trimmed};
use crate::records::networks::{Place, Verdict};
use crate::records::{Unfit, is_lowered, is_name, split};

/// The names of lists.
pub(crate) struct Domains {
    names: Names,
    /// Where each begins, by the hashes that suffixes have.
    table: HashTable<usize>,
    suffixes: Suffixes,
}

impl Domains {
    pub(crate) fn new(mut names: Names) -> Result<Self> {
        let count = memchr::memchr_iter(END, &names.text).count();
        let mut suffixes = Suffixes::of(count as u64);
        let mut table = HashTable::with_capacity(count);
        let (mut place, mut repeated) = (0, Vec::new());
        split(&names.text, END, |batch| {
            for name in batch {
                let hash = suffixes.add(&name[1..]);
                let is_same =
                    |&known: &usize| names.has_at(known, name.len() - 1) == Some(&name[1..]);
                let found = table.entry(hash, is_same, |&at| suffixes.hash(names.at(at)).0);
                let first = *found.or_insert(place).get();
                if first != place {
                    repeated.push((first, name[0]));
                }
                place += name.len() + 1;
            }
            Ok(())
        })?;
        for (first, byte) in repeated {
            names.text[first] = byte_of(reach_of(names.text[first]).max(reach_of(byte)));
        }
        Ok(Self { names, table, suffixes })
    }

    /// Sets `found[i]` where `texts[i]` is a name that is listed; `is_name` tells whether one is.
    fn find_names(&self, texts: &[&[u8]], found: &mut [bool]) {
        let mut asked = Vec::with_capacity(2 * texts.len());
        for (number, text) in texts.iter().enumerate() {
            self.suffixes.ask(number, text, &mut asked);
        }
        let (mut number, mut said) = (0, 0);
        for suffix in asked.into_iter().chain([Suffix { number: u32::MAX, ..Suffix::default() }]) {
            if suffix.number != number {
                if is_listed(said) {
                    found[number as usize] = true;
                }
                (number, said) = (suffix.number, 0);
            }
            if let Some(text) = texts.get(number as usize)
                && let Some(place) = self.place(suffix, text)
            {
                said = said.max(self.names.says(place, suffix.start == 0));
            }
        }
    }

    /// The verdict of the list on a name, or on its parents alone.
    fn said(&self, name: &[u8], of_parents: bool) -> u8 {
        let mut asked = Vec::new();
        self.suffixes.ask(0, name, &mut asked);
        let asked = asked.into_iter().filter(|it| it.start > 0 || !of_parents);
        let says = |it: Suffix| Some(self.names.says(self.place(it, name)?, it.start == 0));
        asked.filter_map(says).max().unwrap_or(0)
    }

    /// Where a suffix of a name is listed.
    #[inline]
    fn place(&self, Suffix { hash, start, .. }: Suffix, name: &[u8]) -> Option<usize> {
        let suffix = &name[start as usize..];
        let is_it = |&place: &usize| {
            let listed = self.names.has_at(place, suffix.len());
            listed.is_some_and(|listed| is_lowered(suffix, listed))
        };
        self.table.find(hash, is_it).copied()
    }

    /// Calls `each` with the names that are needed to say the same, in their order, and what is said
    /// of them: without what a parent covers, and with exceptions that matter.
    pub(crate) fn needed(&self, mut each: impl FnMut(&[u8], Reach) -> Result<()>) -> Result<()> {
        let mut place = 0;
        split(&self.names.text, END, |batch| {
            for entry in batch {
                let (name, at) = (&entry[1..], place);
                place += entry.len() + 1;
                if self.place(self.suffix(name), name) != Some(at) {
                    continue;
                }
                let above = self.said(name, true);
                let needed = reach_of(self.names.text[at]).map(|it| match it {
                    _ if it <= above || !is_listed(it) && !is_listed(above) => 0,
                    FINAL if above < IMPORTANT => FINAL - 2,
                    it => it,
                });
                for level in 1..=FINAL {
                    let of_level = needed.map(|it| if it == level { it } else { 0 });
                    if of_level != Reach::default() {
                        each(name, of_level)?;
                    }
                }
            }
            Ok(())
        })
    }

    fn suffix(&self, name: &[u8]) -> Suffix {
        Suffix { hash: self.suffixes.hash(name).0, ..Suffix::default() }
    }
}

impl Matcher for Domains {
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let texts: Vec<&[u8]> = keys.iter().map(|key| trimmed(key)).collect();
        let others: Vec<usize> = (0..texts.len()).filter(|&i| !is_name(texts[i])).collect();
        if others.is_empty() {
            self.find_names(&texts, found);
            return Ok(());
        }
        let mut names = texts;
        others.iter().for_each(|&i| names[i] = b"");
        self.find_names(&names, found);
        for i in others {
            domains(keys[i], |name, reach| {
                found[i] |= is_listed(if reach.itself == 0 {
                    // All below it.
                    self.said(&[b"*.", name].concat(), true)
                } else {
                    self.said(name, false)
                });
            });
        }
        Ok(())
    }

    fn origin(&self, key: &[u8]) -> Option<Origin> {
        let mut first = None;
        domains(key, |name, _| {
            let mut asked = Vec::new();
            self.suffixes.ask(0, name, &mut asked);
            let lists = |suffix: &Suffix| {
                let place = self.place(*suffix, name)?;
                is_listed(self.names.says(place, suffix.start == 0)).then_some(place)
            };
            // The longest is the most specific.
            first = first.or_else(|| asked.iter().rev().find_map(lists));
        });
        let origins = &self.names.origins;
        let i = origins.binary_search_by_key(&first?, |&(place, _)| place).ok()?;
        Some(origins[i].1)
    }

    fn has_forms(&self) -> bool {
        true
    }

    fn refuses(&self, key: &[u8]) -> Option<Unfit> {
        domains(key, |_, _| {}).unfit()
    }
}

/// Ends each of [`Names`].
const END: u8 = b'\n';

/// The ranks of a name's rules, in a byte that ends no name.
fn byte_of(Reach { itself, below }: Reach) -> u8 {
    0x80 | below << 4 | itself
}

fn reach_of(byte: u8) -> Reach {
    Reach { itself: byte & 7, below: byte >> 4 & 7 }
}

/// Names of one label in a list, which are words of something else if other names have dots.
#[derive(Default)]
struct Labels {
    first: Option<((u64, usize), Place)>,
    /// Where they begin among all names.
    places: Vec<usize>,
    has_others: bool,
}

/// The names of lists, each in a line of its own behind a byte that tells what it stands for.
#[derive(Default)]
pub(crate) struct Names {
    text: Vec<u8>,
    /// Where each begins, and its place in the lists if requested.
    origins: Vec<(usize, Origin)>,
}

impl Names {
    /// Adds the names of lists; all of them are exceptions if these are allowed.
    pub(crate) fn add(&mut self, lists: &Texts, with_origins: bool, allowed: bool) -> Result<()> {
        let mut labels: Vec<_> = lists.lists().map(|_| Labels::default()).collect();
        lists.read_forms(allowed, Lines::new, Lines::unended, |lines, batch, i, line| {
            let (labels, since) = (&mut labels[batch.file()], self.text.len());
            let read = lines.read(line, since, |name, reach| {
                if with_origins {
                    let origin = Origin { list: batch.file(), line: batch.line(i) };
                    self.origins.push((self.text.len(), origin));
                }
                self.text.push(byte_of(if allowed { reach.map(|_| FINAL) } else { reach }));
                self.text.extend_from_slice(name);
                self.text.push(END);
            });
            if let Some((since, verdict)) = lines.turned.take() {
                self.turn(since, verdict);
            }
            if lines.is_label {
                labels
                    .first
                    .get_or_insert_with(|| (batch.at(i), (batch.line(i), line.into()).into()));
                labels.places.push(since);
            } else if !labels.has_others {
                labels.has_others = memchr(b'.', &self.text[since..]).is_some();
            }
            (read, lines.under.take())
        })?;
        for (file, Labels { first, places, has_others }) in labels.into_iter().enumerate() {
            let Some((at, place)) = first.filter(|_| has_others) else { continue };
            for name in places {
                self.text[name] = byte_of(Reach::default());
                if let Some(tally) = lists.tally(file) {
                    tally.note(file, &place.1, Unfit::Label, at, || place.0)?;
                }
            }
        }
        Ok(())
    }

    /// Does with all names from a place on what their block says at its end.
    fn turn(&mut self, mut at: usize, verdict: Verdict) {
        while at < self.text.len() {
            self.text[at] = byte_of(reach_of(self.text[at]).judged(verdict));
            at += self.at(at).len() + 2;
        }
    }

    /// The rank of the name that begins at a place, or of the names below it.
    fn says(&self, place: usize, of_itself: bool) -> u8 {
        let reach = reach_of(self.text[place]);
        if of_itself { reach.itself } else { reach.below }
    }

    /// The name that begins at a place.
    fn at(&self, place: usize) -> &[u8] {
        let rest = &self.text[place + 1..];
        memchr(END, rest).map_or(rest, |end| &rest[..end])
    }

    /// The name that begins at a place, if it has this many bytes.
    #[inline(always)]
    fn has_at(&self, place: usize, len: usize) -> Option<&[u8]> {
        let (name, rest) = self.text[place + 1..].split_at_checked(len)?;
        (rest.first() == Some(&END)).then_some(name)
    }
}
