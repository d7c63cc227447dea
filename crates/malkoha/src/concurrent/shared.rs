//! The table that threads share, as `Filter` sees it.

use super::buckets::Buckets;
use super::counter::Counter;
use super::table::Table;
use crate::error::{BuildError, InsertError};
use crate::geometry::Geometry;
use crate::locks::{Locking, ParkingLock, Striped};
use crate::table::source::{self, Source};
use crate::table::traits::CHUNK;

/// A table that any number of threads read and change at the same time.
///
/// `P` says which locks it has.
#[derive(Debug)]
pub struct Shared<P: Locking = Striped<ParkingLock>> {
    pub(super) table: Table<P>,
    pub(super) max_kicks: u32,
    pub(super) capacity: u64,
    pub(super) len: Counter,
}

impl<P: Locking> Shared<P> {
    pub(crate) fn fixed(
        geometry: Geometry,
        max_kicks: u32,
        capacity: u64,
    ) -> Result<Self, BuildError> {
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let buckets = Buckets::new(&geometry).ok_or(BuildError::Memory { bytes })?;
        let table = Table::new(geometry, buckets);
        Ok(Self { table, max_kicks, capacity, len: Counter::new(0) })
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.table.geometry
    }

    #[inline]
    pub(crate) fn insert(&self, hash: u64, _value: u64) -> Result<(), InsertError> {
        let max_kicks = self.max_kicks;
        if self.table.whole(|table| table.insert(&table.probe(hash), max_kicks)) {
            self.len.add(1);
            Ok(())
        } else {
            Err(self.refusal())
        }
    }

    /// Inserts a batch; returns the positions of those that found no place.
    pub(crate) fn insert_all(&self, source: &impl Source) -> Vec<usize> {
        let mut refused = Vec::new();
        source.hashes(0..source.len(), CHUNK, |start, hashes| {
            let mut inserted = 0;
            self.table.pipelined(hashes, |i, probe| {
                if self.table.whole(|table| table.insert(probe, self.max_kicks)) {
                    inserted += 1;
                } else {
                    refused.push(start + i);
                }
            });
            self.len.add(inserted);
        });
        refused
    }

    /// Inserts the hashes of a batch that have no copy yet. Sets in `new` whether it did. Returns
    /// the positions of those that found no place.
    pub(crate) fn insert_all_unique(&self, source: &impl Source, new: &mut [bool]) -> Vec<usize> {
        source::in_parts(source, CHUNK, new, |hashes, new| {
            let mut refused = Vec::new();
            self.table.pipelined(hashes, |i, probe| {
                let unique = self.table.whole(|table| table.insert_unique(probe, self.max_kicks));
                new[i] = unique == Some(true);
                if unique.is_none() {
                    refused.push(i);
                }
            });
            self.len.add(count(new));
            refused
        })
    }

    pub(crate) fn insert_unique(&self, hash: u64) -> Result<bool, InsertError> {
        let unique =
            self.table.whole(|table| table.insert_unique(&table.probe(hash), self.max_kicks));
        let is_new = unique.ok_or_else(|| self.refusal())?;
        self.len.add(is_new.into());
        Ok(is_new)
    }

    pub(crate) fn clear(&self) {
        let copies = self.table.clear();
        // Limited, because a sum of parts wraps around.
        self.len.add(copies.cast_signed().wrapping_neg());
    }

    #[cold]
    pub(crate) fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.len.get(), capacity: self.capacity }
    }

    #[inline]
    pub(crate) fn remove(&self, hash: u64, _value: u64) -> bool {
        let removed = self.table.whole(|table| table.remove(&table.probe(hash)));
        if removed {
            self.len.add(-1);
        }
        removed
    }

    pub(crate) fn remove_batch(&self, hashes: &[u64], _values: &[u64], removed: &mut [bool]) {
        self.table.pipelined(hashes, |i, probe| {
            removed[i] = self.table.whole(|table| table.remove(probe));
        });
        self.len.add(-count(removed));
    }
}

fn count(outcomes: &[bool]) -> i64 {
    outcomes.iter().map(|&outcome| i64::from(outcome)).sum()
}
