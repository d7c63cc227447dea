//! A filter as a key holds it: a few items, or a table.

mod large;
mod make;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use malkoha::KeyHasher;

pub(crate) use large::Large;

use super::properties::Properties;
use super::redisbloom::Chain;
use super::small::Small;
use super::stats::measure;
use super::table::{Kind, Table};

/// How long a waiting change keeps others from borrowing the table, after each check whether the
/// table has been given back. Checks are a millisecond apart, or more when the server is busy.
const PRECEDENCE: Duration = Duration::from_millis(100);

/// Why an item was not added. The filter is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It must not grow, and holds its capacity.
    Full,
    /// It takes as many bytes as a filter may.
    AtLimit,
}

/// A filter of either size.
pub(crate) enum StoredFilter {
    Small(Box<Small>),
    Large(Box<Large>),
}

use StoredFilter::{Large as IsLarge, Small as IsSmall};

impl StoredFilter {
    /// The filter of a table that takes `bytes` bytes.
    pub(super) fn of(table: Table, properties: Properties, deleted: u64, bytes: i64) -> Self {
        IsLarge(Large::of(table, properties, deleted, bytes))
    }

    /// The same with RedisBloom's part, if anything is left of it.
    pub(crate) fn with_older(mut self, older: Option<Chain>) -> Self {
        if let Some(older) = older.filter(|older| older.len() > 0) {
            self.large().older = Some(Box::new(older));
        }
        self
    }

