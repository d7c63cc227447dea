//! A filter that has a table, and what belongs to it.

mod change;
mod place;

use std::sync::Arc;

use malkoha::{ReadError, UnionError};

use super::limits::is_overfull;
use super::properties::Properties;
use super::redisbloom::Chain;
use super::stats;
use super::table::{Table, Unlike};
use crate::ledger::measure;
use place::Place;

/// Why an item was not added. The filter is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It must not grow, and holds its capacity.
    Full,
    /// It takes as many bytes as a filter may.
    AtLimit,
}

/// Why filters are not united.
#[derive(Debug)]
pub(crate) enum NotUnited {
    /// All together are larger than a filter may be.
    TooLarge,
    /// Items of some of them stay, those of others expire.
    Kinds,
    Unlike(UnionError),
}

impl From<Unlike> for NotUnited {
    fn from(unlike: Unlike) -> Self {
        match unlike {
            Unlike::Kinds => Self::Kinds,
            Unlike::Filters(error) => Self::Unlike(error),
        }
    }
}

/// A filter, its properties and its place in the statistics.
#[derive(Debug)]
pub(crate) struct Large {
    table: Place,
    properties: Properties,
    /// Copies that were deleted in its life.
    deleted: u64,
    /// What it takes, as the server counts it.
    bytes: u64,
    /// What was in before this filter was made, in RedisBloom's layout.
    older: Option<Box<Chain>>,
}

impl Large {
    /// The filter of a table that takes `bytes` bytes.
    pub(super) fn of(table: Table, properties: Properties, deleted: u64, bytes: i64) -> Box<Self> {
        stats::FILTERS.add(1);
        let table = Place::Own(table);
        let filter = Self { table, properties, deleted, bytes: 0, older: None };
        let (mut filter, own) = measure(|| Box::new(filter));
        filter.grown_by(bytes + own);
        filter
    }

    /// The filter of a file of the library.
    pub(super) fn open(file: &[u8]) -> Result<Box<Self>, ReadError> {
        let (table, bytes) = measure(|| Table::open(file));
        let table = table?;
        let properties = Properties::of_file(&table);
        Ok(Self::of(table, properties, 0, bytes))
    }

    /// The same with RedisBloom's part, if anything is left of it.
    pub(super) fn beside(&mut self, older: Option<Chain>) {
        self.older = older.filter(|older| older.len() > 0).map(Box::new);
    }

    /// The part in RedisBloom's layout.
    pub(super) fn older(&self) -> Option<&Chain> {
        self.older.as_deref()
    }

    /// The time to pass to `advance` at `now` before a change, if its items expire and another step
    /// has begun since the last one.
    pub(super) fn step_begun(&self, now: u64) -> Option<u64> {
        let filter = self.table().expiring().filter(|filter| filter.next_step() <= now)?;
        Some(filter.step_start(now))
    }

    /// Sets its time to this, if that is later than the time it has.
    pub(super) fn advance(&mut self, now: u64) {
        self.table.own().advance(now);
    }

    pub(super) const fn properties(&self) -> &Properties {
        &self.properties
    }

    pub(super) const fn deleted(&self) -> u64 {
        self.deleted
    }

    /// What its tables take, as the server counts it; and itself.
    pub(super) fn bytes(&self) -> u64 {
        let older =
            self.older.as_ref().map_or(0, |older| older.bytes() + size_of::<Chain>() as u64);
        self.bytes + older
    }

    fn hash(&self, item: &[u8]) -> u64 {
        self.table().hasher().hash_bytes(item)
    }

    fn hashes(&self, items: &[&[u8]]) -> Vec<u64> {
        let mut hashes = vec![0; items.len()];
        self.table().hasher().hash_strings(items, &mut hashes);
        hashes
    }

    /// Whether an item is in, at a time that matters where items expire.
    pub(super) fn contains(&self, item: &[u8], now: u64) -> bool {
        self.table().contains(self.hash(item), now) || self.is_older(item)
    }

    /// Which of the items are in.
    pub(super) fn contains_all(&self, items: &[&[u8]], now: u64) -> Vec<bool> {
        let mut found = vec![false; items.len()];
        self.table().contains_all(&self.hashes(items), now, &mut found);
        if self.older.is_some() {
            for (found, item) in found.iter_mut().zip(items) {
                *found = *found || self.is_older(item);
            }
        }
        found
    }

    /// How many copies of an item are in.
    pub(super) fn count(&self, item: &[u8], now: u64) -> u64 {
        let older = self.older.as_ref().map_or(0, |older| older.count(item));
        self.table().count(self.hash(item), now) + older
    }

    fn is_older(&self, item: &[u8]) -> bool {
        self.older.as_ref().is_some_and(|older| older.contains(item))
    }

    /// A filter of these properties that has all that is in these tables, unless it would take more
    /// than `max_bytes`, which is checked after each table.
    pub(super) fn union(
        properties: Properties,
        deleted: u64,
        tables: &[Arc<Table>],
        max_bytes: u64,
    ) -> Result<Box<Self>, NotUnited> {
        let (united, bytes) = measure(|| {
            let (first, others) = tables.split_first().ok_or(NotUnited::Kinds)?;
            let mut united = Table::clone(first);
            others.iter().try_for_each(|other| {
                united.unite(other)?;
                let fits = united.size_in_bytes() <= max_bytes;
                fits.then_some(()).ok_or(NotUnited::TooLarge)
            })?;
            Ok::<_, NotUnited>(united)
        });
        let united = Self::of(united?, properties, deleted, bytes);
        stats::ADDED.add(tables.iter().skip(1).map(|other| other.len(0)).sum());
        Ok(united)
    }

    /// A filter of these properties with the items of a table that have not expired.
    pub(super) fn swept(properties: Properties, deleted: u64, table: &Table) -> Box<Self> {
        let (table, bytes) = measure(|| {
            let mut table = table.clone();
            table.sweep();
            table
        });
        Self::of(table, properties, deleted, bytes)
    }

    /// Whether it holds more than it may.
    pub(super) fn is_overfull(&self) -> bool {
        is_overfull(self.table(), &self.properties)
    }

    /// Frees what an empty filter grew by, and merges tables of RedisBloom's part if fewer suffice.
    pub(super) fn compact(&mut self) {
        if let Some(older) = &mut self.older {
            older.compact();
        }
        // One that never had slots for its capacity has nothing to free; and a dump may claim any
        // capacity.
        let (table, properties) = (self.table.own(), self.properties);
        let Table::Lasting(filter) = table else { return };
        if !filter.is_empty() || 4 * filter.buckets() < properties.capacity {
            return;
        }
        let hasher = filter.hasher();
        let ((), bytes) = measure(|| {
            // Fails for a filter from a file, because its properties are not known.
            if let Ok(fresh) = properties.build(None, hasher) {
                *table = fresh;
            }
        });
        self.grown_by(bytes);
    }

    fn grown_by(&mut self, bytes: i64) {
        if bytes != 0 {
            self.bytes = self.bytes.saturating_add_signed(bytes);
            stats::BYTES.add(bytes.cast_unsigned());
        }
    }
}

impl Large {
    /// A copy with memory of its own.
    pub(super) fn copy(&self) -> Box<Self> {
        let (table, bytes) = measure(|| self.table().clone());
        let mut copy = Self::of(table, self.properties, self.deleted, bytes);
        copy.beside(self.older().cloned());
        copy
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        stats::FILTERS.subtract(1);
        stats::BYTES.subtract(self.bytes);
    }
}
