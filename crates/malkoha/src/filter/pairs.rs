//! Maps: pairs of key and value in and out. A map is changed with `&mut self` if it has one owner,
//! with `&self` if threads share it.

use alloc::vec;
use alloc::vec::Vec;

use super::{Content, Filter, Values, all_but};
use crate::error::{BatchError, InsertError};
use crate::key::{Key, KeyHasher, hash_chunks};
#[cfg(feature = "std")]
use crate::partitioned::Partitioned;
use crate::table::traits::{Candidates, Change, Lookup, Sole};

impl<T: Candidates> Filter<T, Values> {
    /// The candidate values of a key. A value that was inserted several times comes once for each
    /// slot that it has, twice usually, and again if further copies are spilled:
    /// [`count_value`](Self::count_value) tells how many there are.
    #[inline]
    pub fn get<K: Key>(&self, key: K) -> impl Iterator<Item = u64> + use<'_, K, T> {
        self.get_hash(self.hasher().hash_key(key))
    }

    /// [`get`](Self::get) for a hash.
    #[inline]
    pub fn get_hash(&self, hash: u64) -> impl Iterator<Item = u64> {
        self.table.candidates(hash).map(|(value, _)| value)
    }

    /// The different candidate values of a key, ascending, each with its number of copies.
    pub fn values<K: Key>(&self, key: K) -> Vec<(u64, u64)> {
        let mut values: Vec<(u64, u64)> =
            self.table.candidates(self.hasher().hash_key(key)).collect();
        values.sort_unstable();
        values.dedup_by(|later, first| {
            let same = later.0 == first.0;
            first.1 = if same { first.1.saturating_add(later.1) } else { first.1 };
            same
        });
        values
    }

    /// Calls `each` with the candidate values of a hash and the number of copies of each:
    /// [`get_hash`](Self::get_hash) in half the instructions.
    #[inline]
    pub fn for_each_candidate(&self, hash: u64, each: impl FnMut(u64, u64)) {
        self.table.for_each_candidate(hash, each);
    }

    /// The candidate of a hash, if there is at most one. Most keys have one candidate or none. In a
    /// map that grows, this takes three quarters of the instructions of
    /// [`for_each_candidate`](Self::for_each_candidate).
    ///
    /// ```
    /// use malkoha::{GrowableCuckooMap, Sole};
    ///
    /// let mut map = GrowableCuckooMap::with_capacity(10, 0.001, 8)?;
    /// assert_eq!(map.sole_candidate(7), Sole::Absent);
    /// map.insert_hash(7, 3)?;
    /// assert_eq!(map.sole_candidate(7), Sole::Value(3));
    /// map.insert_hash(7, 4)?;
    /// assert_eq!(map.sole_candidate(7), Sole::Several);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn sole_candidate(&self, hash: u64) -> Sole {
        self.table.sole_candidate(hash)
    }

    /// [`sole_candidate`](Self::sole_candidate) of many hashes: an answer for each in `found`.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn sole_candidates(&self, hashes: &[u64], found: &mut [Sole]) {
        self.table.sole_candidates(hashes, found);
    }

    /// Looks up all `keys` at once: calls `each(position of the key, candidate value)`.
    pub fn get_many<K: Key>(&self, keys: &[K], mut each: impl FnMut(usize, u64)) {
        hash_chunks(self.hasher(), keys, T::AT_ONCE, |start, hashes| {
            self.table.candidates_batch(hashes, |i, value, _| each(start + i, value));
        });
    }

    /// [`get_many`](Self::get_many) for hashes.
    pub fn get_hashes(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        self.table.candidates_batch(hashes, |i, value, _| each(i, value));
    }

    /// How many copies of a pair of key and value are in: never too few.
    #[must_use]
    pub fn count_value<K: Key>(&self, key: K, value: u64) -> u64 {
        self.table.count_value(self.hasher().hash_key(key), value)
    }
}

impl<T: Lookup, C: Content> Filter<T, C> {
    /// Bits of a value, at most; 0 in a set.
    #[must_use]
    pub fn value_bits(&self) -> u32 {
        self.table.value_bits()
    }

    #[inline]
    fn fits(&self, value: u64) -> bool {
        u64::BITS - value.leading_zeros() <= self.table.value_bits()
    }

    #[inline]
    pub(super) fn check(&self, value: u64) -> Result<(), InsertError> {
        if self.fits(value) {
            Ok(())
        } else {
            Err(InsertError::Value { value, bits: self.table.value_bits() })
        }
    }
}