    /// The filter with a table; a small one gets a table first.
    fn large(&mut self) -> &mut Large {
        if let IsSmall(small) = self {
            let (table, bytes) = measure(|| small.table());
            *self = Self::of(table, *small.properties(), small.deleted(), bytes);
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

    /// The part in RedisBloom's layout.
    pub(crate) fn older(&self) -> Option<&Chain> {
        self.as_large()?.older.as_deref()
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
            IsLarge(large) => {
                large.waited = None;
                Arc::clone(&large.table)
            }
            IsSmall(small) => Arc::new(small.table()),
        }
    }

    /// Whether the table is still being read, so that changing it would copy it.
    pub(crate) fn is_lent(&self) -> bool {
        self.as_large().is_some_and(|large| Arc::strong_count(&large.table) > 1)
    }

    /// Notes that a change waits until the table has been given back.
    pub(crate) fn wait_for_table(&mut self) {
        if let IsLarge(large) = self {
            large.waited = Some(Instant::now());
        }
    }

    /// Whether a change waits: if the table were lent again, it could wait forever.
    pub(crate) fn is_waited_for(&self) -> bool {
        let waited = self.as_large().and_then(|large| large.waited);
        waited.is_some_and(|at| at.elapsed() < PRECEDENCE)
    }

    /// Whether its table is still this one, which was lent.
    pub(crate) fn still_has(&self, table: &Arc<Table>) -> bool {
        match self {
            IsLarge(large) => Arc::ptr_eq(&large.table, table),
            // It was made to be lent; tables of the same items in the same order are equal.
            IsSmall(small) => {
                small.len() == table.len(0) && small.table().to_bytes() == table.to_bytes()
            }
        }
    }

    /// The time to pass to `advance` at `now` before a change, if its items expire and another step
    /// has begun since the last one.
    pub(crate) fn step_begun(&self, now: u64) -> Option<u64> {
        let filter = self.as_large()?.table().expiring();
        filter.filter(|filter| filter.next_step() <= now).map(|filter| filter.step_start(now))
    }

    /// Sets its time to this, if that is later than the time it has.
    pub(crate) fn advance(&mut self, now: u64) {
        if let IsLarge(large) = self {
            large.change(|table| table.advance(now));
        }
    }

    pub(crate) fn properties(&self) -> &Properties {
        match self {
            IsLarge(large) => &large.properties,
            IsSmall(small) => small.properties(),
        }
    }

    /// Copies that were deleted in its life.
    pub(crate) fn deleted(&self) -> u64 {
        match self {
            IsLarge(large) => large.deleted,
            IsSmall(small) => small.deleted(),
        }
    }

    /// The bytes that it takes, as the server counts them.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            IsLarge(large) => large.bytes(),
            IsSmall(small) => small.bytes(),
        }
    }

    /// The approximate number of allocations.
    pub(super) fn allocations(&self) -> usize {
        self.as_large().map_or(1, |large| large.table().segments() + 5)
    }

    /// Whether an item is in, at a time that matters where items expire.
    pub(crate) fn contains(&self, item: &[u8], now: u64) -> bool {
        match self {
            IsLarge(large) => large.table().contains(large.hash(item), now) || large.is_older(item),
            IsSmall(small) => small.contains(item),
        }
    }

    /// Which of the items are in.
    pub(crate) fn contains_all(&self, items: &[&[u8]], now: u64) -> Vec<bool> {
        let large = match self {
            IsLarge(large) => large,
            IsSmall(small) => return items.iter().map(|item| small.contains(item)).collect(),
        };
        let mut found = vec![false; items.len()];
        large.table().contains_all(&large.hashes(items), now, &mut found);
        if large.older.is_some() {
            for (found, item) in found.iter_mut().zip(items) {
                *found = *found || large.is_older(item);
            }
        }
        found
    }

    /// How many copies of an item are in.
    pub(crate) fn count(&self, item: &[u8], now: u64) -> u64 {
        match self {
            IsLarge(large) => {
                let older = large.older.as_ref().map_or(0, |older| older.count(item));
                large.table().count(large.hash(item), now) + older
            }
            IsSmall(small) => small.count(item),
        }
    }

    /// Whether it holds more than it may.
    pub(crate) fn is_overfull(&self) -> bool {
        let most = self.properties().capacity;
        self.as_large().is_some_and(|large| large.holds(most.saturating_add(1)))
    }

    /// Whether CF.COMPACT can give anything back.
    pub(crate) fn is_sweepable(&self) -> bool {
        self.as_large().is_some_and(|large| large.table().kind() != Kind::Fixed)
    }

    /// RedisBloom's part, with nothing left here.
    pub(crate) fn take_older(&mut self) -> Option<Chain> {
        let IsLarge(large) = self else { return None };
        large.older.take().map(|older| *older)
    }

    /// Adds a copy of an item, or one that is not in already, unless the filter takes `max_bytes`;
    /// returns whether it was added.
    pub(crate) fn insert(
        &mut self,
        item: &[u8],
        absent_only: bool,
        max_bytes: u64,
    ) -> Result<bool, Refused> {
        if let IsSmall(small) = self
            && let Some(added) = small.insert(item, absent_only)
        {
            return Ok(added);
        }
        self.large().insert(item, absent_only, max_bytes)
    }

    /// Adds a copy of each item, or of each that is not in already; returns which were added.
    pub(crate) fn insert_all(
        &mut self,
        items: &[&[u8]],
        absent_only: bool,
        max_bytes: u64,
    ) -> Vec<Result<bool, Refused>> {
        let mut outcomes = Vec::new();
        if let IsSmall(small) = self {
            outcomes.extend(items.iter().map_while(|item| small.insert(item, absent_only)).map(Ok));
        }
        let left = &items[outcomes.len()..];
        if outcomes.is_empty() || !left.is_empty() {
            outcomes.extend(self.large().insert_all(left, absent_only, max_bytes));
        }
        outcomes
    }

    /// Deletes a copy of an item; returns whether it was there.
    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let removed = if let IsSmall(small) = self { small.remove(item) } else { None };
        removed.unwrap_or_else(|| {
            let removed = self.large().remove(item);
            self.give_back();
            removed
        })
    }

    /// Deletes a copy of each item; returns which were there.
    pub(crate) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        let IsLarge(large) = self else {
            return items.iter().map(|item| self.remove(item)).collect();
        };
        let removed = large.remove_all(items);
        self.give_back();
        removed
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
