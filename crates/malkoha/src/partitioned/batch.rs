//! Many keys at once, partition by partition.

use super::{Partition, Partitioned};
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

    /// The values of the hashes, of those of the batch; a set has none.
    fn values<'a>(&self, all: &[u64], ours: &'a mut Vec<u64>) -> &'a [u64] {
        ours.clear();
        if !all.is_empty() {
            ours.extend((0..self.hashes.len()).map(|i| all[self.position(i)]));
        }
        ours
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

    /// Calls `each` with the hashes of each partition, to change it, and with room for an outcome
    /// of each. Puts the outcomes into `all`. Returns the positions that `each` returns, as those
    /// of the batch.
    pub(super) fn change_all_of(
        &self,
        hashes: &[u64],
        all: &mut [bool],
        mut each: impl FnMut(&mut T, Part<'_>, &mut [bool]) -> Vec<usize>,
    ) -> Vec<usize> {
        let (mut outcomes, mut refused) = (Vec::new(), Vec::new());
        self.change_each(hashes, |partition, part| {
            outcomes.clear();
            outcomes.resize(part.hashes.len(), false);
            let positions = each(partition, part, &mut outcomes).into_iter();
            refused.extend(positions.map(|i| part.position(i)));
            outcomes.iter().enumerate().for_each(|(i, &outcome)| all[part.position(i)] = outcome);
        });
        refused
    }

    pub(crate) fn insert_batch(&self, hashes: &[u64], values: &[u64]) -> Vec<usize> {
        let (mut ours, mut refused) = (Vec::new(), Vec::new());
        self.change_each(hashes, |partition, part| {
            let positions = partition.insert_batch(part.hashes, part.values(values, &mut ours));
            refused.extend(positions.into_iter().map(|i| part.position(i)));
        });
        refused
    }

    pub(crate) fn insert_unique_batch(&self, hashes: &[u64], new: &mut [bool]) -> Vec<usize> {
        self.change_all_of(hashes, new, |partition, part, new| {
            partition.insert_unique_batch(part.hashes, new)
        })
    }

    pub(crate) fn remove_batch(&self, hashes: &[u64], values: &[u64], removed: &mut [bool]) {
        let mut ours = Vec::new();
        self.change_all_of(hashes, removed, |partition, part, removed| {
            let before = partition.len();
            partition.remove_batch(part.hashes, part.values(values, &mut ours), removed);
            let count = removed.iter().map(|&removed| u64::from(removed)).sum();
            self.note_removed(count, before, partition.len());
            Vec::new()
        });
    }
}
