//! A filter that has a table, and what belongs to it.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use malkoha::{ReadError, UnionError};

use super::limits::{is_full, is_overfull};
use super::properties::Properties;
use super::redisbloom::Chain;
use super::stats;
use super::table::{Table, Unlike};
use crate::ledger::measure;

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

/// Items that are added between two looks at the limit: few enough that a filter cannot run away.
const BATCH: usize = 1024;

/// How long a change that waits keeps others from borrowing the table, after each look whether it
/// has been given back. Looks are a millisecond apart, or more where the server has much to do.
const PRECEDENCE: Duration = Duration::from_millis(100);

/// Where a filter has its table: its own, or one that others read beside the server too.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the common one")]
enum Place {
    Own(Table),
    /// None while it changes hands; and when a change last had to wait.
    Lent(Option<Arc<Table>>, Option<Instant>),
}

impl Place {
    fn get(&self) -> &Table {
        match self {
            Self::Own(table) => table,
            Self::Lent(table, _) => table.as_ref().expect("it is somewhere"),
        }
    }

    /// A table of its own: a copy, if it is lent still.
    fn own(&mut self) -> &mut Table {
        if let Self::Lent(table, _) = self {
            let table = table.take().expect("it is somewhere");
            *self = Self::Own(Arc::unwrap_or_clone(table));
        }
        match self {
            Self::Own(table) => table,
            Self::Lent(..) => unreachable!("it has just become its own"),
        }
    }

    fn lend(&mut self) -> Arc<Table> {
        let place = mem::replace(self, Self::Lent(None, None));
        let table = match place {
            Self::Own(table) => Arc::new(table),
            Self::Lent(table, _) => table.expect("it is somewhere"),
        };
        *self = Self::Lent(Some(Arc::clone(&table)), None);
        table
    }

    fn is_lent(&self) -> bool {
        matches!(self, Self::Lent(Some(table), _) if Arc::strong_count(table) > 1)
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
    /// What was in before this filter was made, as RedisBloom had it.
    older: Option<Box<Chain>>,
}

impl Large {
    /// Of a table that takes so many bytes.
    pub(super) fn of(table: Table, properties: Properties, deleted: u64, bytes: i64) -> Box<Self> {
        stats::FILTERS.add(1);
        let table = Place::Own(table);
        let filter = Self { table, properties, deleted, bytes: 0, older: None };
        let (mut filter, own) = measure(|| Box::new(filter));
        filter.grown_by(bytes + own);
        filter
    }

    /// That of a file of the library.
    pub(super) fn open(file: &[u8]) -> Result<Box<Self>, ReadError> {
        let (table, bytes) = measure(|| Table::open(file));
        let table = table?;
        let properties = Properties::of_file(&table);
        Ok(Self::of(table, properties, 0, bytes))
    }

    /// The same with what RedisBloom had, if anything is left of it.
    pub(super) fn beside(&mut self, older: Option<Chain>) {
        self.older = older.filter(|older| older.len() > 0).map(Box::new);
    }

    /// What RedisBloom had.
    pub(super) fn older(&self) -> Option<&Chain> {
        self.older.as_deref()
    }

    pub(super) fn table(&self) -> &Table {
        self.table.get()
    }

    /// Its table as it is now, for somebody who reads it beside the server.
    pub(super) fn lend(&mut self) -> Arc<Table> {
        self.table.lend()
    }

    /// Whether somebody still reads the table, so that changing it would copy it.
    pub(super) fn is_lent(&self) -> bool {
        self.table.is_lent()
    }

    /// Notes that a change waits until the table has been given back.
    pub(super) fn wait_for_table(&mut self) {
        if let Place::Lent(_, waited) = &mut self.table {
            *waited = Some(Instant::now());
        }
    }

    /// Whether a change waits: who borrowed the table now could keep it waiting for ever.
    pub(super) fn is_waited_for(&self) -> bool {
        matches!(&self.table, Place::Lent(_, Some(at)) if at.elapsed() < PRECEDENCE)
    }

    /// Whether it has this very table, which was lent, still.
    pub(super) fn still_has(&self, table: &Arc<Table>) -> bool {
        matches!(&self.table, Place::Lent(Some(lent), _) if Arc::ptr_eq(lent, table))
    }

    /// The time that it must be told at `now` before it is changed, if its items expire and another
    /// step has begun since it was told the last one.
    pub(super) fn step_begun(&self, now: u64) -> Option<u64> {
        let filter = self.table().expiring().filter(|filter| filter.next_step() <= now)?;
        Some(filter.step_start(now))
    }

    /// Lets it be this time, if it is not later yet.
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
        items.iter().map(|item| self.hash(item)).collect()
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

    /// Adds a copy of an item, unless the filter takes `max_bytes` already.
    pub(super) fn insert(&mut self, item: &[u8], max_bytes: u64) -> Result<(), Refused> {
        self.insert_hash(self.hash(item), max_bytes)
    }

    fn insert_hash(&mut self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        let outcome = self.try_insert(hash, max_bytes);
        match outcome {
            Ok(()) => stats::ADDED.add(1),
            Err(_) => stats::REFUSED.add(1),
        }
        outcome
    }

