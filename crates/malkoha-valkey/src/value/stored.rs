//! A filter and what belongs to it.

use malkoha::{BuildError, Copies, GrowableCuckooFilter, KeyHasher, ReadError, UnionError};

use super::limits::{is_full, is_overfull};
use super::properties::Properties;
use super::redisbloom::Chain;
use super::stats;
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
    Unlike(UnionError),
}

/// Items that are added between two looks at the limit: few enough that a filter cannot run away.
const BATCH: usize = 1024;

/// A filter, its properties and its place in the statistics.
#[derive(Debug)]
pub(crate) struct StoredFilter {
    filter: GrowableCuckooFilter,
    properties: Properties,
    /// Copies that were deleted in its life.
    deleted: u64,
    /// What its tables take, as the server counts it.
    bytes: u64,
    /// What was in before this filter was made, as RedisBloom had it.
    older: Option<Box<Chain>>,
}

impl StoredFilter {
    /// Of a filter whose tables take so many bytes.
    pub(super) fn of(
        filter: GrowableCuckooFilter,
        properties: Properties,
        deleted: u64,
        bytes: i64,
    ) -> Self {
        stats::FILTERS.add(1);
        let mut stored = Self { filter, properties, deleted, bytes: 0, older: None };
        stored.grown_by(bytes);
        stored
    }

    /// An empty one.
    pub(crate) fn create(properties: Properties, hasher: KeyHasher) -> Result<Self, BuildError> {
        let (filter, bytes) = measure(|| properties.build(hasher));
        Ok(Self::of(filter?, properties, 0, bytes))
    }

    /// That of a file of the library.
    pub(crate) fn open(file: &[u8]) -> Result<Self, ReadError> {
        let (filter, bytes) = measure(|| GrowableCuckooFilter::from_bytes(file));
        let filter = filter?;
        let properties = Properties::of_file(&filter);
        Ok(Self::of(filter, properties, 0, bytes))
    }

    /// The same with what RedisBloom had, if anything is left of it.
    pub(crate) fn beside(mut self, older: Option<Chain>) -> Self {
        self.older = older.filter(|older| older.len() > 0).map(Box::new);
        self
    }

    /// What RedisBloom had.
    pub(crate) fn older(&self) -> Option<&Chain> {
        self.older.as_deref()
    }

    pub(crate) const fn filter(&self) -> &GrowableCuckooFilter {
        &self.filter
    }

    pub(crate) const fn properties(&self) -> &Properties {
        &self.properties
    }

    pub(crate) const fn deleted(&self) -> u64 {
        self.deleted
    }

    /// What its tables take, as the server counts it; itself it lies in a [`Value`](super::Value).
    pub(crate) fn bytes(&self) -> u64 {
        let older =
            self.older.as_ref().map_or(0, |older| older.bytes() + size_of::<Chain>() as u64);
        self.bytes + older
    }

    fn hash(&self, item: &[u8]) -> u64 {
        self.filter.hasher().hash_bytes(item)
    }

    fn hashes(&self, items: &[&[u8]]) -> Vec<u64> {
        items.iter().map(|item| self.hash(item)).collect()
    }

    pub(crate) fn contains(&self, item: &[u8]) -> bool {
        self.filter.contains_hash(self.hash(item)) || self.is_older(item)
    }

    /// Which of the items are in.
    pub(crate) fn contains_all(&self, items: &[&[u8]]) -> Vec<bool> {
        let mut found = vec![false; items.len()];
        self.filter.contains_hashes(&self.hashes(items), &mut found);
        if self.older.is_some() {
            for (found, item) in found.iter_mut().zip(items) {
                *found = *found || self.is_older(item);
            }
        }
        found
    }

    /// How many copies of an item are in.
    pub(crate) fn count(&self, item: &[u8]) -> u64 {
        let older = self.older.as_ref().map_or(0, |older| older.count(item));
        self.filter.count_hash(self.hash(item)) + older
    }

    fn is_older(&self, item: &[u8]) -> bool {
        self.older.as_ref().is_some_and(|older| older.contains(item))
    }

