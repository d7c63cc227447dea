//! Items are added and deleted.

use super::super::limits::is_full;
use super::super::stats;
use super::{Large, Refused};
use crate::ledger::measure;

/// Items that are added between two checks of the limit: few, so that it is hardly exceeded, and
/// fewer than the library would sort. So a table does not depend on how items are cut into batches:
/// a replica gets them in other ones than its primary.
const BATCH: usize = 512;

impl Large {
    /// Adds a copy of an item, unless the filter takes `max_bytes` already.
    pub(in crate::value) fn insert(&mut self, item: &[u8], max_bytes: u64) -> Result<(), Refused> {
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

    /// As [`insert`](Self::insert), unless the item is in already; returns whether it was added.
    pub(in crate::value) fn insert_unique(
        &mut self,
        item: &[u8],
        max_bytes: u64,
    ) -> Result<bool, Refused> {
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
    pub(in crate::value) fn insert_all(
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
                // Each of them may be refused, or must not remove expired items: see `has_none`.
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

    /// Whether items expire and this one is not in. Deleting it would then remove expired items
    /// here, but not on replicas, to which commands that change nothing are not sent.
    fn has_none(&self, hash: u64) -> bool {
        self.table().expiring().is_some_and(|filter| !filter.contains_hash(hash))
    }

    /// Deletes a copy of an item; returns whether it was there. Where both parts seem to have it,
    /// one of them may have another item that looks like it, so neither deletes anything.
    pub(in crate::value) fn remove(&mut self, item: &[u8]) -> bool {
        let hash = self.hash(item);
        if self.has_none(hash) {
            return false;
        }
        // Beside RedisBloom's part no items expire, so the time makes no difference.
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

    /// Deletes a copy of each item; returns which were there.
    pub(in crate::value) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        // Deleting an absent item must not remove expired ones: see `has_none`.
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
        // A dump may claim any number of earlier deletions.
        self.deleted = self.deleted.saturating_add(copies);
        stats::DELETED.add(copies);
    }
}