    /// As [`insert`](Self::insert), unless the item is in already; answers whether it was added.
    pub(super) fn insert_unique(&mut self, item: &[u8], max_bytes: u64) -> Result<bool, Refused> {
        if self.is_older(item) {
            return Ok(false);
        }
        self.insert_unique_hash(self.hash(item), max_bytes)
    }

    fn insert_unique_hash(&mut self, hash: u64, max_bytes: u64) -> Result<bool, Refused> {
        if self.table().has_copy(hash) {
            return Ok(false);
        }
        self.insert_hash(hash, max_bytes).map(|()| true)
    }

    fn try_insert(&mut self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        self.may_take(hash, max_bytes)?;
        let table = self.table.own();
        let (inserted, bytes) = measure(|| table.insert(hash));
        self.grown_by(bytes);
        inserted.map_err(|_| Refused::Full)
    }

    fn may_take(&self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        if is_full(self.table(), &self.properties, hash) {
            Err(Refused::Full)
        } else if self.bytes() >= max_bytes {
            Err(Refused::AtLimit)
        } else {
            Ok(())
        }
    }

    /// Adds a copy of each item, or of each that is not in already; returns which were added.
    pub(super) fn insert_all(
        &mut self,
        items: &[&[u8]],
        absent_only: bool,
        max_bytes: u64,
    ) -> Vec<Result<bool, Refused>> {
        if absent_only && self.older.is_some() {
            return items.iter().map(|item| self.insert_unique(item, max_bytes)).collect();
        }
        let hashes = &self.hashes(items);
        let mut outcomes = Vec::with_capacity(hashes.len());
        let mut new = [false; BATCH];
        for batch in hashes.chunks(BATCH) {
            let looks_first = absent_only && self.table().expiring().is_some();
            if looks_first || !self.properties.grows() || self.bytes() >= max_bytes {
                // Each of them may be refused, or must not tidy up: see `has_none`.
                outcomes.extend(batch.iter().map(|&hash| match absent_only {
                    true => self.insert_unique_hash(hash, max_bytes),
                    false => self.insert_hash(hash, max_bytes).map(|()| true),
                }));
                continue;
            }
            let new = &mut new[..batch.len()];
            new.fill(true);
            let table = self.table.own();
            let (refused, bytes) = measure(|| match absent_only {
                true => table.insert_all_absent(batch, new).is_err(),
                false => table.insert_all(batch).is_err(),
            });
            debug_assert!(!refused, "one that grows refuses nothing");
            self.grown_by(bytes);
            stats::ADDED.add(new.iter().filter(|&&new| new).count() as u64);
            outcomes.extend(new.iter().map(|&new| Ok(new)));
        }
        outcomes
    }

    /// Whether items expire and this one is not in. Then deleting it would tidy up here, but not on
    /// replicas, who are not told of what changed nothing.
    fn has_none(&self, hash: u64) -> bool {
        self.table().expiring().is_some_and(|filter| !filter.contains_hash(hash))
    }

    /// Deletes a copy of an item; answers whether it was there. Where both parts seem to have it,
    /// one of them may have another item that looks like it, which must not be lost: both stay.
    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        let hash = self.hash(item);
        if self.has_none(hash) {
            return false;
        }
        // With what RedisBloom had no items expire, and time makes no difference.
        if self.is_older(item) && self.table().contains(hash, 0) {
            self.removed(1);
            return true;
        }
        let table = self.table.own();
        let (removed, bytes) = measure(|| table.remove(hash));
        self.grown_by(bytes);
        self.removed(u64::from(removed));
        removed || self.remove_older(item)
    }

    fn remove_older(&mut self, item: &[u8]) -> bool {
        let removed = self.older.as_mut().is_some_and(|older| older.remove(item));
        self.deleted = self.deleted.saturating_add(removed.into());
        self.older.take_if(|older| older.len() == 0);
        removed
    }

    /// Deletes a copy of each item; answers which were there.
    pub(super) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        // Each that is not in must not tidy up: see `has_none`.
        if self.older.is_some() || self.table().expiring().is_some() {
            return items.iter().map(|item| self.remove(item)).collect();
        }
        let hashes = &self.hashes(items);
        let mut removed = vec![false; hashes.len()];
        let table = self.table.own();
        let ((), bytes) = measure(|| table.remove_all(hashes, &mut removed));
        self.grown_by(bytes);
        self.removed(removed.iter().filter(|&&removed| removed).count() as u64);
        removed
    }

    fn removed(&mut self, copies: u64) {
        // A dump may say anything of what was before.
        self.deleted = self.deleted.saturating_add(copies);
        stats::DELETED.add(copies);
    }

    /// A filter of these properties that has all that is in these tables, unless it would take more
    /// than `max_bytes`, of which it looks after each.
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

    /// A filter of these properties with what lives of a table.
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

    /// Gives back what an empty filter grew by, and what RedisBloom had that needs fewer tables.
    pub(super) fn compact(&mut self) {
        if let Some(older) = &mut self.older {
            older.compact();
        }
        // One that never had slots for what it was asked for has nothing to give back: what a dump
        // says of that may be anything.
        let (table, properties) = (self.table.own(), self.properties);
        let Table::Lasting(filter) = table else { return };
        if !filter.is_empty() || 4 * filter.buckets() < properties.capacity {
            return;
        }
        let hasher = filter.hasher();
        let ((), bytes) = measure(|| {
            // Not for one from a file, of which nobody knows what was asked.
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
    /// One of its own memory.
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
