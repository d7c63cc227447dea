//! Large batches of inserts: hashes are sorted by path once, and each branch is filled under its
//! lock by the code of tables with one owner.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::Branched;
use super::batch::ROUND;
use crate::concurrent::sync::lock;
use crate::error::InsertError;
use crate::growable::{
    BRANCH_BITS, Growing, MAX_BRANCHES, New, has_outgrown, is_large, keys_with, sorted,
};
use crate::table::Rounds;
use crate::table::rounds::{self, Source};
use crate::table::traits::{Fill, Sealed};

/// A partition with more hashes than a round and this many times the mean is likely made on
/// purpose. It is not filled under one lock.
const CROWDED: usize = 4;

/// A batch on its way into the table.
pub(super) struct Filling<'a> {
    table: &'a Branched,
    /// How many of the keys that room was made for have not been inserted yet.
    coming: u64,
    /// Its number among the batches that room was made for.
    announced: Option<u64>,
}

impl Branched {
    /// Inserts a batch; returns the positions of those that found no place.
    pub(crate) fn insert_all(&self, source: &impl Source) -> Vec<usize> {
        rounds::insert(&mut self.filling(), source)
    }

    /// Inserts the hashes of a batch that have no copy yet, in their order. Calls `done` with the
    /// position and the result of each hash of the batch.
    pub(crate) fn insert_all_unique(
        &self,
        source: &impl Source,
        mut done: impl FnMut(usize, Result<bool, InsertError>),
    ) {
        let mut filling = self.filling();
        filling.make_room(source.len(), |number| source.hash(number));
        source.hashes(0..source.len(), ROUND, |start, hashes| {
            for (start, hashes) in (start..).step_by(ROUND).zip(hashes.chunks(ROUND)) {
                self.insert_unique_batch(hashes, |i, inserted| done(start + i, inserted));
                filling.arrived(hashes.len());
            }
        });
    }

    pub(super) fn filling(&self) -> Filling<'_> {
        Filling { table: self, coming: 0, announced: None }
    }

    /// Changes all branches in order. A change may require a branch to split.
    pub(super) fn change_all(&self, change: impl Fn(&mut Growing)) {
        let mut number = 0;
        while number < MAX_BRANCHES {
            number = self.change(number, |branch| {
                // Read this before the branch gives away some of its segments.
                let (_, end) = branch.branch_numbers();
                change(branch);
                end
            });
        }
    }
}

impl Filling<'_> {
    /// Inserts the hashes of these partitions, a few thousand under each lock.
    fn insert_partitions(&mut self, rounds: &Rounds, mut run: Range<usize>) {
        let table = self.table;
        let below = rounds.partitions().ilog2() - BRANCH_BITS;
        let crowded = CROWDED * rounds.hashes().div_ceil(rounds.partitions()) + ROUND;
        while run.start < run.end {
            let (partition, mut count) = (run.start, rounds.count(run.start));
            let mut end = partition + 1;
            let number = partition >> below;
            if count > crowded {
                self.insert_crowd(rounds, partition);
            } else if count > 0 {
                table.change(number, |branch| {
                    let ours = run.end.min(branch.branch_numbers().1 << below);
                    while end < ours && count + rounds.count(end) <= ROUND {
                        count += rounds.count(end);
                        end += 1;
                    }
                    branch.insert_partitions(rounds, partition..end, 1);
                });
                self.arrived(count);
            }
            run.start = end;
        }
    }

    /// Inserts hashes that crowd a partition, a few thousand under one lock.
    fn insert_crowd(&mut self, rounds: &Rounds, partition: usize) {
        let number = partition >> (rounds.partitions().ilog2() - BRANCH_BITS);
        for hashes in rounds.partition(partition).flat_map(|hashes| hashes.chunks(ROUND)) {
            let hashes: Vec<u64> = hashes.iter().map(|&hash| u64::from_le_bytes(hash)).collect();
            self.table.change(number, |branch| branch.insert_batch(&hashes, |_| 0, |_| {}));
            self.arrived(hashes.len());
        }
    }

    fn arrived(&mut self, keys: usize) {
        let keys = self.coming.min(keys as u64);
        self.coming -= keys;
        self.table.coming.fetch_sub(keys, Relaxed);
    }
}

impl Drop for Filling<'_> {
    fn drop(&mut self) {
        self.table.coming.fetch_sub(self.coming, Relaxed);
        if let Some(number) = self.announced {
            lock(&self.table.announced).remove(number);
        }
    }
}

impl Sealed for Filling<'_> {}

impl Fill for Filling<'_> {
    const UNSORTED: usize = ROUND;

    /// Room beside that for what other threads are about to insert.
    fn make_room(&mut self, hashes: usize, hash: impl FnMut(usize) -> Option<u64>) {
        let table = self.table;
        if !is_large(hashes, table.segments()) {
            return;
        }
        let (mut len, mut room) = (0, 0);
        table.for_each(|branch| {
            len += branch.occupied();
            room += branch.room_for();
        });
        if keys_with(hashes as f64, len + table.coming.load(Relaxed), room).is_none() {
            return;
        }
        let contains = |some: &[u64], found: &mut [bool]| table.find_each(some, found);
        let (number, left) = lock(&table.announced).begin();
        // With a number of its own it draws other positions than a batch of the same hashes.
        let mut new = New::of(hashes, number, hash, contains);
        let mut announced = lock(&table.announced);
        if announced.left() != left {
            // Their keys may have come since the table was asked for ours.
            new.leave_out(contains);
        }
        let (len, share) = (len + table.coming.load(Relaxed), announced.share_of(&new));
        let Some(keys) = keys_with(new.keys * (1.0 - share), len, room) else { return };
        self.coming = keys - len;
        table.coming.fetch_add(self.coming, Relaxed);
        self.announced = Some(number);
        announced.add(number, new);
        drop(announced);
        // Split first, because otherwise the new room would be copied as well.
        table.change_all(|branch| branch.split_for_room(keys));
        table.change_all(|branch| branch.make_room_to(keys));
    }

    fn rounds(&self, hashes: usize, threads: usize) -> Option<Rounds> {
        sorted(self.table.segments(), hashes, threads, || {
            // Each partition belongs to one branch, however many there will be.
            let mut depth = Some(BRANCH_BITS);
            self.table.for_each(|branch| {
                depth = depth.zip(branch.sorted_depth()).map(|(a, b)| a.max(b));
            });
            depth
        })
    }

    fn has_outgrown(&self, rounds: &Rounds) -> bool {
        has_outgrown(self.table.segments(), rounds)
    }

    fn insert_round(&mut self, round: &mut Rounds) -> Vec<u64> {
        round.finish();
        // Threads that begin at the same time begin with different branches.
        let first = self.table.batches.fetch_add(1, Relaxed).wrapping_mul(MAX_BRANCHES * 5 / 8 + 1);
        let first = (first % MAX_BRANCHES) * (round.partitions() / MAX_BRANCHES);
        self.insert_partitions(round, first..round.partitions());
        self.insert_partitions(round, 0..first);
        round.clear();
        Vec::new()
    }

    fn insert_batch(
        &mut self,
        hashes: &[u64],
        _value: impl Fn(usize) -> u64,
        refused: impl FnMut(usize),
    ) {
        self.table.insert_batch(hashes, refused);
        self.arrived(hashes.len());
    }
}
