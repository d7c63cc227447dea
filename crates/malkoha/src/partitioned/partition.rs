//! The tables of one owner that can be partitions.

use crate::expiry::Expiring;
use crate::growable::{Gathered, Growing, Home};
use crate::table::traits::{Change, Stored};

/// A table that grows, and that can be divided into partitions which threads share: a set, a map, or
/// a set whose keys expire. Sealed: no other crate can implement it.
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
