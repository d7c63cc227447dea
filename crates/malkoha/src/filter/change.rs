//! Changing a set: with `&mut self` if it has one owner, with `&self` if threads share it.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Filter, all_but};
use crate::error::{BatchError, InsertError};
use crate::key::{Key, KeyHasher, hash_chunks};
use crate::table::source::{self, Hashes, Source};
use crate::table::traits::Change;
#[cfg(feature = "std")]
use crate::{
    concurrent::Shared, expiry::Expiring, growable::Growing, locks::Locking,
    partitioned::Partitioned, table::traits::Lookup,
};

/// The methods of each table, which has the functions of [`Change`].
macro_rules! sets {
    ($([$($parameters:tt)*] $table:ty $(, $mut:ident)?;)*) => {$(
impl<$($parameters)*> Filter<$table> {
    /// Inserts a key, also if it is in already. A set whose keys expire holds it once, as seen now.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`] if a filter of fixed size has no place for the key. The key is not in
    /// then, and all others are.
    #[inline]
    pub fn insert<K: Key>(&$($mut)? self, key: K) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// [`insert`](Self::insert) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&$($mut)? self, hash: u64) -> Result<(), InsertError> {
        self.table.insert(hash, 0)
    }

    /// Inserts a key unless the filter has a copy of it. Returns whether it inserted. The key will
    /// be found in either case, however much the filter grows.
    ///
    /// In a filter that threads share this is one step: of any number of threads that insert the
    /// same key at the same time, exactly one gets `true`. An [`insert`](Self::insert) of the same
    /// key at the same time can add a second copy.
    ///
    /// Not for a filter from which keys are removed: the present key can be another one with the
    /// same fingerprint, whose removal then makes this one disappear.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique<K: Key>(&$($mut)? self, key: K) -> Result<bool, InsertError> {
        self.insert_unique_hash(self.hasher.hash_key(key))
    }

    /// [`insert_unique`](Self::insert_unique) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique_hash(&$($mut)? self, hash: u64) -> Result<bool, InsertError> {
        self.table.insert_unique(hash)
    }

    /// [`insert_unique`](Self::insert_unique) for all `keys`, one by one in their order: of equal
    /// keys the first one is inserted. Returns which were.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in. Use
    /// [`insert_unique_hashes`](Self::insert_unique_hashes) to know then which were new.
    pub fn insert_unique_many<K: Key>(
        &$($mut)? self,
        keys: &[K],
    ) -> Result<Vec<bool>, BatchError> {
        let mut new = vec![false; keys.len()];
        let refused = self.table.insert_all_unique(&KeysOf(keys, self.hasher), &mut new);
        all_but(refused, || self.table.refusal()).map(|()| new)
    }

    /// [`insert_unique_many`](Self::insert_unique_many) for hashes, into a slice of the same
    /// length.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and `new` has the result of all others.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn insert_unique_hashes(
        &$($mut)? self,
        hashes: &[u64],
        new: &mut [bool],
    ) -> Result<(), BatchError> {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        let refused = self.table.insert_all_unique(&Hashes(hashes), new);
        all_but(refused, || self.table.refusal())
    }

    /// Inserts all `keys`. Large batches are sorted by segment, at 9 bytes per key for at most
    /// 24,576 keys a segment at a time, or 262,144 in all. A filter that grows makes room for them
    /// first. In a filter that threads share, other threads see the keys come in parts, in any
    /// order.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in.
    pub fn insert_many<K: Key>(&$($mut)? self, keys: &[K]) -> Result<(), BatchError> {
        let refused = self.table.insert_all(&KeysOf(keys, self.hasher));
        all_but(refused, || self.table.refusal())
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&$($mut)? self, hashes: &[u64]) -> Result<(), BatchError> {
        let refused = self.table.insert_all(&Hashes(hashes));
        all_but(refused, || self.table.refusal())
    }

    /// Removes one copy of a key that was inserted; returns whether its fingerprint was found.
    ///
    /// Only for keys that **were** inserted: see
    /// [above](Filter#removing-keys-that-were-never-inserted).
    #[inline]
    pub fn remove<K: Key>(&$($mut)? self, key: K) -> bool {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// [`remove`](Self::remove) for a hash.
    #[inline]
    pub fn remove_hash(&$($mut)? self, hash: u64) -> bool {
        self.table.remove(hash, 0)
    }

    /// Removes one copy of each of `keys`, in their order; returns which were found.
    pub fn remove_many<K: Key>(&$($mut)? self, keys: &[K]) -> Vec<bool> {
        let mut removed = vec![false; keys.len()];
        hash_chunks(self.hasher, keys, <$table>::AT_ONCE, |start, hashes| {
            self.table.remove_batch(hashes, &[], &mut removed[start..][..hashes.len()]);
        });
        removed
    }

    /// [`remove_many`](Self::remove_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn remove_hashes(&$($mut)? self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "one answer for each hash");
        self.table.remove_batch(hashes, &[], removed);
    }
}
    )*};
}

sets!([T: Change] T, mut;);
#[cfg(feature = "std")]
sets! {
    [P: Locking] Shared<P>;
    [] Partitioned;
    [] Partitioned<Expiring<Growing>>;
}

impl<T: Change, C> Filter<T, C> {
    /// Removes all keys. Keeps the table's memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }
}

impl<T: Change> Filter<T> {
    /// [`insert_hashes`](Self::insert_hashes) on up to `threads` threads, each of which fills
    /// segments of its own. The result does not depend on their number.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes_with_threads(
        &mut self,
        hashes: &[u64],
        threads: usize,
    ) -> Result<(), BatchError> {
        self.insert_on_threads(&Hashes(hashes), threads)
    }

    /// Prepares for a batch of this many hashes that comes in parts: a filter that grows makes room
    /// for those that are new, if that saves rebuilds. `hash` returns the hash of a number below
    /// `hashes`, or `None` where there is none; it is called for at most 65,539 numbers, which show
    /// how many hashes are distinct. The filter can take memory for all `hashes`, even if fewer
    /// come. Other kinds do nothing.
    pub fn make_room(&mut self, hashes: usize, mut hash: impl FnMut(usize) -> Option<u64>) {
        self.table.make_room(hashes, &mut hash);
    }

    /// Inserts a batch on up to this many threads.
    pub(crate) fn insert_on_threads(
        &mut self,
        source: &(impl Source + Sync),
        threads: usize,
    ) -> Result<(), BatchError> {
        let refused = source::insert_on_threads(&mut self.table, source, threads);
        all_but(refused, || self.table.refusal())
    }

    /// Inserts the keys of an iterator. Stops at the first key that finds no place.
    ///
    /// There is no `Extend`: it cannot report a failure.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert). The keys before the refused one are in.
    pub fn try_extend<K: Key>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<(), InsertError> {
        keys.into_iter().try_for_each(|key| self.insert(key))
    }
}

/// Keys that are hashed as a batch is inserted.
pub(crate) struct KeysOf<'a, K>(pub(crate) &'a [K], pub(crate) KeyHasher);

impl<K: Key> Source for KeysOf<'_, K> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn hashes(&self, range: Range<usize>, at_once: usize, each: impl FnMut(usize, &[u64])) {
        hash_chunks(self.1, &self.0[range], at_once, each);
    }

    fn hash(&self, position: usize) -> Option<u64> {
        self.0.get(position).map(|key| key.hash_with(self.1))
    }
}
