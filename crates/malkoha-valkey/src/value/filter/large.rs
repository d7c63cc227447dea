//! A filter that has a table, and its accounts.

use std::sync::Arc;
use std::time::Instant;

use malkoha::GrowableExpiringCuckooFilter;

use super::super::properties::Properties;
use super::super::redisbloom::Chain;
use super::super::stats::{self, measure};
use super::super::table::Table;
use super::Refused;

/// Items that are added between two checks of the limit: few, so that it is hardly exceeded, and
/// fewer than the library would sort. So a table does not depend on how items are cut into batches:
/// a replica gets them in other ones than its primary.
const BATCH: usize = 512;

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

    /// Whether it must not grow, and its slots hold this many items.
    pub(super) fn holds(&self, items: u64) -> bool {
        !self.properties.grows() && self.table().counted() >= items
    }

    /// As [`StoredFilter::insert`](super::StoredFilter::insert).
    pub(super) fn insert(
        &mut self,
        item: &[u8],
        absent_only: bool,
        max_bytes: u64,
    ) -> Result<bool, Refused> {
        if absent_only && self.is_older(item) {
            return Ok(false);
        }
        self.insert_hash(self.hash(item), absent_only, max_bytes)
    }

    fn insert_hash(
        &mut self,
        hash: u64,
        absent_only: bool,
        max_bytes: u64,
    ) -> Result<bool, Refused> {
        if absent_only && self.table().has_copy(hash) {
            return Ok(false);
        }
        let outcome = self
            .may_take(hash, max_bytes)
            .and_then(|()| self.change(|table| table.insert(hash)).map_err(|_| Refused::Full));
        let counter = if outcome.is_ok() { &stats::ADDED } else { &stats::REFUSED };
        counter.add(1);
        outcome.map(|()| true)
    }

    fn may_take(&self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        // Further copies of an item that is in twice take no slot, nor does an item that is added
        // again before it expires.
        if self.holds(self.properties.capacity) && !self.table().has_slot_for(hash) {
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
            return items.iter().map(|item| self.insert(item, true, max_bytes)).collect();
        }
        let hashes = &self.hashes(items);
        let mut outcomes = Vec::with_capacity(hashes.len());
        let mut new = [false; BATCH];
        for batch in hashes.chunks(BATCH) {
            let looks_first = absent_only && self.table().expiring().is_some();
            if looks_first || !self.properties.grows() || self.bytes() >= max_bytes {
                // Each of them can be refused, or must not remove expired items: see `has_none`.
                let insert = |&hash: &u64| self.insert_hash(hash, absent_only, max_bytes);
                outcomes.extend(batch.iter().map(insert));
                continue;
            }
            let new = &mut new[..batch.len()];
            new.fill(true);
            let refused = self.change(|table| match absent_only {
                true => table.insert_all_absent(batch, new).is_err(),
                false => table.insert_all(batch).is_err(),
            });
            debug_assert!(!refused, "one that grows refuses nothing");
            stats::ADDED.add(new.iter().filter(|&&new| new).count() as u64);
            outcomes.extend(new.iter().map(|&new| Ok(new)));
        }
        outcomes
    }

    /// Whether items expire and this one is not in. Deleting it would then remove expired items
    /// here, but not on replicas, to which commands that change nothing are not sent.
    fn has_none(&self, hash: u64) -> bool {
        self.table().expiring().is_some_and(|filter| !filter.contains_hash(hash))
    }

    /// Deletes a copy of an item; returns whether it was there. Where both parts seem to have it,
    /// one of them may have another item that looks like it, so neither deletes anything.
    pub(super) fn remove(&mut self, item: &[u8]) -> bool {
        let hash = self.hash(item);
        if self.has_none(hash) {
            return false;
        }
        // With RedisBloom's part no items expire, so the time makes no difference.
        if self.is_older(item) && self.table().contains(hash, 0) {
            self.removed(1);
            return true;
        }
        let removed = self.change(|table| table.remove(hash));
        self.removed(u64::from(removed));
        removed || self.remove_older(item)
    }

    fn remove_older(&mut self, item: &[u8]) -> bool {
        let removed = self.older.as_mut().is_some_and(|older| older.remove(item));
        self.deleted = self.deleted.saturating_add(removed.into());
        self.older.take_if(|older| older.len() == 0);
        removed
    }

    /// Deletes a copy of each item; returns which were there.
    pub(super) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        // Deleting an absent item must not remove expired ones: see `has_none`.
        if self.older.is_some() || self.table().expiring().is_some() {
            return items.iter().map(|item| self.remove(item)).collect();
        }
        let hashes = &self.hashes(items);
        let mut removed = vec![false; hashes.len()];
        self.change(|table| table.remove_all(hashes, &mut removed));
        self.removed(removed.iter().filter(|&&removed| removed).count() as u64);
        removed
    }

    fn removed(&mut self, copies: u64) {
        // A dump may claim any number of earlier deletions.
        self.deleted = self.deleted.saturating_add(copies);
        stats::DELETED.add(copies);
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        stats::FILTERS.subtract(1);
        stats::BYTES.subtract(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use malkoha::KeyHasher;

    use super::super::StoredFilter;
    use crate::value::small::tests::PROPERTIES;

    /// A replica gets the items of a long command in pieces, and its primary added them in smaller
    /// ones. Where a piece had 1024 items, it sorted them, and had them in other slots.
    #[test]
    fn a_table_does_not_depend_on_how_items_are_cut() {
        let items: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_le_bytes).collect();
        let items: Vec<&[u8]> = items.iter().map(<[u8; 4]>::as_slice).collect();
        let filled = |pieces: usize, absent_only| {
            let mut stored = StoredFilter::create(PROPERTIES, None, KeyHasher::sip13(1)).unwrap();
            for piece in items.chunks(pieces) {
                stored.insert_all(piece, absent_only, u64::MAX);
            }
            stored.table().to_bytes()
        };
        for absent_only in [false, true] {
            let small = filled(64, absent_only);
            for pieces in [512, 1024, 2048, items.len()] {
                assert!(filled(pieces, absent_only) == small, "{pieces} items at a time");
            }
        }
    }
}
