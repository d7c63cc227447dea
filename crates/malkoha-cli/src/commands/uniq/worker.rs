//! The work of threads on blocks: which occurrences of lines these have, and what is printed.

use std::cell::RefCell;
use std::sync::Arc;

use anyhow::Result;
use malkoha::KeyHasher;

use super::Arguments;
use super::counts::{Counts, Spool};
use super::distinct::Distinct;
use super::shards::Shards;
use crate::input::{Block, Texts};
use crate::output::Page;
use crate::records::{Added, Keys};

/// Distinct lines. The last bits of their hashes select the part.
pub(super) struct Part {
    pub(super) distinct: Distinct,
    pub(super) counts: Option<Counts>,
}

impl Part {
    pub(super) fn size_in_bytes(&self) -> u64 {
        let counts = self.counts.as_ref().map_or(0, Counts::size_in_bytes);
        self.distinct.size_in_bytes() + counts
    }
}

/// Which lines are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    First,
    Repeated,
    Duplicates,
    Counted,
    Unique,
}

impl What {
    pub(super) fn of(arguments: &Arguments) -> Self {
        match arguments {
            Arguments { count: true, .. } => Self::Counted,
            Arguments { duplicates: true, .. } => Self::Duplicates,
            Arguments { unique: true, .. } => Self::Unique,
            Arguments { repeated: true, .. } => Self::Repeated,
            _ => Self::First,
        }
    }

    pub(super) fn needs_counts(self) -> bool {
        !matches!(self, Self::First | Self::Repeated)
    }

    pub(super) fn prints_at_the_end(self) -> bool {
        matches!(self, Self::Counted | Self::Unique)
    }

