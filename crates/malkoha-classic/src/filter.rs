//! The interface that all filters of this crate share.

use std::fmt::Debug;

use malkoha::{Key, KeyHasher};

use crate::error::{BatchFull, BuildError, Full};
use crate::words::{PREFETCH_DISTANCE, float};

/// Keys that are hashed at a time, so that a batch of any length needs no memory of its own.
const CHUNK: usize = 1024;

/// The part that all filters have. Only this crate can make one, which seals [`Filter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    pub(crate) hasher: KeyHasher,
    pub(crate) capacity: u64,
    pub(crate) len: u64,
}

impl Base {
    pub(crate) const fn new(hasher: KeyHasher, capacity: u64) -> Self {
        Self { hasher, capacity, len: 0 }
    }

    pub(crate) const fn full(&self) -> Full {
        Full { len: self.len, capacity: self.capacity }
    }
}

/// An approximate set: "was this key inserted?".
///
/// **No** is always right; **yes** is wrong with a small probability, the false-positive rate.
///
/// Methods that end in `_hash` or `_hashes` are for callers that hash with
/// [`hasher`](Self::hasher), or with a hash of their own of which all 64 bits are well mixed.
pub trait Filter: Clone + Debug + PartialEq + Sized {
    /// A filter for `capacity` keys (1 to 2^36) with at most this false-positive rate when they
    /// are in.
    ///
    /// # Errors
    ///
    /// If an argument is out of range, the structure cannot reach the rate, or there is not enough
    /// memory.
    fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::with_capacity_and_hasher(capacity, fpr, KeyHasher::new(0))
    }

    /// [`with_capacity`](Self::with_capacity) with a hasher of your own, for example
    /// [`KeyHasher::random`] for keys that an attacker may choose.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError>;

    #[doc(hidden)]
    fn base(&self) -> &Base;

    /// Inserts the key with this hash, even if it is in already.
    ///
    /// # Errors
    ///
    /// [`Full`] if no slot is free; the filter is then unchanged. Bloom filters are never full.
    fn insert_hash(&mut self, hash: u64) -> Result<(), Full>;

    /// Whether the key with this hash was inserted.
    #[must_use]
    fn contains_hash(&self, hash: u64) -> bool;

    /// Asks for the memory that a lookup of this hash will probably touch. A hint.
    fn prefetch_hash(&self, hash: u64);

    /// Asks for the memory that an insert or a removal of this hash will touch. A hint.
    #[inline]
    fn prefetch_update_hash(&self, hash: u64) {
        self.prefetch_hash(hash);
    }

    /// The hash that this filter uses.
    #[inline]
    #[must_use]
    fn hasher(&self) -> KeyHasher {
        self.base().hasher
    }

    /// Keys that were inserted and not removed, copies included.
    #[inline]
    #[must_use]
    fn len(&self) -> u64 {
        self.base().len
    }

    /// The number of keys the filter was built for.
    #[inline]
    #[must_use]
    fn capacity(&self) -> u64 {
        self.base().capacity
    }

    /// How full the filter is: occupied slots over all slots. Bloom filters, which have no slots,
    /// give `len / capacity`.
    #[must_use]
    fn load_factor(&self) -> f64 {
        float(self.len()) / float(self.capacity())
    }

    /// The false-positive rate with the keys that are in now: the probability that a lookup of an
    /// absent key returns `true`.
    #[must_use]
    fn expected_fpr(&self) -> f64;

    /// Bytes of the table.
    #[must_use]
    fn size_in_bytes(&self) -> u64;

    /// Removes all keys. Keeps the table's memory.
    fn clear(&mut self);

    /// Whether no key is in.
    #[must_use]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of the table for each key in it now; infinite for an empty filter.
    #[must_use]
    fn bits_per_key(&self) -> f64 {
        float(self.size_in_bytes()) * 8.0 / float(self.len())
    }

    /// Inserts a key, even if it is in already.
    ///
    /// # Errors
    ///
    /// As [`insert_hash`](Self::insert_hash).
    #[inline]
    fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Full> {
        self.insert_hash(key.hash_with(self.hasher()))
    }

    /// Whether the key was inserted; wrong with probability [`expected_fpr`](Self::expected_fpr)
    /// for a key that was not, and never for one that was.
    #[inline]
    #[must_use]
    fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(key.hash_with(self.hasher()))
    }

    /// Looks up all hashes, in their order; the cache misses of neighbours overlap.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline]
    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        start(hashes, |hash| self.prefetch_hash(hash));
        for (i, (&hash, found)) in hashes.iter().zip(found).enumerate() {
            if let Some(&ahead) = hashes.get(i + PREFETCH_DISTANCE) {
                self.prefetch_hash(ahead);
            }
            *found = self.contains_hash(hash);
        }
    }

    /// Inserts all hashes, in their order.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all the others are in.
    #[inline]
    fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        start(hashes, |hash| self.prefetch_update_hash(hash));
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&ahead) = hashes.get(i + PREFETCH_DISTANCE) {
                self.prefetch_update_hash(ahead);
            }
            if self.insert_hash(hash).is_err() {
                refused.push(i);
            }
        }
        all_but(self, refused)
    }

    /// Looks up all keys, in their order: much faster than one by one in a large filter.
    #[must_use]
    fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = vec![false; keys.len()];
        hash_chunks(self.hasher(), keys, |start, hashes| {
            self.contains_hashes(hashes, &mut found[start..][..hashes.len()]);
        });
        found
    }

    /// Inserts all keys, in their order.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all the others are in.
    fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        hash_chunks(self.hasher(), keys, |start, hashes| {
            if let Err(batch) = self.insert_hashes(hashes) {
                refused.extend(batch.refused.iter().map(|i| start + i));
            }
        });
        all_but(self, refused)
    }
}

