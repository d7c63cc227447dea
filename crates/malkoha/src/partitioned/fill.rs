//! Large batches of inserts: hashes are sorted by path once, and each partition is filled under its
//! lock by the code of tables with one owner.

use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::Partitioned;
use super::batch::ROUND;
use crate::growable::{
    MAX_PARTITIONS, New, PARTITION_BITS, has_outgrown, is_large, keys_with, sorted,
};
use crate::sync::lock;
use crate::table::Rounds;
use crate::table::source::{self, Source};
use crate::table::traits::{Fill, Sealed};

/// A bin of sorted hashes with more of them than a round and this many times the mean is likely
/// made on purpose. It is not filled under one lock.
const CROWDED: usize = 4;

/// A batch on its way into the table.
pub(super) struct Filling<'a> {
    table: &'a Partitioned,
    /// How many of the keys that room was made for have not been inserted yet.
    coming: u64,
    /// Its number among the batches that room was made for.
    announced: Option<u64>,
}

impl Partitioned {
    /// Inserts a batch; returns the positions of those that found no place.
    pub(crate) fn insert_all(&self, source: &impl Source) -> Vec<usize> {
        source::insert(&mut self.filling(), source)
    }

    /// Inserts the hashes of a batch that have no copy yet, in their order. Sets in `new` whether
    /// it did. Refuses none.
    pub(crate) fn insert_all_unique(&self, source: &impl Source, new: &mut [bool]) -> Vec<usize> {
        let mut filling = self.filling();
        filling.make_room(source.len(), &mut |number| source.hash(number));
        source::in_parts(source, ROUND, new, |hashes, new| {
            for (hashes, new) in hashes.chunks(ROUND).zip(new.chunks_mut(ROUND)) {
                self.insert_unique_batch(hashes, new);
                filling.arrived(hashes.len());
            }
            Vec::new()
        })
    }

    pub(super) fn filling(&self) -> Filling<'_> {
        Filling { table: self, coming: 0, announced: None }
    }
}

impl Filling<'_> {
    /// Inserts the hashes of these bins, a few thousand under each lock.
    fn insert_bins(&mut self, rounds: &Rounds, mut run: Range<usize>) {
        let table = self.table;
        let below = rounds.bins().ilog2() - PARTITION_BITS;
        let crowded = CROWDED * rounds.hashes().div_ceil(rounds.bins()) + ROUND;
        while run.start < run.end {
            let (bin, mut count) = (run.start, rounds.count(run.start));
            let mut end = bin + 1;
            let number = bin >> below;
            if count > crowded {
                self.insert_crowd(rounds, bin);
            } else if count > 0 {
                table.change(number, |partition| {
                    let ours = run.end.min(partition.partition_numbers().1 << below);
                    while end < ours && count + rounds.count(end) <= ROUND {
                        count += rounds.count(end);
                        end += 1;
                    }
                    partition.insert_bins(rounds, bin..end, 1);
                });
                self.arrived(count);
            }
            run.start = end;
        }
    }

    /// Inserts hashes that crowd a bin, a few thousand under one lock.
    fn insert_crowd(&mut self, rounds: &Rounds, bin: usize) {
        let number = bin >> (rounds.bins().ilog2() - PARTITION_BITS);
        for hashes in rounds.bin(bin).flat_map(|hashes| hashes.chunks(ROUND)) {
            let hashes: Vec<u64> = hashes.iter().map(|&hash| u64::from_le_bytes(hash)).collect();
            self.table.change(number, |partition| partition.insert_batch(&hashes, &[]));
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
            let mut announced = lock(&self.table.announced);
            announced.batches.retain(|&(batch, _)| batch != number);
            announced.left += 1;
        }
    }
}

impl Sealed for Filling<'_> {}

impl Fill for Filling<'_> {
    const UNSORTED: usize = ROUND;

    /// Makes room in addition to that for the keys that other threads are about to insert.
    fn make_room(&mut self, hashes: usize, hash: &mut dyn FnMut(usize) -> Option<u64>) {
        let table = self.table;
        if !is_large(hashes, table.segments()) {
            return;
        }
        let (mut len, mut room) = (0, 0);
        table.for_each(|partition| {
            len += partition.occupied();
            room += partition.room_for();
        });
        if keys_with(hashes as f64, len + table.coming.load(Relaxed), room).is_none() {
            return;
        }
        let contains = |some: &[u64], found: &mut [bool]| table.find_each(some, found);
        let mut announced = lock(&table.announced);
        let (number, left) = (announced.begun, announced.left);
        announced.begun += 1;
        drop(announced);
        // With a number of its own it draws other positions than a batch of the same hashes.
        let mut new = New::of(hashes, number, hash, contains);
        announced = lock(&table.announced);
        if announced.left != left {
            // Their keys may have come since the table was asked for ours.
            new.leave_out(contains);
        }
        let share = new.share_in(announced.batches.iter().map(|(_, batch)| batch));
        let len = len + table.coming.load(Relaxed);
        let Some(keys) = keys_with(new.keys * (1.0 - share), len, room) else { return };
        self.coming = keys - len;
        table.coming.fetch_add(self.coming, Relaxed);
        self.announced = Some(number);
        announced.batches.push((number, new));
        drop(announced);
        // Split first, because otherwise the new room would be copied as well.
        table.change_all(|partition| partition.split_for_room(keys));
        table.change_all(|partition| partition.make_room_to(keys));
    }

    fn rounds(&self, hashes: usize, threads: usize) -> Option<Rounds> {
        sorted(self.table.segments(), hashes, threads, || {
            // Each bin belongs to one partition, however many there will be.
            let mut depth = Some(PARTITION_BITS);
            self.table.for_each(|partition| {
                depth = depth.zip(partition.sorted_depth()).map(|(a, b)| a.max(b));
            });
            depth
        })
    }

    fn has_outgrown(&self, rounds: &Rounds) -> bool {
        has_outgrown(self.table.segments(), rounds)
    }

    fn insert_round(&mut self, round: &mut Rounds) -> Vec<u64> {
        round.finish();
        // Threads that begin at the same time begin with different partitions.
        let first =
            self.table.batches.fetch_add(1, Relaxed).wrapping_mul(MAX_PARTITIONS * 5 / 8 + 1);
        let first = (first % MAX_PARTITIONS) * (round.bins() / MAX_PARTITIONS);
        self.insert_bins(round, first..round.bins());
        self.insert_bins(round, 0..first);
        round.clear();
        Vec::new()
    }

    fn insert_batch(&mut self, hashes: &[u64], values: &[u64]) -> Vec<usize> {
        let refused = self.table.insert_batch(hashes, values);
        self.arrived(hashes.len());
        refused
    }
}

/// Batches that room was made for and that are on their way into the table. A batch with the same
/// keys as they need not be made room for.
///
/// At most 512 KiB for each batch on its way, and a sixteenth of its hashes.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Each with its number.
    batches: Vec<(u64, New)>,
    /// Batches that were looked at, for which room can be made.
    begun: u64,
    /// Batches that have left: their keys are in the table.
    left: u64,
}
