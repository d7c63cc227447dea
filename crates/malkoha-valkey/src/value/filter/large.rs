//! A filter that has a table, and its accounts.

use std::sync::Arc;
use std::time::Instant;

use malkoha::GrowableExpiringCuckooFilter;

use super::super::properties::Properties;
use super::super::redisbloom::Chain;
use super::super::stats::{self, measure};
use super::super::table::Table;

/// A table, its properties and its place in the statistics.
#[derive(Debug)]
pub(crate) struct Large {
    /// Other threads can read it too.
    pub(super) table: Arc<Table>,
    /// When a change last had to wait until the others gave it back.
    pub(super) waited: Option<Instant>,
    pub(in crate::value) properties: Properties,
    /// Copies that were deleted in its life.
    pub(in crate::value) deleted: u64,
    /// Its size, as the server counts it.
    bytes: u64,
    /// The items from before this filter was made, in RedisBloom's layout.
    pub(super) older: Option<Box<Chain>>,
}

impl Large {
    /// The filter of a table that takes `bytes` bytes.
    pub(super) fn of(table: Table, properties: Properties, deleted: u64, bytes: i64) -> Box<Self> {
        stats::FILTERS.add(1);
        let (mut filter, own) = measure(|| {
            let table = Arc::new(table);
            Box::new(Self { table, waited: None, properties, deleted, bytes: 0, older: None })
        });
        filter.grown_by(bytes + own);
        filter
    }

    /// A copy with memory of its own.
    pub(super) fn copy(&self) -> Box<Self> {
        let (table, bytes) = measure(|| self.table().clone());
        let mut copy = Self::of(table, self.properties, self.deleted, bytes);
        copy.older.clone_from(&self.older);
        copy
    }

    pub(in crate::value) fn table(&self) -> &Table {
        &self.table
    }

    /// A number that every change of its items changes: additions make the items more, deletions
    /// are counted, and what has expired goes when the time has changed. An item that is added
    /// again to get younger leaves it.
    pub(in crate::value) fn state(&self) -> u64 {
        let table = self.table();
        let step = table.expiring().map_or(0, GrowableExpiringCuckooFilter::next_step);
        let (items, segments) = (table.len(0), table.segments() as u64);
        let numbers = [items, table.counted(), segments, self.deleted, step];
        table.hasher().hash_bytes(&numbers.map(u64::to_le_bytes).concat())
    }

    /// Its size with RedisBloom's part, as the server counts it.
    pub(super) fn bytes(&self) -> u64 {
        let older = self.older.as_ref();
        self.bytes + older.map_or(0, |older| older.bytes() + size_of::<Chain>() as u64)
    }

    /// Changes the table; a copy of it, if it is still lent.
    pub(super) fn change<R>(&mut self, change: impl FnOnce(&mut Table) -> R) -> R {
        self.waited = None;
        let table = Arc::make_mut(&mut self.table);
        let (outcome, bytes) = measure(|| change(table));
        self.grown_by(bytes);
        outcome
    }

    fn grown_by(&mut self, bytes: i64) {
        if bytes != 0 {
            self.bytes = self.bytes.saturating_add_signed(bytes);
            stats::BYTES.add(bytes.cast_unsigned());
        }
    }

    /// Whether an item is in RedisBloom's part.
    pub(super) fn is_older(&self, item: &[u8]) -> bool {
        self.older.as_ref().is_some_and(|older| older.contains(item))
    }

    pub(super) fn hash(&self, item: &[u8]) -> u64 {
        self.table().hasher().hash_bytes(item)
    }

    pub(super) fn hashes(&self, items: &[&[u8]]) -> Vec<u64> {
        let mut hashes = vec![0; items.len()];
        self.table().hasher().hash_strings(items, &mut hashes);
        hashes
    }

    /// Whether it must not grow, and its slots hold so many items.
    pub(super) fn holds(&self, items: u64) -> bool {
        !self.properties.grows() && self.table().counted() >= items
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        stats::FILTERS.subtract(1);
        stats::BYTES.subtract(self.bytes);
    }
}