    /// Whether a line is printed when it occurs for the first, the second, or another time.
    fn prints(self, time: Time) -> bool {
        match self {
            Self::First => time == Time::First,
            Self::Repeated => time != Time::First,
            Self::Duplicates => time == Time::Second,
            Self::Counted | Self::Unique => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    First,
    Second,
    Later,
}

/// The work of threads on blocks: find out which lines are new, and what is printed.
pub(super) struct Worker {
    pub(super) keys: Keys,
    pub(super) separator: u8,
    /// Two independent keys. Together they make a hash of 128 bits. The map stores those bits that
    /// are not implied by the place of a line in it.
    pub(super) hashers: (KeyHasher, KeyHasher),
    pub(super) texts: Option<Arc<Texts>>,
    pub(super) parts: Arc<Shards<Part>>,
    pub(super) what: What,
}

/// The result for a block, and the memory to compute it.
#[derive(Default)]
pub(super) struct Made {
    pub(super) page: Page,
    pub(super) spooled: Vec<u8>,
    hashes: Vec<u64>,
    /// The second hashes of lines of a stream; or else, where lines begin.
    witnesses: Vec<u64>,
    times: Vec<Time>,
    sorted: Sorted,
    /// Hashes of the lines of one part.
    of_part: Vec<u64>,
}

impl Worker {
    pub(super) fn work(&self, block: &Block, made: &mut Made) -> Result<()> {
        let mut lines = Vec::new();
        self.hash(block, &mut lines, made)?;
        made.sorted.fill(&made.hashes, &self.parts);
        made.times.clear();
        made.times.resize(lines.len(), Time::First);
        let read = self.texts.as_ref().map_or(0, |texts| texts.place(block.file, block.offset));
        self.parts.pass(block.number, |number, part| {
            part.distinct.foresee(read)?;
            self.look_up(part, number, &lines, made)
        })?;
        self.print(&lines, made);
        Ok(())
    }

    /// Splits a block into lines, and hashes their keys.
    fn hash<'a>(&self, block: &'a Block, lines: &mut Vec<&'a [u8]>, made: &mut Made) -> Result<()> {
        let Made { hashes, witnesses, .. } = made;
        hashes.clear();
        witnesses.clear();
        let (first, second) = self.hashers;
        let texts = self.texts.as_ref();
        let mut place = texts.map(|texts| texts.place(block.file, block.offset));
        self.keys.read(block.source(), |batch| {
            if self.what == What::Counted {
                self.keys.refuse_members(Added::Count, batch.records)?;
            }
            let before = hashes.len();
            lines.extend_from_slice(batch.records);
            hashes.extend(batch.keys.iter().map(|key| first.hash_bytes(key)));
            match &mut place {
                Some(place) => witnesses.extend(batch.records.iter().map(|line| {
                    let start = *place;
                    *place += line.len() as u64 + 1;
                    start
                })),
                None => witnesses.extend(batch.keys.iter().map(|key| second.hash_bytes(key))),
            }
            for i in batch.unfit.iter().map(|i| before + i) {
                // It equals no other, as its number does.
                let number = [block.number.to_le_bytes(), (i as u64).to_le_bytes()].concat();
                (hashes[i], witnesses[i]) =
                    (first.hash_bytes(&number), !second.hash_bytes(&number));
            }
            Ok(())
        })
    }

    /// Finds out which occurrences the lines of a part are, and adds the new ones to it.
    fn look_up(
        &self,
        part: &mut Part,
        number: usize,
        lines: &[&[u8]],
        made: &mut Made,
    ) -> Result<()> {
        let Made { hashes, witnesses, times, sorted, of_part, .. } = made;
        let numbers = sorted.part(number);
        of_part.clear();
        of_part.extend(numbers.iter().map(|&i| hashes[i as usize]));
        let at = |i: usize| numbers[i] as usize;
        // The map has the witness, or the number of the line that has it.
        let Part { distinct, counts } = part;
        let shared = RefCell::new(counts.as_mut());
        let texts = self.texts.as_deref();
        let is_known = |i: usize, value: u64| {
            let witness = shared.borrow().as_ref().map_or(value, |counts| counts.witness(value));
            match texts {
                Some(texts) => texts.is_at(witness, lines[at(i)]),
                None => witness == witnesses[at(i)],
            }
        };
        let are_equal = |i: usize, j: usize| match texts {
            Some(_) => lines[at(i)] == lines[at(j)],
            None => witnesses[at(i)] == witnesses[at(j)],
        };
        let each = |i: usize, before: Option<u64>| {
            let witness = witnesses[at(i)];
            let (value, time) = match (before, shared.borrow_mut().as_mut()) {
                (None, None) => (witness, Time::First),
                (None, Some(counts)) => (counts.add(witness), Time::First),
                (Some(value), None) => (value, Time::Later),
                (Some(number), Some(counts)) => match counts.increment(number) {
                    2 => (number, Time::Second),
                    _ => (number, Time::Later),
                },
            };
            times[at(i)] = time;
            value
        };
        distinct.take(of_part, is_known, are_equal, each)
    }

    /// Formats what is printed, or kept to be printed.
    fn print(&self, lines: &[&[u8]], made: &mut Made) {
        let Made { page, spooled, hashes, times, .. } = made;
        page.lines = lines.len() as u64;
        let spools = self.what.prints_at_the_end() && self.texts.is_none();
        for ((line, &time), &hash) in lines.iter().zip(&*times).zip(&*hashes) {
            if self.what.prints(time) {
                page.selected += 1;
                page.text.extend_from_slice(line);
                page.text.push(self.separator);
            } else if spools && time == Time::First {
                Spool::spell(self.parts.of(hash), line, spooled);
            }
        }
    }
}

/// The numbers of lines by the parts that they belong to.
#[derive(Default)]
struct Sorted {
    numbers: Vec<u32>,
    /// Where each part's end.
    ends: Vec<usize>,
}

impl Sorted {
    fn fill(&mut self, hashes: &[u64], parts: &Shards<Part>) {
        let Self { numbers, ends } = self;
        ends.clear();
        ends.resize(parts.len(), 0);
        for &hash in hashes {
            ends[parts.of(hash)] += 1;
        }
        let mut start = 0;
        for end in &mut *ends {
            (start, *end) = (start + *end, start);
        }
        numbers.clear();
        numbers.resize(hashes.len(), 0);
        for (number, &hash) in (0..).zip(hashes) {
            let end = &mut ends[parts.of(hash)];
            numbers[*end] = number;
            *end += 1;
        }
    }

    fn part(&self, number: usize) -> &[u32] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[start..self.ends[number]]
    }
}
