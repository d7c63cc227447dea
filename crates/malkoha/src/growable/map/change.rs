//! Changing a growable map: pairs in and out, singly and in batches.

use super::GrowableCuckooMap;
use crate::error::{GrowableMapError, GrowableUnionError, GrownOut};
use crate::key::Key;
use crate::layout::Copies;

/// Keys whose lines are asked for ahead of an insert or a removal.
const AHEAD: usize = 24;

impl GrowableCuckooMap {
    /// Adds a value for a key, beside those that it has.
    ///
    /// # Errors
    ///
    /// If the value has more than [`value_bits`](Self::value_bits) bits, or the map has grown as
    /// far as its fingerprints let it. The map then holds what it held.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, value: u64) -> Result<(), GrowableMapError> {
        self.insert_hash(key.hash_with(self.hasher), value)
    }

    /// [`insert`](Self::insert) for a caller that hashes with [`hasher`](Self::hasher) or with a
    /// hash of its own, of which all 64 bits must be well mixed.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64, value: u64) -> Result<(), GrowableMapError> {
        self.check_value(value)?;
        if self.table.insert(hash, value) {
            Ok(())
        } else {
            Err(GrownOut { len: self.len() }.into())
        }
    }

    /// Inserts all pairs of key and value, in their order: faster than one by one in a large map.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert); the pairs before the refused one are in, which `len` tells.
    pub fn insert_many<K: Key>(&mut self, pairs: &[(K, u64)]) -> Result<(), GrowableMapError> {
        let hashed = self.hashed(pairs);
        self.insert_hashes(&hashed)
    }

    /// [`insert_many`](Self::insert_many) for pairs of hash and value.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&mut self, pairs: &[(u64, u64)]) -> Result<(), GrowableMapError> {
        for (i, &(hash, value)) in pairs.iter().enumerate() {
            if let Some(&(later, _)) = pairs.get(i + AHEAD) {
                self.table.prefetch(later);
            }
            self.insert_hash(hash, value)?;
        }
        Ok(())
    }

    /// Replaces `old` by `new` for a key that was inserted with `old`; answers whether it was
    /// found.
    ///
    /// # Errors
    ///
    /// If `new` has more than [`value_bits`](Self::value_bits) bits.
    pub fn update<K: Key + ?Sized>(
        &mut self,
        key: &K,
        old: u64,
        new: u64,
    ) -> Result<bool, GrowableMapError> {
        self.update_hash(key.hash_with(self.hasher), old, new)
    }

    /// [`update`](Self::update) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn update_hash(&mut self, hash: u64, old: u64, new: u64) -> Result<bool, GrowableMapError> {
        self.check_value(new)?;
        Ok(self.table.update(hash, old, new))
    }

    /// Removes a key that was inserted with this value; answers whether it was found. Another key
    /// is hit only if it has both the fingerprint and the value.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K, value: u64) -> bool {
        self.remove_hash(key.hash_with(self.hasher), value)
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    pub fn remove_hash(&mut self, hash: u64, value: u64) -> bool {
        self.table.remove(hash, value)
    }

    /// Removes all pairs of key and value, in their order; answers which were found.
    pub fn remove_many<K: Key>(&mut self, pairs: &[(K, u64)]) -> Vec<bool> {
        let hashed = self.hashed(pairs);
        let mut removed = Vec::with_capacity(pairs.len());
        for (i, &(hash, value)) in hashed.iter().enumerate() {
            if let Some(&(later, _)) = hashed.get(i + AHEAD) {
                self.table.prefetch(later);
            }
            removed.push(self.remove_hash(hash, value));
        }
        removed
    }

    /// Adds all that is in another map; a pair that is in both counts as `copies` says.
    ///
    /// # Errors
    ///
    /// If the maps' seeds differ, or their places do not mean the same, or fingerprints have no bits
    /// left; nothing has changed then.
    pub fn unite(&mut self, other: &Self, copies: Copies) -> Result<(), GrowableUnionError> {
        if self.hasher != other.hasher {
            return Err(GrowableUnionError::Seed);
        }
        self.table = self.table.united(&other.table, copies)?;
        Ok(())
    }

    /// Makes room for so many keys in all, with values up to `value`: they then come in without a
    /// rebuild, at a quarter of the cost. With fewer keys the room stays until
    /// [`shrink_to_fit`](Self::shrink_to_fit).
    ///
    /// # Errors
    ///
    /// If the value has more than [`value_bits`](Self::value_bits) bits, or the system has not so much
    /// memory; nothing has changed then.
    pub fn reserve(&mut self, keys: u64, value: u64) -> Result<(), GrowableMapError> {
        self.check_value(value)?;
        let reserved = self.table.reserve(keys, u64::BITS - value.leading_zeros());
        reserved.map_err(|bytes| GrowableMapError::Memory { bytes })
    }

    /// As [`set_huge_pages`](crate::GrowableCuckooFilter::set_huge_pages) of a filter.
    pub fn set_huge_pages(&mut self, huge: bool) {
        self.table.segments.set_huge_pages(huge);
    }

    /// Removes all keys. Keeps the segments' memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Gives memory back after many removals, without the keys: puts the halves of splits together
    /// again and lets segments shrink until a fifth of their room is free. Takes time in proportion
    /// to the map.
    ///
    /// The segments that it was built with stay, so it does not get much smaller than it began.
    /// Keys that arrived since a split lose a bit when that is undone, which raises the
    /// false-positive rate a little: see [`expected_fpr`](Self::expected_fpr).
    pub fn shrink_to_fit(&mut self) {
        self.table.shrink();
    }

    fn hashed<K: Key>(&self, pairs: &[(K, u64)]) -> Vec<(u64, u64)> {
        pairs.iter().map(|(key, value)| (key.hash_with(self.hasher), *value)).collect()
    }

    fn check_value(&self, value: u64) -> Result<(), GrowableMapError> {
        let bits = self.value_bits();
        if u64::BITS - value.leading_zeros() > bits {
            return Err(GrowableMapError::Value { value, bits });
        }
        Ok(())
    }
}