    /// Adds a copy of an item, unless the filter takes `max_bytes` already.
    pub(crate) fn insert(&mut self, item: &[u8], max_bytes: u64) -> Result<(), Refused> {
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
    pub(crate) fn insert_unique(&mut self, item: &[u8], max_bytes: u64) -> Result<bool, Refused> {
        if self.is_older(item) {
            return Ok(false);
        }
        self.insert_unique_hash(self.hash(item), max_bytes)
    }

    fn insert_unique_hash(&mut self, hash: u64, max_bytes: u64) -> Result<bool, Refused> {
        if self.filter.has_copy_hash(hash) {
            return Ok(false);
        }
        self.insert_hash(hash, max_bytes).map(|()| true)
    }

    fn try_insert(&mut self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        self.may_take(hash, max_bytes)?;
        let (inserted, bytes) = measure(|| self.filter.insert_hash(hash));
        self.grown_by(bytes);
        inserted.map_err(|_| Refused::Full)
    }

    fn may_take(&self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        if is_full(&self.filter, &self.properties, hash) {
            Err(Refused::Full)
        } else if self.bytes() >= max_bytes {
            Err(Refused::AtLimit)
        } else {
            Ok(())
        }
    }

    /// Adds a copy of each item, or of each that is not in already; returns which were added.
    pub(crate) fn insert_all(
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
            if !self.properties.grows() || self.bytes() >= max_bytes {
                // Each of them may be refused.
                outcomes.extend(batch.iter().map(|&hash| match absent_only {
                    true => self.insert_unique_hash(hash, max_bytes),
                    false => self.insert_hash(hash, max_bytes).map(|()| true),
                }));
                continue;
            }
            let new = &mut new[..batch.len()];
            new.fill(true);
            let (refused, bytes) = measure(|| match absent_only {
                true => self.filter.insert_unique_hashes(batch, new).is_err(),
                false => self.filter.insert_hashes(batch).is_err(),
            });
            debug_assert!(!refused, "one that grows refuses nothing");
            self.grown_by(bytes);
            stats::ADDED.add(new.iter().filter(|&&new| new).count() as u64);
            outcomes.extend(new.iter().map(|&new| Ok(new)));
        }
        outcomes
    }

    /// Deletes a copy of an item; answers whether it was there. Where both parts seem to have it,
    /// one of them may have another item that looks like it, which must not be lost: both stay.
    pub(crate) fn remove(&mut self, item: &[u8]) -> bool {
        let hash = self.hash(item);
        if self.is_older(item) && self.filter.contains_hash(hash) {
            self.removed(1);
            return true;
        }
        let (removed, bytes) = measure(|| self.filter.remove_hash(hash));
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
    pub(crate) fn remove_all(&mut self, items: &[&[u8]]) -> Vec<bool> {
        if self.older.is_some() {
            return items.iter().map(|item| self.remove(item)).collect();
        }
        let hashes = &self.hashes(items);
        let mut removed = vec![false; hashes.len()];
        let ((), bytes) = measure(|| self.filter.remove_hashes(hashes, &mut removed));
        self.grown_by(bytes);
        self.removed(removed.iter().filter(|&&removed| removed).count() as u64);
        removed
    }

    fn removed(&mut self, copies: u64) {
        // A dump may say anything of what was before.
        self.deleted = self.deleted.saturating_add(copies);
        stats::DELETED.add(copies);
    }

    /// A filter like this one that has all that is in it and in the others, unless it would take
    /// more than `max_bytes`, of which it looks after each.
    pub(crate) fn united(&self, others: &[&Self], max_bytes: u64) -> Result<Self, NotUnited> {
        let (united, bytes) = measure(|| {
            let mut filter = self.filter.clone();
            let mut others = others.iter();
            others.try_for_each(|other| {
                filter.unite(&other.filter, Copies::Sum).map_err(NotUnited::Unlike)?;
                let fits = filter.size_in_bytes() <= max_bytes;
                fits.then_some(()).ok_or(NotUnited::TooLarge)
            })?;
            Ok(filter)
        });
        let united = Self::of(united?, self.properties, self.deleted, bytes);
        stats::ADDED.add(others.iter().map(|other| other.filter.len()).sum());
        Ok(united)
    }

    /// Whether it holds more than it may.
    pub(crate) fn is_overfull(&self) -> bool {
        is_overfull(&self.filter, &self.properties)
    }

    /// Gives back what an empty filter grew by, and what RedisBloom had that needs fewer tables.
    pub(crate) fn compact(&mut self) {
        if let Some(older) = &mut self.older {
            older.compact();
        }
        // One that never had slots for what it was asked for has nothing to give back: what a dump
        // says of that may be anything.
        if !self.filter.is_empty() || 4 * self.filter.buckets() < self.properties.capacity {
            return;
        }
        let ((), bytes) = measure(|| {
            // Not for one from a file, of which nobody knows what was asked.
            if let Ok(fresh) = self.properties.build(self.filter.hasher()) {
                self.filter = fresh;
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

impl Clone for StoredFilter {
    fn clone(&self) -> Self {
        let (filter, bytes) = measure(|| self.filter.clone());
        Self::of(filter, self.properties, self.deleted, bytes).beside(self.older().cloned())
    }
}

impl Drop for StoredFilter {
    fn drop(&mut self) {
        stats::FILTERS.subtract(1);
        stats::BYTES.subtract(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_unless_it_is_in_stays_in() {
        let properties = Properties {
            capacity: 4,
            error_rate: 0.2,
            growth: 1e4,
            bucket_size: 2,
            max_iterations: 20,
            expansion: 1,
        };
        let mut stored = StoredFilter::create(properties, KeyHasher::new(0)).unwrap();
        let items: Vec<[u8; 4]> = (0..20_000_u32).map(u32::to_le_bytes).collect();
        for item in &items {
            stored.insert_unique(item, u64::MAX).unwrap();
        }
        let lost = items.iter().filter(|item| !stored.contains(*item)).count();
        assert_eq!(lost, 0);
    }
}
