//! Sets whose keys expire: time, and keys that are seen again.

use super::Partitioned;
use crate::error::InsertError;
use crate::expiry::{Expiring, Window};
use crate::growable::{Growing, MAX_PARTITIONS, partition_number};
use crate::table::rounds::{self, Source};
use crate::table::traits::Lookup;

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
        rounds::in_parts(source, Self::AT_ONCE, new, |hashes, new| {
            self.insert_unique_batch(hashes, new)
        })
    }
}
