//! Changing a growable filter: keys in and out, singly and in batches.

use super::GrowableCuckooFilter;
use crate::error::{GrowableUnionError, GrownOut};
use crate::key::Key;
use crate::layout::Copies;

/// Keys whose lines are asked for ahead of an insert or a removal.
const AHEAD: usize = 24;

impl GrowableCuckooFilter {
    /// Inserts a key, also if it is in already.
    ///
    /// # Errors
    ///
    /// [`GrownOut`] if the filter has grown as far as its fingerprints let it, many times beyond
    /// the growth that it was built for.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), GrownOut> {
        self.insert_hash(key.hash_with(self.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), GrownOut> {
        if self.table.insert(hash, 0) { Ok(()) } else { Err(GrownOut { len: self.len() }) }
    }

    /// Inserts a key unless the filter says that it is in already; answers whether it inserted. The
    /// key will be found in either case, however much the filter grows.
    ///
    /// Not for a filter from which keys are removed, as in
    /// [`CuckooFilter`](crate::CuckooFilter::insert_unique).
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, GrownOut> {
        self.insert_unique_hash(key.hash_with(self.hasher))
    }

    /// [`insert_unique`](Self::insert_unique) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, GrownOut> {
        if self.has_copy_hash(hash) {
            return Ok(false);
        }
        self.insert_hash(hash).map(|()| true)
    }

    /// Inserts all `keys`, faster than one by one in a large filter.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert); the keys before the refused one are in, which `len` tells.
    pub fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<(), GrownOut> {
        let hashes = self.hashes(keys);
        self.insert_hashes(&hashes)
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), GrownOut> {
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                self.table.prefetch(later);
            }
            self.insert_hash(hash)?;
        }
        Ok(())
    }

    /// Removes one copy of a key that was inserted; answers whether its fingerprint was found.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(key.hash_with(self.hasher))
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.table.remove(hash, 0)
    }

    /// Removes one copy of each of `keys`, in their order; answers which were found.
    pub fn remove_many<K: Key>(&mut self, keys: &[K]) -> Vec<bool> {
        let hashes = self.hashes(keys);
        let mut removed = vec![false; keys.len()];
        self.remove_hashes(&hashes, &mut removed);
        removed
    }

    /// [`remove_many`](Self::remove_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "as many answers as hashes");
        for (i, (&hash, removed)) in hashes.iter().zip(removed).enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                self.table.prefetch(later);
            }
            *removed = self.remove_hash(hash);
        }
    }

    /// Adds all that is in another filter, without the keys: copies of a key add up, and each key
    /// counts as often as in both at least. Takes time in proportion to the filter that has fewer
    /// keys, and meanwhile the memory of another.
    ///
    /// Keys keep the bits that they have left, so the false-positive rate is that of both together
    /// at their ages: see [`expected_fpr`](Self::expected_fpr).
    ///
    /// # Errors
    ///
    /// If the filters' seeds or fingerprints differ, if the capacity of `other` is the smaller one
    /// and its segments cannot be told apart here, or if there are too many keys for the
    /// fingerprints, or more copies than 2^63. This filter is then as it was.
    pub fn union_with(&mut self, other: &Self) -> Result<(), GrowableUnionError> {
        if self.hasher != other.hasher {
            return Err(GrowableUnionError::Seed);
        }
        self.table = self.table.united(&other.table, Copies::Sum)?;
        Ok(())
    }

    /// [`union_with`](Self::union_with) in which a key that is in both counts as `copies` says.
    ///
    /// # Errors
    ///
    /// As [`union_with`](Self::union_with).
    pub fn unite(&mut self, other: &Self, copies: Copies) -> Result<(), GrowableUnionError> {
        if self.hasher != other.hasher {
            return Err(GrowableUnionError::Seed);
        }
        self.table = self.table.united(&other.table, copies)?;
        Ok(())
    }

    /// Takes out all that is not in another filter. What is in both stays.
    ///
    /// # Errors
    ///
    /// If the filters' seeds differ, or their places do not mean the same; nothing has changed then.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), GrowableUnionError> {
        if self.hasher != other.hasher {
            return Err(GrowableUnionError::Seed);
        }
        self.table.intersect(&other.table)
    }

    /// Whether memory that it takes from now on shall have huge pages, as it has unless told otherwise.
    /// With them lookups in a large one are faster by a third to a half; without, no insert waits
    /// until the system has cleared two MiB at once, which takes a quarter of a millisecond, and many
    /// times that in a virtual machine whose host has to find them. Does not outlast a file.
    pub fn set_huge_pages(&mut self, huge: bool) {
        self.table.segments.set_huge_pages(huge);
    }

    /// Removes all keys. Keeps the segments' memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Gives memory back after many removals, without the keys: puts the halves of splits together
    /// again and lets segments shrink until a fifth of their room is free. Takes time in proportion
    /// to the filter.
    ///
    /// The segments that it was built with stay, so it does not get much smaller than it began.
    /// Keys that arrived since a split lose a bit when that is undone, which raises the
    /// false-positive rate a little: see [`expected_fpr`](Self::expected_fpr).
    pub fn shrink_to_fit(&mut self) {
        self.table.shrink();
    }
}
