//! Methods that only sets with expiring keys have.

use alloc::vec;
use alloc::vec::Vec;

use super::{Filter, KeysOf, all_but, same_hash};
use crate::builder::{Build, Builder};
use crate::error::{BatchError, BuildError, InsertError, UnionError};
use crate::expiry::{Ages, Expiring};
use crate::key::Key;
use crate::table::source;
use crate::table::traits::{Change, Lookup};
#[cfg(feature = "std")]
use crate::{growable::Growing, partitioned::Partitioned};

/// The methods of each table of ages. They take `&mut self` if it has one owner, and `&self` if
/// threads share it.
macro_rules! expiring_sets {
    ($([$($parameters:tt)*] $table:ty $(, $mut:ident)?;)*) => {$(
impl<$($parameters)*> Filter<$table> {
    /// A filter for `capacity` distinct keys within `ttl`, after which they expire, with at most
    /// this false-positive rate. One that grows begins with room for `capacity` keys, and keeps to
    /// the rate at any size.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64, ttl: u64) -> Result<Self, BuildError>
    where
        Self: Build,
    {
        Builder::new().capacity(capacity).fpr(fpr).expire_after(ttl).build()
    }

    /// Sets the time to `now`, in the unit of [`ttl`](Self::ttl). A time before the present one
    /// changes nothing. O(1). If threads share the filter, this takes the lock of each partition in
    /// turn if `now` is later, and waits while another thread copies or saves the filter.
    #[inline]
    pub fn advance(&$($mut)? self, now: u64) {
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

    /// The longest additional time for which a key can be found, rounded up.
    #[must_use]
    pub fn resolution(&self) -> u64 {
        let window = self.table.window();
        window.ttl.div_ceil(window.steps.into())
    }

    /// Returns an upper bound of the time since the key was seen, or `None` if it is not in. The
    /// bound is less than one step of [`resolution`](Self::resolution) too large.
    pub fn age<K: Key>(&self, key: K) -> Option<u64> {
        self.age_hash(self.hasher.hash_key(key))
    }

    /// [`age`](Self::age) for a hash.
    #[must_use]
    pub fn age_hash(&self, hash: u64) -> Option<u64> {
        self.table.age(hash)
    }

    /// Inserts a key, or renews its age if it is present. Returns whether it was new. Its time
    /// starts now in either case, as after [`insert`](Self::insert).
    /// [`insert_unique`](Self::insert_unique) leaves the age of a present key as it is. Atomic if
    /// threads share the filter.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn refresh<K: Key>(&$($mut)? self, key: K) -> Result<bool, InsertError> {
        self.refresh_hash(self.hasher.hash_key(key))
    }

    /// [`refresh`](Self::refresh) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn refresh_hash(&$($mut)? self, hash: u64) -> Result<bool, InsertError> {
        self.table.see(hash, true)
    }

    /// [`refresh`](Self::refresh) for all `keys`, in their order. Returns which were new.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in. Use
    /// [`refresh_hashes`](Self::refresh_hashes) to know then which were new.
    pub fn refresh_many<K: Key>(&$($mut)? self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        let mut new = vec![false; keys.len()];
        let source = KeysOf(keys, self.hasher);
        let refused = source::in_parts(&source, <$table>::AT_ONCE, &mut new, |hashes, new| {
            self.table.see_batch(hashes, true, new)
        });
        all_but(refused, || self.table.refusal()).map(|()| new)
    }

    /// [`refresh_many`](Self::refresh_many) for hashes, into a slice of the same length.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and `new` has the result of all others.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn refresh_hashes(
        &$($mut)? self,
        hashes: &[u64],
        new: &mut [bool],
    ) -> Result<(), BatchError> {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        let refused = self.table.see_batch(hashes, true, new);
        all_but(refused, || self.table.refusal())
    }
}
    )*};
}

expiring_sets!([T: Ages] Expiring<T>, mut;);
#[cfg(feature = "std")]
expiring_sets!([] Partitioned<Expiring<Growing>>;);

impl<T: Ages> Filter<Expiring<T>> {
    /// The time at which the next step of [`resolution`](Self::resolution) begins. No key expires
    /// before it.
    #[must_use]
    pub fn next_step(&self) -> u64 {
        self.table.times.next()
    }

    /// The start of the step that contains `time`. Programs that send the time to others need send
    /// only this.
    #[must_use]
    pub fn step_start(&self, time: u64) -> u64 {
        self.table.times.step_start(time)
    }

    /// Returns whether a hash will be present at the time `now`, as if [`advance`](Self::advance)
    /// had been called, without changing the filter.
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

    /// The number of keys that will not have expired at the time `now`, if none is seen until then.
    #[must_use]
    pub fn len_at(&self, now: u64) -> u64 {
        self.table.times.live_after(self.table.times.epochs_to(now))
    }

    /// Removes all expired keys, and returns their memory in a filter that grows. Otherwise this
    /// happens little by little as keys are inserted and removed. O(slots).
    pub fn sweep(&mut self) {
        self.table.sweep();
    }

    /// Adds the keys of another filter with the same options. The later time of the two then holds,
    /// and a key in both has the smaller age.
    ///
    /// Needs the memory of two more tables until it is done.
    ///
    /// # Errors
    ///
    /// If they differ in geometry (of fixed size), hash, time to live or resolution, or if the keys
    /// of both do not fit into one. Nothing has changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), UnionError> {
        same_hash(self, other)?;
        self.table.unite(&other.table)
    }
}