/// A filter from which keys can be removed, and that counts the copies of a key.
///
/// # Removing keys that were never inserted
///
/// A filter does not store the keys. Removing a key that was **not** inserted removes, with the
/// probability of a false positive, what belongs to other keys: lookups of these may then return
/// a wrong **no**. Remove only what you know you have inserted (paper, section 3.3).
pub trait RemovableFilter: Filter {
    /// Removes one copy of the key with this hash; returns whether it was found.
    fn remove_hash(&mut self, hash: u64) -> bool;

    /// How many copies of the key with this hash are in. Never too low, except beyond the limit
    /// that a structure documents; a false positive adds to it.
    #[must_use]
    fn count_hash(&self, hash: u64) -> u64;

    /// Removes one copy of a key that was inserted; returns whether it was found.
    #[inline]
    fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(key.hash_with(self.hasher()))
    }

    /// How many copies of the key are in, as [`count_hash`](Self::count_hash).
    #[inline]
    #[must_use]
    fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(key.hash_with(self.hasher()))
    }

    /// Removes one copy of each hash, in their order.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    #[inline]
    fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "one answer for each hash");
        start(hashes, |hash| self.prefetch_update_hash(hash));
        for (i, (&hash, removed)) in hashes.iter().zip(removed).enumerate() {
            if let Some(&ahead) = hashes.get(i + PREFETCH_DISTANCE) {
                self.prefetch_update_hash(ahead);
            }
            *removed = self.remove_hash(hash);
        }
    }

    /// Removes one copy of each key, in their order; returns which were found.
    fn remove_many<K: Key>(&mut self, keys: &[K]) -> Vec<bool> {
        let mut removed = vec![false; keys.len()];
        hash_chunks(self.hasher(), keys, |start, hashes| {
            self.remove_hashes(hashes, &mut removed[start..][..hashes.len()]);
        });
        removed
    }
}

#[inline(always)]
fn start(hashes: &[u64], prefetch: impl Fn(u64)) {
    hashes.iter().take(PREFETCH_DISTANCE).for_each(|&hash| prefetch(hash));
}

fn all_but(filter: &impl Filter, refused: Vec<usize>) -> Result<(), BatchFull> {
    if refused.is_empty() {
        return Ok(());
    }
    Err(BatchFull { refused, full: filter.base().full() })
}

/// Calls `each(position of the first, hashes)` for successive chunks of keys.
#[inline]
fn hash_chunks<K: Key>(hasher: KeyHasher, keys: &[K], mut each: impl FnMut(usize, &[u64])) {
    let mut hashes = [0; CHUNK];
    for (chunk, keys) in keys.chunks(CHUNK).enumerate() {
        let hashes = &mut hashes[..keys.len()];
        hasher.hash_many(keys, hashes);
        each(chunk * CHUNK, hashes);
    }
}
