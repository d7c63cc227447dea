//! Methods that only sets and maps of fixed size have.

use alloc::vec;
use core::ops::Deref;

use super::{Content, CuckooFilter, CuckooMap, Filter, all_but, same_hash};
use crate::error::{BatchError, BuildError, UnionError};
use crate::format::{self, ReadError};
use crate::geometry::Geometry;
use crate::key::Key;
use crate::layout::Copies;
use crate::table::traits::{Change, Lookup};
use crate::table::{Fixed, Memory};

impl CuckooFilter {
    /// A filter of exactly these keys, sized for them, with at most this false-positive rate.
    ///
    /// Keeps a hash of 8 bytes for each key while it builds, if the iterator does not know its
    /// length.
    ///
    /// # Errors
    ///
    /// If no such filter can be built, or fingerprints are too short to distinguish its keys.
    pub fn try_from_iter<K: Key>(
        keys: impl IntoIterator<Item = K>,
        fpr: f64,
    ) -> Result<Self, BuildError> {
        Self::builder().fpr(fpr).build_from_iter(keys)
    }

    /// Removes all keys that are not in another filter of the same geometry and seed. A key in both
    /// stays, with the copies that it has here. A key that is only here stays if it is a false
    /// positive of the other filter.
    ///
    /// One filter cannot be subtracted from another: that would lose keys which are false positives
    /// of the other.
    ///
    /// # Errors
    ///
    /// If the filters differ in geometry or seed; nothing has changed then.
    pub fn intersect_with<B>(&mut self, other: &CuckooFilter<B>) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        same_hash(self, other)?;
        self.table.retain(&other.table)
    }
}

impl CuckooMap {
    /// Inserts pairs of hash and value, in order. Leaves out each pair whose key is present: one of
    /// the candidate values of its hash makes `is_same(candidate, value)` true. Returns the number
    /// of pairs inserted.
    ///
    /// Up to `threads` threads fill segments of their own; the result does not depend on their
    /// number. Takes 32 bytes per pair until it returns. Large maps are filled fastest by batches
    /// of a few thousand pairs for each segment of the [`geometry`](Self::geometry).
    ///
    /// ```
    /// use malkoha::CuckooMap;
    ///
    /// let words = ["koel", "magpie", "koel"];
    /// let mut first = CuckooMap::with_capacity(10, 0.01, 2)?;
    /// let hasher = first.hasher();
    /// let pairs: Vec<(u64, u64)> =
    ///     (0..).zip(words).map(|(i, word)| (hasher.hash_bytes(word.as_bytes()), i)).collect();
    /// let is_same = |a: u64, b: u64| words[a as usize] == words[b as usize];
    /// assert_eq!(first.insert_distinct_hashes(&pairs, 2, is_same)?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a value is too large: nothing has changed then. If some keys were refused: the error
    /// names them, and all others are inserted.
    pub fn insert_distinct_hashes(
        &mut self,
        pairs: &[(u64, u64)],
        threads: usize,
        is_same: impl Fn(u64, u64) -> bool + Sync,
    ) -> Result<u64, BatchError> {
        for (i, &(_, value)) in pairs.iter().enumerate() {
            self.check(value).map_err(|error| BatchError { refused: vec![i], error })?;
        }
        let (inserted, refused) = self.table.insert_distinct(pairs, threads, is_same);
        all_but(refused, || self.table.refusal()).map(|()| inserted)
    }
}

impl<C: Content> Filter<Fixed, C> {
    /// Adds the contents of another filter or map with the same geometry and seed: usually one that
    /// was built for the same capacity and rate. A key in both counts as often as in the one where
    /// it counts more, so one removal removes a key that was inserted once in each.
    ///
    /// Two keys with one fingerprint, one from each side, become one copy: a filter from which keys
    /// are removed after a union loses such a key with the other, with about the probability of a
    /// false positive. [`unite`](Self::unite) with [`Copies::Sum`] does not.
    ///
    /// Goes through the slots of `other` once, segment by segment, and takes the memory of another
    /// table until it is done.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let mut seen = CuckooFilter::with_capacity(1_000, 0.001)?;
    /// seen.insert("cuckoo")?;
    /// let mut elsewhere = CuckooFilter::with_capacity(1_000, 0.001)?;
    /// elsewhere.insert_many(&["cuckoo", "magpie"])?;
    /// seen.union_with(&elsewhere)?;
    /// assert!(seen.contains("cuckoo") && seen.contains("magpie"));
    /// assert_eq!(seen.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If they differ in geometry or seed, if the contents of both do not fit into one (unions of
    /// [`GrowableCuckooFilter`](crate::GrowableCuckooFilter) grow, and take any capacity), or if
    /// there is no memory. Nothing has changed then.
    pub fn union_with<B>(&mut self, other: &Filter<Fixed<B>, C>) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        self.unite(other, Copies::Most)
    }

    /// [`union_with`](Self::union_with), where `copies` says how often a key in both counts.
    ///
    /// # Errors
    ///
    /// As [`union_with`](Self::union_with).
    pub fn unite<B>(
        &mut self,
        other: &Filter<Fixed<B>, C>,
        copies: Copies,
    ) -> Result<(), UnionError>
    where
        B: Deref<Target = [u8]>,
    {
        same_hash(self, other)?;
        self.table.unite(&other.table, copies)
    }
}

impl<B: Deref<Target = [u8]>, C: Content> Filter<Fixed<B>, C> {
    /// The shape of the table.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.table.parts().geometry
    }

    /// Evictions that an insert considers before it gives up.
    #[must_use]
    pub fn max_kicks(&self) -> u32 {
        self.table.parts().max_kicks
    }

    /// A copy in memory of its own, which can change.
    ///
    /// # Errors
    ///
    /// If the system lacks the memory.
    pub fn to_owned(&self) -> Result<Filter<Fixed<Memory>, C>, BuildError> {
        Ok(Filter::new(self.table.to_owned()?, self.hasher))
    }
}

impl<'a, C: Content> Filter<Fixed<&'a [u8]>, C> {
    /// A filter or map in `bytes`, which hold a whole file; nothing is copied and every byte is
    /// checked.
    ///
    /// ```
    /// use malkoha::{CuckooFilter, FilterView};
    ///
    /// let bytes = CuckooFilter::try_from_iter(["cuckoo", "magpie"], 0.001)?.to_bytes();
    /// assert!(FilterView::view(&bytes)?.contains("magpie"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged file of this kind.
    pub fn view(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let (table, hasher) = format::view(Fixed::<&[u8]>::kind(C::IS_MAP), bytes)?;
        Ok(Self::new(table, hasher))
    }
}
