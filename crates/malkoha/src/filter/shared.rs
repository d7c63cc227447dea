//! Changing a set that threads share.

use super::rounds::{Hashes, KeysOf};
use super::{
    ConcurrentCuckooFilter, ConcurrentCuckooFilterWith, Content, CuckooFilter, Filter,
    GrowableConcurrentCuckooFilter, Told, all_but, hash_chunks,
};
use crate::builder::Builder;
use crate::concurrent::Shared;
use crate::error::{BatchError, BuildError, InsertError};
use crate::geometry::Geometry;
use crate::key::{Key, hash_one};
use crate::locks::Locking;
use crate::partitioned::{Partition, Partitioned};
use crate::table::traits::Lookup;

impl ConcurrentCuckooFilter {
    /// A filter for `capacity` keys with at most this false-positive rate when they are in.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl GrowableConcurrentCuckooFilter {
    /// A filter for `capacity` keys at first, that keeps to this false-positive rate at any size.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl<T: Partition> Filter<Partitioned<T>> {
    /// A filter for one owner with all that is in. Threads may go on changing this one: what is in
    /// throughout is in the copy. O(size).
    #[must_use]
    pub fn to_filter(&self) -> Filter<T> {
        Filter::new(self.table.to_one(), self.hasher)
    }
}

impl<T: Partition, C: Content> Filter<Partitioned<T>, C> {
    /// Sets whether memory that it takes from now on has huge pages, as
    /// [`GrowableCuckooFilter::set_huge_pages`](crate::GrowableCuckooFilter::set_huge_pages).
    pub fn set_huge_pages(&self, huge: bool) {
        self.table.set_huge_pages(huge);
    }

    /// Segments that it has grown to.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.table.segments()
    }

    /// Buckets of four slots.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.buckets()
    }
}

impl<C: Content> Filter<Partitioned, C> {
    /// Gives memory back after many removals, partition by partition, as
    /// [`GrowableCuckooFilter::shrink_to_fit`](crate::GrowableCuckooFilter::shrink_to_fit).
    /// Partitions are not merged again, so each of up to 64 keeps one segment.
    pub fn shrink_to_fit(&self) {
        self.table.shrink();
    }
}

impl<T: Partition, C: Content> Filter<T, C> {
    /// The same filter or map for many threads. Copies the table: O(size).
    #[must_use]
    pub fn into_concurrent(self) -> Filter<Partitioned<T>, C> {
        Filter::new(Partitioned::of(self.table), self.hasher)
    }
}