/// The methods of each table, which has the functions of [`Change`].
macro_rules! maps {
    ($([$($parameters:tt)*] $table:ty $(, $mut:ident)?;)*) => {$(
impl<$($parameters)*> Filter<$table, Values> {
    /// Adds a value for a key, in addition to those that it has.
    ///
    /// # Errors
    ///
    /// If the value has more than [`value_bits`](Self::value_bits) bits, or no place was found for
    /// a new key. The map then holds what it held.
    #[inline]
    pub fn insert<K: Key>(&$($mut)? self, key: K, value: u64) -> Result<(), InsertError> {
        self.insert_hash(self.hasher().hash_key(key), value)
    }

    /// [`insert`](Self::insert) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&$($mut)? self, hash: u64, value: u64) -> Result<(), InsertError> {
        self.check(value)?;
        self.table.insert(hash, value)
    }

    /// Inserts all pairs of key and value, in their order.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in.
    pub fn insert_many<K: Key>(&$($mut)? self, pairs: &[(K, u64)]) -> Result<(), BatchError> {
        let hashed = hashed(self.hasher(), pairs);
        self.insert_hashes(&hashed)
    }

    /// [`insert_many`](Self::insert_many) for pairs of hash and value.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&$($mut)? self, pairs: &[(u64, u64)]) -> Result<(), BatchError> {
        let (mut refused, mut too_large) = (Vec::new(), None);
        pair_chunks(pairs, <$table>::AT_ONCE, |start, hashes, values| {
            if values.iter().all(|&value| self.fits(value)) {
                let part = self.table.insert_batch(hashes, values);
                return refused.extend(part.into_iter().map(|i| start + i));
            }
            for (i, (&hash, &value)) in hashes.iter().zip(values).enumerate() {
                if let Err(error) = self.insert_hash(hash, value) {
                    too_large = too_large.or(refused.is_empty().then_some(error));
                    refused.push(start + i);
                }
            }
        });
        all_but(refused, || too_large.unwrap_or_else(|| self.table.refusal()))
    }

    /// Replaces `old` by `new` for a key that was inserted with `old`; returns whether it was
    /// found.
    ///
    /// # Errors
    ///
    /// If `new` has more than [`value_bits`](Self::value_bits) bits.
    pub fn update<K: Key>(&$($mut)? self, key: K, old: u64, new: u64) -> Result<bool, InsertError> {
        self.update_hash(self.hasher().hash_key(key), old, new)
    }

    /// [`update`](Self::update) for a hash.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn update_hash(&$($mut)? self, hash: u64, old: u64, new: u64) -> Result<bool, InsertError> {
        self.check(new)?;
        Ok(self.table.update(hash, old, new))
    }

    /// Removes one copy of a key that was inserted with this value; returns whether it was found.
    /// Another key is hit only if it has both the fingerprint and the value.
    pub fn remove<K: Key>(&$($mut)? self, key: K, value: u64) -> bool {
        self.remove_hash(self.hasher().hash_key(key), value)
    }

    /// [`remove`](Self::remove) for a hash.
    pub fn remove_hash(&$($mut)? self, hash: u64, value: u64) -> bool {
        self.table.remove(hash, value)
    }

    /// Removes all pairs of key and value, in their order; returns which were found.
    pub fn remove_many<K: Key>(&$($mut)? self, pairs: &[(K, u64)]) -> Vec<bool> {
        let hashed = hashed(self.hasher(), pairs);
        let mut removed = vec![false; pairs.len()];
        pair_chunks(&hashed, <$table>::AT_ONCE, |start, hashes, values| {
            self.table.remove_batch(hashes, values, &mut removed[start..][..hashes.len()]);
        });
        removed
    }
}
    )*};
}

maps!([T: Change] T, mut;);
#[cfg(feature = "std")]
maps!([] Partitioned;);

/// The pairs with the hashes of their keys.
fn hashed<K: Key>(hasher: KeyHasher, pairs: &[(K, u64)]) -> Vec<(u64, u64)> {
    pairs.iter().map(|(key, value)| (hasher.hash_key(key), *value)).collect()
}

/// [`hash_chunks`] for pairs whose hashes are known: calls `each(position of the first, hashes,
/// values)`.
fn pair_chunks(pairs: &[(u64, u64)], at_once: usize, mut each: impl FnMut(usize, &[u64], &[u64])) {
    let (mut hashes, mut values) = (Vec::new(), Vec::new());
    for (chunk, pairs) in pairs.chunks(at_once).enumerate() {
        hashes.clear();
        values.clear();
        hashes.extend(pairs.iter().map(|pair| pair.0));
        values.extend(pairs.iter().map(|pair| pair.1));
        each(chunk * at_once, &hashes, &values);
    }
}
