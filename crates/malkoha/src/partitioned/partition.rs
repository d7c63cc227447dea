//! The tables of one owner that can be partitions.

use super::Partitioned;
use crate::error::InsertError;
use crate::expiry::{Expiring, Window};
use crate::growable::{Gathered, Growing, Home, MAX_PARTITIONS, partition_number};
use crate::table::source::{self, Source};
use crate::table::traits::{Change, Lookup, Stored};

/// A table that grows, and that can be divided into partitions which threads share: a set, a map,
/// or a set whose keys expire. Sealed: no other crate can implement it.
pub trait Partition: Change + Stored + Clone {
    /// Whether a divided table distributes its length over the parts by estimate.
    const SHARES_LEN: bool;
    /// The segments.
    fn growing(&self) -> &Growing;
    /// The segments, to change them.
    fn growing_mut(&mut self) -> &mut Growing;
    /// The parts of a table for this many keys, in order; none if it cannot be divided.
    fn divided(&mut self, capacity: u64) -> Vec<Self>;
    /// Adds a copy of its segments.
    fn add_to(&self, gathered: &mut Gathered);
    /// The table of one owner of the segments of all partitions, of which this is one.
    fn gathered(&self, all: Gathered, capacity: u64, overdrawn: u64) -> Self;
    /// Whether both have the same in the same slots.
    fn is_same(&self, other: &Self) -> bool;
}

impl Partition for Growing {
    const SHARES_LEN: bool = true;

    #[inline(always)]
    fn growing(&self) -> &Growing {
        self
    }

    #[inline(always)]
    fn growing_mut(&mut self) -> &mut Growing {
        self
    }

    fn divided(&mut self, capacity: u64) -> Vec<Self> {
        if self.can_part() { self.parted(capacity) } else { Vec::new() }
    }

    fn add_to(&self, gathered: &mut Gathered) {
        gathered.add(self);
    }

    fn gathered(&self, all: Gathered, capacity: u64, overdrawn: u64) -> Self {
        all.table(Home::ROOT, capacity, overdrawn)
    }

    fn is_same(&self, other: &Self) -> bool {
        Growing::is_same(self, other)
    }
}

impl Partition for Expiring<Growing> {
    const SHARES_LEN: bool = false;

    #[inline(always)]
    fn growing(&self) -> &Growing {
        &self.table
    }

    #[inline(always)]
    fn growing_mut(&mut self) -> &mut Growing {
        &mut self.table
    }

    /// Sweeps the table first, so that each part can count its own keys.
    fn divided(&mut self, capacity: u64) -> Vec<Self> {
        self.sweep();
        if !self.table.can_part() {
            return Vec::new();
        }
        let parts = self.table.parted(self.times.window().kept(capacity));
        parts.into_iter().map(|table| self.with_table(table, capacity)).collect()
    }

    fn add_to(&self, gathered: &mut Gathered) {
        gathered.add(&self.swept().table);
    }

    fn gathered(&self, all: Gathered, capacity: u64, _overdrawn: u64) -> Self {
        let kept = self.times.window().kept(capacity);
        self.with_table(all.table(Home::ROOT, kept, 0), capacity)
    }

    fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.swept(), other.swept());
        (ours.times.window(), ours.times.now()) == (theirs.times.window(), theirs.times.now())
            && ours.table.is_same(&theirs.table)
    }
}

impl Expiring<Growing> {
    /// Another table that was swept at the present time, with the same kind of ages.
    fn with_table(&self, table: Growing, capacity: u64) -> Self {
        let set = Self::of(table, self.times.window(), self.times.now(), capacity);
        set.expect("ages stay ages")
    }
}

/// Time, and keys that are seen again.
impl Partitioned<Expiring<Growing>> {
    /// Advances one partition after another to this time.
    pub(crate) fn advance(&self, now: u64) {
        if now > self.now() {
            self.at_one_time(|| self.change_all(|partition| partition.advance(now)));
        }
    }

    /// The time of the partition that is advanced last.
    pub(crate) fn now(&self) -> u64 {
        self.read(MAX_PARTITIONS - 1).times.now()
    }

    pub(crate) fn window(&self) -> Window {
        self.read(0).times.window()
    }

    pub(crate) fn age(&self, hash: u64) -> Option<u64> {
        self.look(partition_number(hash), |partition| partition.age(hash))
    }

    pub(crate) fn see(&self, hash: u64, refresh: bool) -> Result<bool, InsertError> {
        self.change(partition_number(hash), |partition| partition.see(hash, refresh))
    }

    pub(crate) fn see_batch(&self, hashes: &[u64], refresh: bool, new: &mut [bool]) -> Vec<usize> {
        self.change_all_of(hashes, new, |partition, part, new| {
            partition.see_batch(part.hashes, refresh, new)
        })
    }

    /// Inserts a batch; none of its keys is refused.
    pub(crate) fn insert_all(&self, source: &impl Source) -> Vec<usize> {
        source.hashes(0..source.len(), Self::AT_ONCE, |_, hashes| {
            self.insert_batch(hashes, &[]);
        });
        Vec::new()
    }

    /// Inserts the hashes of a batch that are not in, in their order. Sets in `new` whether it did.
    pub(crate) fn insert_all_unique(&self, source: &impl Source, new: &mut [bool]) -> Vec<usize> {
        source::in_parts(source, Self::AT_ONCE, new, |hashes, new| {
            self.insert_unique_batch(hashes, new)
        })
    }
}
