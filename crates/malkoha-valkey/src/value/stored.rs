//! A filter and what belongs to it.

use malkoha::{BuildError, Copies, GrowableCuckooFilter, KeyHasher, UnionError};

use super::limits::{interval, is_full, is_overfull};
use super::properties::Properties;
use super::stats;

/// Why an item was not added. The filter is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It must not grow, and holds its capacity.
    Full,
    /// It has grown as far as it may or can.
    GrownOut,
}

/// A filter, its properties and its place in the statistics.
#[derive(Debug)]
pub(crate) struct StoredFilter {
    filter: GrowableCuckooFilter,
    properties: Properties,
    /// Copies that were deleted in its life.
    deleted: u64,
    /// Its size when last looked at.
    bytes: u64,
    /// Additions until the next look.
    patience: u64,
}

impl StoredFilter {
    pub(crate) fn new(filter: GrowableCuckooFilter, properties: Properties, deleted: u64) -> Self {
        stats::FILTERS.add(1);
        let mut stored = Self { filter, properties, deleted, bytes: 0, patience: 0 };
        stored.look();
        stored
    }

    /// An empty one.
    pub(crate) fn create(properties: Properties, hasher: KeyHasher) -> Result<Self, BuildError> {
        properties.build(hasher).map(|filter| Self::new(filter, properties, 0))
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

    pub(crate) fn size_in_bytes(&self) -> u64 {
        self.filter.size_in_bytes() + size_of::<Self>() as u64
    }

    pub(crate) fn hash(&self, item: &[u8]) -> u64 {
        self.filter.hasher().hash_bytes(item)
    }

    pub(crate) fn hashes<'a>(&self, items: impl Iterator<Item = &'a [u8]>) -> Vec<u64> {
        items.map(|item| self.hash(item)).collect()
    }

    /// Adds a copy of an item, unless the filter takes `max_bytes` already.
    pub(crate) fn insert(&mut self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        let outcome = self.try_insert(hash, max_bytes);
        match outcome {
            Ok(()) => stats::ADDED.add(1),
            Err(_) => stats::REFUSED.add(1),
        }
        outcome
    }

    /// As [`insert`](Self::insert), unless the item is in already; answers whether it was added.
    pub(crate) fn insert_unique(&mut self, hash: u64, max_bytes: u64) -> Result<bool, Refused> {
        if self.filter.has_copy_hash(hash) {
            return Ok(false);
        }
        self.insert(hash, max_bytes).map(|()| true)
    }

    fn try_insert(&mut self, hash: u64, max_bytes: u64) -> Result<(), Refused> {
        if is_full(&self.filter, &self.properties, hash) {
            return Err(Refused::Full);
        }
        if self.patience == 0 {
            self.look();
        }
        if self.bytes >= max_bytes {
            return Err(Refused::GrownOut);
        }
        self.patience -= 1;
        self.filter.insert_hash(hash).map_err(|_| Refused::GrownOut)
    }

    /// Adds a copy of each item; answers which were added.
    pub(crate) fn insert_all(
        &mut self,
        hashes: &[u64],
        max_bytes: u64,
    ) -> Vec<Result<(), Refused>> {
        let mut outcomes = Vec::with_capacity(hashes.len());
        while outcomes.len() < hashes.len() {
            let rest = &hashes[outcomes.len()..];
            if self.properties.grows() && self.patience > 0 && self.bytes < max_bytes {
                let patience = usize::try_from(self.patience).unwrap_or(usize::MAX);
                let batch = &rest[..rest.len().min(patience)];
                let refused = self.filter.insert_hashes(batch).err().map(|error| error.refused);
                let refused = refused.unwrap_or_default();
                let added = (batch.len() - refused.len()) as u64;
                self.patience -= added;
                stats::ADDED.add(added);
                stats::REFUSED.add(refused.len() as u64);
                let start = outcomes.len();
                outcomes.resize(start + batch.len(), Ok(()));
                for position in refused {
                    outcomes[start + position] = Err(Refused::GrownOut);
                }
            }
            if let Some(&hash) = hashes.get(outcomes.len()) {
                outcomes.push(self.insert(hash, max_bytes));
            }
        }
        outcomes
    }

    /// Deletes a copy of an item; answers whether it was there.
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        let removed = self.filter.remove_hash(hash);
        self.removed(u64::from(removed));
        removed
    }

    /// Deletes a copy of each item; answers which were there.
    pub(crate) fn remove_all(&mut self, hashes: &[u64]) -> Vec<bool> {
        let mut removed = vec![false; hashes.len()];
        self.filter.remove_hashes(hashes, &mut removed);
        self.removed(removed.iter().filter(|&&removed| removed).count() as u64);
        removed
    }

    fn removed(&mut self, copies: u64) {
        // A dump may say anything of what was before.
        self.deleted = self.deleted.saturating_add(copies);
        stats::DELETED.add(copies);
    }

    /// A filter like this one that has all that is in it and in the others.
    pub(crate) fn united(&self, others: &[&Self]) -> Result<Self, UnionError> {
        let mut filter = self.filter.clone();
        for other in others {
            filter.unite(&other.filter, Copies::Sum)?;
        }
        stats::ADDED.add(others.iter().map(|other| other.filter.len()).sum());
        Ok(Self::new(filter, self.properties, self.deleted))
    }

    /// Whether it holds more than it may.
    pub(crate) fn is_overfull(&self) -> bool {
        is_overfull(&self.filter, &self.properties)
    }

    /// Gives back what an empty filter grew by.
    pub(crate) fn compact(&mut self) {
        // One that never had slots for what it was asked for has nothing to give back: what a dump
        // says of that may be anything.
        if !self.filter.is_empty() || 4 * self.filter.buckets() < self.properties.capacity {
            return;
        }
        // Not for one from a file, of which nobody knows what was asked.
        if let Ok(fresh) = self.properties.build(self.filter.hasher()) {
            self.filter = fresh;
            self.look();
        }
    }

    /// Looks at the filter's size.
    fn look(&mut self) {
        let bytes = self.size_in_bytes();
        stats::BYTES.add(bytes);
        stats::BYTES.subtract(self.bytes);
        (self.bytes, self.patience) = (bytes, interval(&self.filter));
    }
}

impl Clone for StoredFilter {
    fn clone(&self) -> Self {
        Self::new(self.filter.clone(), self.properties, self.deleted)
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
        let hashes: Vec<u64> = (0..20_000_u32).map(|n| stored.hash(&n.to_le_bytes())).collect();
        for &hash in &hashes {
            stored.insert_unique(hash, u64::MAX).unwrap();
        }
        let lost = hashes.iter().filter(|&&hash| !stored.filter().contains_hash(hash)).count();
        assert_eq!(lost, 0);
    }
}
