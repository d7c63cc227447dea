//! What only sets with expiring keys have.

use alloc::vec;
use alloc::vec::Vec;

#[cfg(feature = "std")]
use super::GrowableExpiringCuckooFilter;
use super::{CHUNK, ExpiringCuckooFilter, Filter, Told, all_but, hash_chunks, same_hash};
use crate::builder::Builder;
use crate::error::{BatchError, BuildError, InsertError, UnionError};
use crate::expiry::{Ages, Expiring};
use crate::key::{Key, hash_one};
use crate::table::traits::Change;

impl ExpiringCuckooFilter {
    /// A filter for `capacity` distinct keys within `ttl`, after which they expire, with at most
    /// this false-positive rate.
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

#[cfg(feature = "std")]
impl GrowableExpiringCuckooFilter {
    /// A filter for `capacity` distinct keys within `ttl` at first, after which they expire, that
    /// keeps to this false-positive rate whatever it grows to.
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

    /// Segments that it has grown to.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.table.table.segments()
    }

    /// Buckets of four slots.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.table.buckets()
    }
}

impl<T: Ages> Filter<Expiring<T>> {
    /// Lets it be the time `now`, in the unit in which [`ttl`](Self::ttl) is. A time before the
    /// present one changes nothing. O(1).
    #[inline]
    pub fn advance(&mut self, now: u64) {
        self.table.advance(now);
    }

    /// The latest time that it was given; 0 before any.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.table.times.now()
    }

    /// The time for which a key is remembered at least.
    #[must_use]
    pub fn ttl(&self) -> u64 {
        self.table.times.window().ttl
    }

    /// How much longer it may be remembered, rounded up.
    #[must_use]
    pub fn resolution(&self) -> u64 {
        let window = self.table.times.window();
        window.ttl.div_ceil(window.steps.into())
    }

    /// The time at which the next step of [`resolution`](Self::resolution) begins: times before it
    /// make no difference to what is in.
    #[must_use]
    pub fn next_step(&self) -> u64 {
        self.table.times.next()
    }

    /// The time at which the step began that `time` lies in. Those who have to tell others the time
    /// need tell them only this.
    #[must_use]
    pub fn step_start(&self, time: u64) -> u64 {
        self.table.times.step_start(time)
    }

    /// Whether a hash will be in at the time `now`, as if [`advance`](Self::advance) had been
    /// called: for those who must not change the filter.
    #[must_use]
    pub fn contains_hash_at(&self, hash: u64, now: u64) -> bool {
        self.table.contains_at(hash, now)
    }

    /// The same for each hash, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn contains_hashes_at(&self, hashes: &[u64], now: u64, found: &mut [bool]) {
        self.table.contains_batch_at(hashes, now, found);
    }

    /// How many keys will live at the time `now`, if none is seen until then.
    #[must_use]
    pub fn len_at(&self, now: u64) -> u64 {
        self.table.times.live_after(self.table.times.epochs_to(now))
    }

    /// Removes all that has expired, which otherwise happens little by little as keys are inserted
    /// and removed, and gives its memory back in a filter that grows. O(slots).
    pub fn sweep(&mut self) {
        self.table.sweep();
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

    /// Inserts a key, or lets it be seen now if it is in; returns whether it was new. So it lives
    /// from now on in either case, as after [`insert`](Self::insert);
    /// [`insert_unique`](Self::insert_unique) leaves a key that is in as old as it is.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn refresh<K: Key>(&mut self, key: K) -> Result<bool, InsertError> {
        self.refresh_hash(hash_one(self.hasher, key))
    }

    /// [`refresh`](Self::refresh) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn refresh_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.table.see(hash, true)
    }

    /// [`refresh`](Self::refresh) for all `keys`, in their order. Returns which were new.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in. Use
    /// [`refresh_hashes`](Self::refresh_hashes) to know then which were new.
    pub fn refresh_many<K: Key>(&mut self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        let mut new = vec![false; keys.len()];
        let mut told = Told::new(&mut new);
        hash_chunks(self.hasher, keys, CHUNK, |start, hashes| {
            self.table.see_batch(hashes, true, |i, seen| told.note(start + i, seen));
        });
        all_but(told.refused, || self.table.refusal()).map(|()| new)
    }

    /// [`refresh_many`](Self::refresh_many) for hashes, into a slice of the same length.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, `new` tells about all others.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn refresh_hashes(&mut self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError> {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        let mut told = Told::new(new);
        self.table.see_batch(hashes, true, |i, seen| told.note(i, seen));
        all_but(told.refused, || self.table.refusal())
    }

    /// Adds what lives in another filter that was built alike. It is then the later one's time in
    /// both, and a key that is in both is as young as in the one in which it is younger.
    ///
    /// Takes the memory of two more tables meanwhile.
    ///
    /// # Errors
    ///
    /// If they differ in geometry (of fixed ones), hash, the time that keys live or the resolution,
    /// or if what lives in both does not fit into one; nothing has changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), UnionError> {
        same_hash(self, other)?;
        self.table.unite(&other.table)
    }
}
