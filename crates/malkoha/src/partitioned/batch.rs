//! Many keys at once, partition by partition.

use super::{Partition, Partitioned};
use crate::error::InsertError;
use crate::growable::{MAX_PARTITIONS, partition_number};

/// Hashes that are sorted by partition at a time.
pub(super) const ROUND: usize = 1 << 14;
/// A partition with fewer hashes than this is asked for them one by one.
const FEW: usize = 8;

/// Hashes sorted by the number of the deepest partition that each can belong to. Hashes of the same
/// number keep their order.
struct Round {
    hashes: Vec<u64>,
    /// The position of each hash in the round.
    positions: Vec<u16>,
    /// Where the hashes of each number begin, and where the last end.
    starts: [usize; MAX_PARTITIONS + 1],
    /// The position in the batch where the round began.
    start: usize,
}

/// Some hashes of a batch, in their order.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) hashes: &'a [u64],
    positions: &'a [u16],
    start: usize,
}

impl Part<'_> {
    /// The position in the batch of one of the hashes.
    pub(super) fn position(&self, i: usize) -> usize {
        self.start + usize::from(self.positions[i])
    }
}

impl Round {
    /// The rounds of a batch, one after the other in the same memory.
    fn each(hashes: &[u64], mut each: impl FnMut(&Self)) {
        let most = hashes.len().min(ROUND);
        let (hashes_of, positions) = (vec![0; most], vec![0; most]);
        let starts = [0; MAX_PARTITIONS + 1];
        let mut round = Self { hashes: hashes_of, positions, starts, start: 0 };
        for (number, hashes) in hashes.chunks(ROUND).enumerate() {
            round.start = number * ROUND;
            round.fill(hashes);
            each(&round);
        }
    }

    fn fill(&mut self, hashes: &[u64]) {
        self.starts.fill(0);
        for &hash in hashes {
            self.starts[partition_number(hash) + 1] += 1;
        }
        for number in 0..MAX_PARTITIONS {
            self.starts[number + 1] += self.starts[number];
        }
        let mut ends = self.starts;
        for (position, &hash) in (0..).zip(hashes) {
            let at = &mut ends[partition_number(hash)];
            (self.hashes[*at], self.positions[*at]) = (hash, position);
            *at += 1;
        }
    }

    /// The first number, from this one on, that has hashes.
    fn next(&self, number: usize) -> Option<usize> {
        (number..MAX_PARTITIONS).find(|&number| self.starts[number] < self.starts[number + 1])
    }

    /// The hashes of the numbers from one up to another.
    fn part(&self, first: usize, end: usize) -> Part<'_> {
        let range = self.starts[first]..self.starts[end];
        let (hashes, positions) = (&self.hashes[range.clone()], &self.positions[range]);
        Part { hashes, positions, start: self.start }
    }
}

impl<T: Partition> Partitioned<T> {
    /// Calls `each` with every partition that some of the hashes belong to, and with these hashes.
    pub(super) fn read_each(&self, hashes: &[u64], mut each: impl FnMut(&T, Part<'_>)) {
        Round::each(hashes, |round| {
            let mut number = 0;
            while let Some(first) = round.next(number) {
                let partition = self.read(first);
                number = partition.growing().partition_numbers().1;
                each(&partition, round.part(first, number));
            }
        });
    }

    /// The same, to change the partitions.
    pub(super) fn change_each(&self, hashes: &[u64], mut each: impl FnMut(&mut T, Part<'_>)) {
        Round::each(hashes, |round| {
            let mut number = 0;
            while let Some(first) = round.next(number) {
                number = self.change(first, |partition| {
                    // Read this before the partition gives away some of its keys.
                    let (_, end) = partition.growing().partition_numbers();
                    each(partition, round.part(first, end));
                    end
                });
            }
        });
    }

    pub(super) fn find_each(&self, hashes: &[u64], found: &mut [bool]) {
        let mut answers = Vec::new();
        self.read_each(hashes, |partition, part| {
            if part.hashes.len() < FEW {
                for (i, &hash) in part.hashes.iter().enumerate() {
                    found[part.position(i)] = partition.contains(hash);
                }
                return;
            }
            answers.resize(part.hashes.len(), false);
            partition.contains_batch(part.hashes, &mut answers);
            for (i, &answer) in answers.iter().enumerate() {
                found[part.position(i)] = answer;
            }
        });
    }

    pub(crate) fn insert_batch(
        &self,
        hashes: &[u64],
        value: impl Fn(usize) -> u64,
        mut refused: impl FnMut(usize),
    ) {
        self.change_each(hashes, |partition, part| {
            let value = |i| value(part.position(i));
            partition.insert_batch(part.hashes, value, |i| refused(part.position(i)));
        });
    }

    pub(crate) fn insert_unique_batch(
        &self,
        hashes: &[u64],
        mut done: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        self.change_each(hashes, |partition, part| {
            let done = |i, inserted| done(part.position(i), inserted);
            partition.insert_unique_batch(part.hashes, done);
        });
    }

    pub(crate) fn remove_batch(
        &self,
        hashes: &[u64],
        value: impl Fn(usize) -> u64,
        mut done: impl FnMut(usize, bool),
    ) {
        self.change_each(hashes, |partition, part| {
            let (before, mut removed) = (partition.len(), 0);
            let value = |i| value(part.position(i));
            partition.remove_batch(part.hashes, value, |i, found| {
                removed += u64::from(found);
                done(part.position(i), found);
            });
            self.note_removed(removed, before, partition.len());
        });
    }
}
