//! A filter as a key holds it: a few items, or a table.

mod change;

use std::borrow::Cow;
use std::sync::Arc;

use malkoha::{BuildError, KeyHasher, ReadError};

pub(crate) use super::large::{NotUnited, Refused};

use super::large::Large;
use super::properties::{Expiry, Properties};
use super::redisbloom::Chain;
use super::small::Small;
use super::table::Table;
use crate::ledger::measure;

/// A filter of either size.
pub(crate) enum StoredFilter {
    Small(Box<Small>),
    Large(Box<Large>),
}

use StoredFilter::{Large as IsLarge, Small as IsSmall};

/// Runs one expression on either.
macro_rules! either {
    ($stored:expr, $filter:ident => $body:expr) => {
        match $stored {
            IsSmall($filter) => $body,
            IsLarge($filter) => $body,
        }
    };
}

impl StoredFilter {
    /// The filter of a table that takes `bytes` bytes.
    pub(super) fn of(table: Table, properties: Properties, deleted: u64, bytes: i64) -> Self {
        IsLarge(Large::of(table, properties, deleted, bytes))
    }

    /// An empty one.
    pub(crate) fn create(
        properties: Properties,
        expiry: Option<Expiry>,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        let (table, bytes) = measure(|| properties.build(expiry, hasher));
        let table = table?;
        let small = Small::instead_of(&table, &properties, hasher);
        Ok(small.map_or_else(|| Self::of(table, properties, 0, bytes), IsSmall))
    }

    /// The filter of a file of the library.
    pub(crate) fn open(file: &[u8]) -> Result<Self, ReadError> {
        Large::open(file).map(IsLarge)
    }

    /// The same with RedisBloom's part, if anything is left of it.
    pub(crate) fn beside(mut self, older: Option<Chain>) -> Self {
        if let Some(older) = older {
            self.large().beside(Some(older));
        }
        self
    }

    /// The filter with a table; a small one gets a table first.
    fn large(&mut self) -> &mut Large {
        if let IsSmall(small) = self {
            *self = IsLarge(small.to_large());
        }
        match self {
            IsLarge(large) => large,
            IsSmall(_) => unreachable!("it has just got a table"),
        }
    }

    /// The filter with a table, if it has one.
    fn as_large(&self) -> Option<&Large> {
        match self {
            IsLarge(large) => Some(large),
            IsSmall(_) => None,
        }
    }

    fn as_large_mut(&mut self) -> Option<&mut Large> {
        match self {
            IsLarge(large) => Some(large),
            IsSmall(_) => None,
        }
    }

    /// The part in RedisBloom's layout.
    pub(crate) fn older(&self) -> Option<&Chain> {
        self.as_large()?.older()
    }

    /// Its table, or the one that a few items stand for.
    pub(crate) fn table(&self) -> Cow<'_, Table> {
        match self {
            IsLarge(large) => Cow::Borrowed(large.table()),
            IsSmall(small) => Cow::Owned(small.table()),
        }
    }

    pub(crate) fn hasher(&self) -> KeyHasher {
        match self {
            IsLarge(large) => large.table().hasher(),
            IsSmall(small) => small.hasher(),
        }
    }

    /// Whether its items expire.
    pub(crate) fn expires(&self) -> bool {
        self.as_large().is_some_and(|large| large.table().expiring().is_some())
    }

    /// Its table as it is now, to be read by another thread.
    pub(crate) fn lend(&mut self) -> Arc<Table> {
        match self {
            IsLarge(large) => large.lend(),
            IsSmall(small) => Arc::new(small.table()),
        }
    }

    /// Whether the table is still being read, so that changing it would copy it.
    pub(crate) fn is_lent(&self) -> bool {
        self.as_large().is_some_and(Large::is_lent)
    }

    /// Notes that a change waits until the table has been given back.
    pub(crate) fn wait_for_table(&mut self) {
        if let IsLarge(large) = self {
            large.wait_for_table();
        }
    }

    /// Whether a change waits: if the table were lent again, it could wait forever.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.as_large().is_some_and(Large::is_waited_for)
    }

    /// Whether its table is still this one, which was lent.
    pub(crate) fn still_has(&self, table: &Arc<Table>) -> bool {
        match self {
            IsLarge(large) => large.still_has(table),
            // It was made to be lent; tables of the same items in the same order are equal.
            IsSmall(small) => {
                small.len() == table.len(0) && small.table().to_bytes() == table.to_bytes()
            }
        }
    }

    /// The time to pass to `advance` at `now` before a change, if its items expire and another step
    /// has begun since the last one.
    pub(crate) fn step_begun(&self, now: u64) -> Option<u64> {
        self.as_large()?.step_begun(now)
    }

    /// Sets its time to this, if that is later than the time it has.
    pub(crate) fn advance(&mut self, now: u64) {
        if let Some(large) = self.as_large_mut() {
            large.advance(now);
        }
    }

    pub(crate) fn properties(&self) -> &Properties {
        either!(self, filter => filter.properties())
    }

    /// Copies that were deleted in its life.
    pub(crate) fn deleted(&self) -> u64 {
        either!(self, filter => filter.deleted())
    }

    /// What it takes, as the server counts it.
    pub(crate) fn bytes(&self) -> u64 {
        either!(self, filter => filter.bytes())
    }

    /// The approximate number of allocations.
    pub(super) fn allocations(&self) -> usize {
        self.as_large().map_or(1, |large| large.table().segments() + 5)
    }

    /// Whether an item is in, at a time that matters where items expire.
    pub(crate) fn contains(&self, item: &[u8], now: u64) -> bool {
        match self {
            IsLarge(large) => large.contains(item, now),
            IsSmall(small) => small.contains(item),
        }
    }

    /// Which of the items are in.
    pub(crate) fn contains_all(&self, items: &[&[u8]], now: u64) -> Vec<bool> {
        match self {
            IsLarge(large) => large.contains_all(items, now),
            IsSmall(small) => items.iter().map(|item| small.contains(item)).collect(),
        }
    }

    /// How many copies of an item are in.
    pub(crate) fn count(&self, item: &[u8], now: u64) -> u64 {
        match self {
            IsLarge(large) => large.count(item, now),
            IsSmall(small) => small.count(item),
        }
    }

    /// A filter of these properties that has all that is in these tables, unless it would take more
    /// than `max_bytes`, which is checked after each table.
    pub(crate) fn union(
        properties: Properties,
        deleted: u64,
        tables: &[Arc<Table>],
        max_bytes: u64,
    ) -> Result<Self, NotUnited> {
        Large::union(properties, deleted, tables, max_bytes).map(IsLarge)
    }

    /// A filter of these properties with the items of a table that have not expired.
    pub(crate) fn swept(properties: Properties, deleted: u64, table: &Table) -> Self {
        IsLarge(Large::swept(properties, deleted, table))
    }

    /// Whether it holds more than it may.
    pub(crate) fn is_overfull(&self) -> bool {
        self.as_large().is_some_and(Large::is_overfull)
    }

    /// Frees what an empty filter grew by, and merges tables of RedisBloom's part if fewer suffice.
    pub(crate) fn compact(&mut self) {
        if let Some(large) = self.as_large_mut() {
            large.compact();
        }
    }
}

impl Clone for StoredFilter {
    fn clone(&self) -> Self {
        match self {
            IsLarge(large) => IsLarge(large.copy()),
            IsSmall(small) => IsSmall(small.copy()),
        }
    }
}