macro_rules! shared_sets {
    ($([$($parameters:tt)*] $table:ty;)*) => {$(
impl<$($parameters)*> Filter<$table> {
    /// Inserts a key, also if it is in already.
    ///
    /// # Errors
    ///
    /// [`InsertError::Full`], of one that does not grow, if no place was found; the key is not in
    /// then, and all others are.
    #[inline]
    pub fn insert<K: Key>(&self, key: K) -> Result<(), InsertError> {
        self.insert_hash(hash_one(self.hasher, key))
    }

    /// [`insert`](Self::insert) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Result<(), InsertError> {
        self.table.insert(hash)
    }

    /// Inserts a key unless it is in, in one step: of any number of threads that insert the same
    /// key at the same time, exactly one gets `true`. A key that another one makes
    /// [seem to be in](Filter::contains) is not inserted.
    ///
    /// Not for a filter from which keys are removed, as in
    /// [`CuckooFilter`](CuckooFilter::insert_unique). An [`insert`](Self::insert) of the same key
    /// at the same time may add a second copy.
    ///
    /// ```
    /// use malkoha::ConcurrentCuckooFilter;
    ///
    /// let seen = ConcurrentCuckooFilter::with_capacity(1_000, 1e-6)?;
    /// let claim = || (0..1_000_u64).filter(|&job| seen.insert_unique(job) == Ok(true)).count();
    /// let claimed = std::thread::scope(|scope| {
    ///     let others = [scope.spawn(claim), scope.spawn(claim)];
    ///     others.into_iter().map(|other| other.join().expect("it ends")).sum::<usize>()
    /// });
    /// assert_eq!(claimed, 1_000);
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique<K: Key>(&self, key: K) -> Result<bool, InsertError> {
        self.insert_unique_hash(hash_one(self.hasher, key))
    }

    /// [`insert_unique`](Self::insert_unique) for a hash.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique_hash(&self, hash: u64) -> Result<bool, InsertError> {
        self.table.insert_unique(hash)
    }

    /// [`insert_unique`](Self::insert_unique) for all `keys`, one by one in their order. Returns
    /// which were inserted.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all others are in. Use
    /// [`insert_unique_hashes`](Self::insert_unique_hashes) to know then which were new.
    pub fn insert_unique_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        let mut new = vec![false; keys.len()];
        let mut told = Told::new(&mut new);
        let source = KeysOf(keys, self.hasher);
        self.table.insert_all_unique(&source, |i, inserted| told.note(i, inserted));
        all_but(told.refused, || self.table.refusal()).map(|()| new)
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
    pub fn insert_unique_hashes(&self, hashes: &[u64], new: &mut [bool]) -> Result<(), BatchError> {
        assert_eq!(hashes.len(), new.len(), "one answer for each hash");
        let mut told = Told::new(new);
        self.table.insert_all_unique(&Hashes(hashes), |i, inserted| told.note(i, inserted));
        all_but(told.refused, || self.table.refusal())
    }

    /// Inserts all `keys`. Other threads see them come in parts, in any order. Large batches into a
    /// filter that grows are sorted, as
    /// [those of one owner](crate::GrowableCuckooFilter::insert_many).
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all the others are in.
    pub fn insert_many<K: Key>(&self, keys: &[K]) -> Result<(), BatchError> {
        let refused = self.table.insert_all(&KeysOf(keys, self.hasher));
        all_but(refused, || self.table.refusal())
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&self, hashes: &[u64]) -> Result<(), BatchError> {
        let refused = self.table.insert_all(&Hashes(hashes));
        all_but(refused, || self.table.refusal())
    }

    /// Removes one copy of a key that was inserted; returns whether its fingerprint was found.
    ///
    /// Only for keys that **were** inserted: see
    /// [above](Filter#removing-keys-that-were-never-inserted).
    #[inline]
    pub fn remove<K: Key>(&self, key: K) -> bool {
        self.remove_hash(hash_one(self.hasher, key))
    }

    /// [`remove`](Self::remove) for a hash.
    #[inline]
    pub fn remove_hash(&self, hash: u64) -> bool {
        self.table.remove(hash)
    }

    /// Removes one copy of each of `keys`, in their order; returns which were found.
    pub fn remove_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut removed = vec![false; keys.len()];
        hash_chunks(self.hasher, keys, <$table>::AT_ONCE, |start, hashes| {
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

    /// Removes all keys. For each key it is as if its copies were removed at one moment between the
    /// call and its return: one that another thread inserts meanwhile may stay.
    pub fn clear(&self) {
        self.table.clear();
    }
}
    )*};
}

shared_sets! {
    [P: Locking] Shared<P>;
    [] Partitioned;
}

impl<P: Locking> Filter<Shared<P>> {
    /// The shape of the table.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        self.table.geometry()
    }

    /// A copy for one owner, who can look up a little faster. Threads may go on changing this one:
    /// what is in throughout is in the copy. O(size).
    ///
    /// # Errors
    ///
    /// If the system lacks the memory.
    pub fn to_filter(&self) -> Result<CuckooFilter, BuildError> {
        Ok(Filter::new(self.table.to_fixed()?, self.hasher))
    }
}

impl CuckooFilter {
    /// The same filter for many threads. Copies the table: O(size).
    ///
    /// # Errors
    ///
    /// If its layout is not [`Layout::Words`](crate::Layout::Words), or the system lacks the
    /// memory.
    pub fn into_concurrent<P: Locking>(self) -> Result<ConcurrentCuckooFilterWith<P>, BuildError> {
        Ok(Filter::new(Shared::from_fixed(&self.table)?, self.hasher))
    }
}
