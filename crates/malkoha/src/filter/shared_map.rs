//! Changing a map that threads share.

use super::{Filter, GrowableConcurrentCuckooMap, GrowableCuckooMap, all_but, hashed, pair_chunks};
use crate::builder::Builder;
use crate::error::{BatchError, BuildError, InsertError};
use crate::key::{Key, hash_one};
use crate::table::traits::Lookup;

impl GrowableConcurrentCuckooMap {
    /// A map for `capacity` keys at first with values of at most `value_bits` bits (0 to 64), in
    /// which a key that was not inserted has on average at most `fpr` candidates, whatever it grows
    /// to.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).value_bits(value_bits).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }

    /// Makes room for this many keys in all, with values up to `value`, as
    /// [`GrowableCuckooMap::reserve`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn reserve(&self, keys: u64, value: u64) -> Result<(), InsertError> {
        self.check_shared(value)?;
        let reserved = self.table.reserve(keys, u64::BITS - value.leading_zeros());
        reserved.map_err(|bytes| InsertError::Memory { bytes })
    }

    /// A map for one owner with all that is in. What a thread changes meanwhile is in it or not.
    /// Takes time in proportion to the map.
    #[must_use]
    pub fn to_map(&self) -> GrowableCuckooMap {
        Filter::new(self.table.to_one(), self.hasher)
    }

    /// Inserts a pair, also if it is in already.
    ///
    /// # Errors
    ///
    /// [`InsertError::Value`] if the value has too many bits.
    pub fn insert<K: Key>(&self, key: K, value: u64) -> Result<(), InsertError> {
        self.insert_hash(hash_one(self.hasher, key), value)
    }

    /// [`insert`](Self::insert) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&self, hash: u64, value: u64) -> Result<(), InsertError> {
        self.check_shared(value)?;
        self.table.insert_value(hash, value)
    }

    /// Inserts all pairs whose values fit. Takes each lock once for every 16,384 pairs.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert), with the positions of what was refused.
    pub fn insert_many<K: Key>(&self, pairs: &[(K, u64)]) -> Result<(), BatchError> {
        self.insert_hashes(&hashed(self.hasher, pairs))
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&self, pairs: &[(u64, u64)]) -> Result<(), BatchError> {
        let (mut refused, mut why) = (Vec::new(), None);
        let mut fitting = Vec::with_capacity(pairs.len());
        for (i, &(hash, value)) in pairs.iter().enumerate() {
            match self.check_shared(value) {
                Ok(()) => fitting.push((i, hash)),
                Err(error) => {
                    why = why.or(Some(error));
                    refused.push(i);
                }
            }
        }
        let hashes: Vec<u64> = fitting.iter().map(|&(_, hash)| hash).collect();
        let value = |i: usize| pairs[fitting[i].0].1;
        self.table.insert_values(&hashes, value, |i| refused.push(fitting[i].0));
        all_but(refused, || why.unwrap_or_else(|| self.table.refusal()))
    }

    /// Replaces one value of a key by another; returns whether it was found.
    ///
    /// # Errors
    ///
    /// [`InsertError::Value`] if the new value has too many bits.
    pub fn update<K: Key>(&self, key: K, old: u64, new: u64) -> Result<bool, InsertError> {
        self.update_hash(hash_one(self.hasher, key), old, new)
    }

    /// [`update`](Self::update) for a hash.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn update_hash(&self, hash: u64, old: u64, new: u64) -> Result<bool, InsertError> {
        self.check_shared(new)?;
        Ok(self.table.update(hash, old, new))
    }

    /// Removes one copy of a pair; returns whether it was found. Remove only what was inserted: see
    /// [`CuckooFilter`](super::CuckooFilter#removing-keys-that-were-never-inserted).
    pub fn remove<K: Key>(&self, key: K, value: u64) -> bool {
        self.remove_hash(hash_one(self.hasher, key), value)
    }

    /// [`remove`](Self::remove) for a hash.
    pub fn remove_hash(&self, hash: u64, value: u64) -> bool {
        self.table.remove_value(hash, value)
    }

    /// Removes many pairs; returns for each whether it was found.
    pub fn remove_many<K: Key>(&self, pairs: &[(K, u64)]) -> Vec<bool> {
        let hashed = hashed(self.hasher, pairs);
        let mut removed = vec![false; pairs.len()];
        pair_chunks(&hashed, |start, hashes, pairs| {
            let done = |i, found| removed[start + i] = found;
            self.table.remove_values(hashes, |i| pairs[i].1, done);
        });
        removed
    }

    /// Removes all pairs, one partition after another.
    pub fn clear(&self) {
        self.table.clear();
    }

    fn check_shared(&self, value: u64) -> Result<(), InsertError> {
        let bits = self.table.value_bits();
        let fits = u64::BITS - value.leading_zeros() <= bits;
        if fits { Ok(()) } else { Err(InsertError::Value { value, bits }) }
    }
}
