//! Sets whose keys expire and that threads share.

use super::{GrowableConcurrentExpiringCuckooFilter, Told, all_but, hash_chunks};
use crate::builder::Builder;
use crate::error::{BatchError, BuildError, InsertError};
use crate::key::{Key, hash_one};
use crate::partitioned::Partitioned;
use crate::table::traits::Lookup;

/// Hashes that the table is given at a time.
const AT_ONCE: usize = <Partitioned as Lookup>::AT_ONCE;

impl GrowableConcurrentExpiringCuckooFilter {
    /// As [`GrowableExpiringCuckooFilter::with_capacity`].
    ///
    /// [`GrowableExpiringCuckooFilter::with_capacity`]:
    /// crate::GrowableExpiringCuckooFilter::with_capacity
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64, ttl: u64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).expire_after(ttl).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl GrowableConcurrentExpiringCuckooFilter {
    /// Sets the time to `now` for all threads, in the unit of [`ttl`](Self::ttl). A time before the
    /// present one changes nothing. Takes the lock of each partition in turn if `now` is later, and
    /// waits while another thread copies the filter, to save it for one.
    pub fn advance(&self, now: u64) {
        self.table.advance(now);
    }

    /// The latest time that was set; 0 before any.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.table.now()
    }

    /// The least time for which a key is remembered.
    #[must_use]
    pub fn ttl(&self) -> u64 {
        self.table.window().ttl
    }

    /// How much longer a key can be remembered, rounded up.
    #[must_use]
    pub fn resolution(&self) -> u64 {
        let window = self.table.window();
        window.ttl.div_ceil(window.steps.into())
    }

    /// Returns an upper bound of the time since the key was seen, or `None` if it is not in. The
    /// bound is less than one step of [`resolution`](Self::resolution) too large.
    pub fn age<K: Key>(&self, key: K) -> Option<u64> {
        self.age_hash(hash_one(self.hasher, key))
    }

    /// [`age`](Self::age) for a hash.
    #[must_use]
    pub fn age_hash(&self, hash: u64) -> Option<u64> {
        self.table.age(hash)
    }

    /// Inserts a key, or marks it as seen now if it is in.
    ///
    /// # Errors
    ///
    /// None today. The methods have the signatures of the kinds that can be full.
    pub fn insert<K: Key>(&self, key: K) -> Result<(), InsertError> {
        self.refresh(key).map(|_| ())
    }

    /// [`insert`](Self::insert) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&self, hash: u64) -> Result<(), InsertError> {
        self.refresh_hash(hash).map(|_| ())
    }

    /// Inserts all `keys`, as [`insert`](Self::insert).
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in.
    pub fn insert_many<K: Key>(&self, keys: &[K]) -> Result<(), BatchError> {
        self.refresh_many(keys).map(|_| ())
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&self, hashes: &[u64]) -> Result<(), BatchError> {
        self.refresh_hashes(hashes, &mut vec![false; hashes.len()])
    }

    /// Inserts a key, or marks it as seen now if it is in; returns whether it was new. Atomic.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn refresh<K: Key>(&self, key: K) -> Result<bool, InsertError> {
        self.refresh_hash(hash_one(self.hasher, key))
    }

    /// [`refresh`](Self::refresh) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn refresh_hash(&self, hash: u64) -> Result<bool, InsertError> {
        self.table.see(hash, true)
    }

    /// [`refresh`](Self::refresh) for all `keys`. Returns which were new.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn refresh_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        self.see_many(keys, true)
    }

    /// [`refresh_many`](Self::refresh_many) for hashes, into a slice of the same length.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many); `new` has the result of all others.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn refresh_hashes(&self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError> {
        self.see_hashes(hashes, true, new)
    }

    /// Inserts a key unless it is in, and leaves one that is in as old as it is; returns whether it
    /// inserted. Atomic.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_unique<K: Key>(&self, key: K) -> Result<bool, InsertError> {
        self.insert_unique_hash(hash_one(self.hasher, key))
    }

    /// [`insert_unique`](Self::insert_unique) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_unique_hash(&self, hash: u64) -> Result<bool, InsertError> {
        self.table.see(hash, false)
    }

    /// [`insert_unique`](Self::insert_unique) for all `keys`: of equal ones in the batch the first
    /// is inserted. Returns which were.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_unique_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        self.see_many(keys, false)
    }

    /// [`insert_unique_many`](Self::insert_unique_many) for hashes, into a slice of the same
    /// length.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many); `new` has the result of all others.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn insert_unique_hashes(&self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError> {
        self.see_hashes(hashes, false, new)
    }

    fn see_many<K: Key>(&self, keys: &[K], refresh: bool) -> Result<Vec<bool>, BatchError> {
        let mut new = vec![false; keys.len()];
        let mut told = Told::new(&mut new);
        hash_chunks(self.hasher, keys, AT_ONCE, |start, hashes| {
            self.table.see_batch(hashes, refresh, |i, seen| told.note(start + i, seen));
        });
        all_but(told.refused, || self.table.refusal()).map(|()| new)
    }

    fn see_hashes(
        &self,
        hashes: &[u64],
        refresh: bool,
        new: &mut [bool],
    ) -> Result<(), BatchError> {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        let mut told = Told::new(new);
        self.table.see_batch(hashes, refresh, |i, seen| told.note(i, seen));
        all_but(told.refused, || self.table.refusal())
    }

    /// Removes a key, and those that share its fingerprint; returns whether it was in.
    pub fn remove<K: Key>(&self, key: K) -> bool {
        self.remove_hash(hash_one(self.hasher, key))
    }

    /// [`remove`](Self::remove) for a hash.
    pub fn remove_hash(&self, hash: u64) -> bool {
        self.table.remove(hash)
    }

    /// Removes all `keys`, as [`remove`](Self::remove); returns which were in.
    pub fn remove_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut removed = vec![false; keys.len()];
        hash_chunks(self.hasher, keys, AT_ONCE, |start, hashes| {
            self.table.remove_batch(hashes, |i, found| removed[start + i] = found);
        });
        removed
    }

    /// [`remove_many`](Self::remove_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn remove_hashes(&self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "one answer for each hash");
        self.table.remove_batch(hashes, |i, found| removed[i] = found);
    }

    /// Removes all keys, one partition after another.
    pub fn clear(&self) {
        self.table.clear();
    }
}
