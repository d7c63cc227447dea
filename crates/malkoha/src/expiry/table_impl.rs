//! `Filter`'s traits for a table whose keys expire.

use alloc::vec;
use alloc::vec::Vec;

use super::{Ages, Expiring};
use crate::entries::Entry;
use crate::error::InsertError;
use crate::format::{self, FileKind};
use crate::io::{self, Write};
use crate::key::KeyHasher;
use crate::ring;
use crate::table::traits::{Candidates, Change, Fill, Lookup, Sealed};

impl<T: Ages> Sealed for Expiring<T> {}

impl<T: Ages> Lookup for Expiring<T> {
    #[inline]
    fn contains(&self, hash: u64) -> bool {
        self.table.age(&self.times, hash).is_some()
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.table.lives(&self.times, hashes, found);
    }

    fn count(&self, hash: u64) -> u64 {
        self.contains(hash).into()
    }

    /// Of a copy.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let entries: Vec<Entry> = self.swept().table.entries().collect();
        entries.into_iter()
    }

    fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// Keys that live.
    fn len(&self) -> u64 {
        self.times.live()
    }

    fn capacity(&self) -> u64 {
        self.times.capacity()
    }

    fn slots(&self) -> u64 {
        self.table.slots()
    }

    fn spilled(&self) -> u64 {
        0
    }

    fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes() + self.times.size_in_bytes()
    }

    fn fingerprint_bits(&self) -> u32 {
        self.table.fingerprint_bits()
    }

    fn value_bits(&self) -> u32 {
        0
    }

    fn expected_fpr(&self) -> f64 {
        self.table.fpr_of(self.times.live())
    }

    fn kind(_is_map: bool) -> FileKind {
        FileKind::of_ages(T::kind(true))
    }

    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        let swept = self.swept();
        format::write_expiring(kind, hasher, &swept.times, &swept.table, writer)
    }
}

/// Its values are ages.
impl<T: Ages> Candidates for Expiring<T> {
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        self.age(hash).map(|age| (age, 1)).into_iter()
    }

    fn for_each_candidate(&self, hash: u64, mut each: impl FnMut(u64, u64)) {
        self.candidates(hash).for_each(|(age, copies)| each(age, copies));
    }

    fn candidates_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        for (i, &hash) in hashes.iter().enumerate() {
            self.for_each_candidate(hash, |age, copies| each(i, age, copies));
        }
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        (self.age(hash) == Some(value)).into()
    }
}

impl<T: Ages> Fill for Expiring<T> {
    fn insert_batch(&mut self, hashes: &[u64], _values: &[u64]) -> Vec<usize> {
        self.see_batch(hashes, true, &mut vec![false; hashes.len()])
    }
}

impl<T: Ages> Change for Expiring<T> {
    #[inline]
    fn insert(&mut self, hash: u64, _value: u64) -> Result<(), InsertError> {
        self.see(hash, true).map(|_| ())
    }

    #[inline]
    fn insert_unique(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.see(hash, false)
    }

    fn insert_unique_batch(&mut self, hashes: &[u64], new: &mut [bool]) -> Vec<usize> {
        self.see_batch(hashes, false, new)
    }

    #[cold]
    fn refusal(&self) -> InsertError {
        self.times.refusal()
    }

    #[inline]
    fn remove(&mut self, hash: u64, _value: u64) -> bool {
        self.table.forget(&mut self.times, hash)
    }

    fn remove_batch(&mut self, hashes: &[u64], _values: &[u64], removed: &mut [bool]) {
        let ask = |set: &Self, hash: u64| set.table.prefetch(hash);
        ring::one_by_one(self, hashes, ask, |set, i, hash, ()| removed[i] = set.remove(hash, 0));
    }

    /// There are no values to replace.
    fn update(&mut self, _hash: u64, _old: u64, _new: u64) -> bool {
        false
    }

    fn clear(&mut self) {
        self.table.clear();
        self.times.clear(self.table.blocks());
    }
}

impl<T: Ages> PartialEq for Expiring<T> {
    /// Whether the files of both would be the same.
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.swept(), other.swept());
        ours.times == theirs.times && ours.table == theirs.table
    }
}
