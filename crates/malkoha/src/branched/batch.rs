//! Many keys at once, branch by branch.

use super::Branched;
use crate::error::InsertError;
use crate::growable::{Growing, MAX_BRANCHES, branch_number};
use crate::table::traits::{Change, Fill, Lookup};

/// Hashes that are sorted by branch at a time.
pub(super) const ROUND: usize = 1 << 14;
/// A branch with fewer hashes than this is asked for them one by one.
const FEW: usize = 8;

/// Hashes sorted by the number of the deepest branch that each can belong to. Hashes of the same
/// number keep their order.
struct Round {
    hashes: Vec<u64>,
    /// The position of each hash in the round.
    positions: Vec<u16>,
    /// Where the hashes of each number begin, and where the last end.
    starts: [usize; MAX_BRANCHES + 1],
    /// The position in the batch where the round began.
    start: usize,
}

/// Some hashes of a batch, in their order.
#[derive(Clone, Copy)]
struct Part<'a> {
    hashes: &'a [u64],
    positions: &'a [u16],
    start: usize,
}

impl Part<'_> {
    /// The position in the batch of one of the hashes.
    fn position(&self, i: usize) -> usize {
        self.start + usize::from(self.positions[i])
    }
}

impl Round {
    /// The rounds of a batch, one after the other in the same memory.
    fn each(hashes: &[u64], mut each: impl FnMut(&Self)) {
        let most = hashes.len().min(ROUND);
        let (hashes_of, positions) = (vec![0; most], vec![0; most]);
        let starts = [0; MAX_BRANCHES + 1];
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
            self.starts[branch_number(hash) + 1] += 1;
        }
        for number in 0..MAX_BRANCHES {
            self.starts[number + 1] += self.starts[number];
        }
        let mut ends = self.starts;
        for (position, &hash) in (0..).zip(hashes) {
            let at = &mut ends[branch_number(hash)];
            (self.hashes[*at], self.positions[*at]) = (hash, position);
            *at += 1;
        }
    }

    /// The first number, from this one on, that has hashes.
    fn next(&self, number: usize) -> Option<usize> {
        (number..MAX_BRANCHES).find(|&number| self.starts[number] < self.starts[number + 1])
    }

    /// The hashes of the numbers from one up to another.
    fn part(&self, first: usize, end: usize) -> Part<'_> {
        let range = self.starts[first]..self.starts[end];
        let (hashes, positions) = (&self.hashes[range.clone()], &self.positions[range]);
        Part { hashes, positions, start: self.start }
    }
}

impl Branched {
    /// Calls `each` with every branch that some of the hashes belong to, and with these hashes.
    fn read_each(&self, hashes: &[u64], mut each: impl FnMut(&Growing, Part<'_>)) {
        Round::each(hashes, |round| {
            let mut number = 0;
            while let Some(first) = round.next(number) {
                let branch = self.read(first);
                number = branch.branch_numbers().1;
                each(&branch, round.part(first, number));
            }
        });
    }

    /// The same, to change the branches.
    fn change_each(&self, hashes: &[u64], mut each: impl FnMut(&mut Growing, Part<'_>)) {
        Round::each(hashes, |round| {
            let mut number = 0;
            while let Some(first) = round.next(number) {
                number = self.change(first, |branch| {
                    // Read this before the branch gives away some of its keys.
                    let (_, end) = branch.branch_numbers();
                    each(branch, round.part(first, end));
                    end
                });
            }
        });
    }

    pub(super) fn find_each(&self, hashes: &[u64], found: &mut [bool]) {
        let mut answers = Vec::new();
        self.read_each(hashes, |branch, part| {
            if part.hashes.len() < FEW {
                for (i, &hash) in part.hashes.iter().enumerate() {
                    found[part.position(i)] = branch.contains(hash);
                }
                return;
            }
            answers.resize(part.hashes.len(), false);
            branch.contains_batch(part.hashes, &mut answers);
            for (i, &answer) in answers.iter().enumerate() {
                found[part.position(i)] = answer;
            }
        });
    }

    pub(crate) fn insert_batch(&self, hashes: &[u64], mut refused: impl FnMut(usize)) {
        self.change_each(hashes, |branch, part| {
            branch.insert_batch(part.hashes, |_| 0, |i| refused(part.position(i)));
        });
    }

    pub(crate) fn insert_unique_batch(
        &self,
        hashes: &[u64],
        mut done: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        self.change_each(hashes, |branch, part| {
            branch.insert_unique_batch(part.hashes, |i, inserted| done(part.position(i), inserted));
        });
    }

    pub(crate) fn remove_batch(&self, hashes: &[u64], mut done: impl FnMut(usize, bool)) {
        self.change_each(hashes, |branch, part| {
            let (before, mut removed) = (branch.len(), 0);
            branch.remove_batch(
                part.hashes,
                |_| 0,
                |i, found| {
                    removed += u64::from(found);
                    done(part.position(i), found);
                },
            );
            self.note_removed(removed, before - branch.len());
        });
    }
}
