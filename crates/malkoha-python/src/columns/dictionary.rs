//! Dictionaries and runs in Arrow arrays: each value is hashed once.

use malkoha::KeyHasher;

use super::values::Words;
use super::{CHUNK, Column, Rows};
use crate::parts::Part;

/// Numbers of the entries of a dictionary, each of which is hashed once.
pub(super) struct Dictionary {
    indices: Box<dyn Words>,
    /// The hash of each entry, or `None` if it is null.
    entries: Vec<Option<u64>>,
    has_nulls: bool,
    values: Box<dyn Column>,
}

impl Dictionary {
    pub(super) fn new(indices: Box<dyn Words>, values: Box<dyn Column>, hasher: KeyHasher) -> Self {
        let mut hashes = vec![0; values.len()];
        for (chunk, hashes) in hashes.chunks_mut(CHUNK).enumerate() {
            values.hash(hasher, chunk * CHUNK, hashes);
        }
        let entry = |(i, hash)| (!values.has_nulls() || !values.is_null(i)).then_some(hash);
        let entries: Vec<_> = hashes.into_iter().enumerate().map(entry).collect();
        let has_nulls = entries.contains(&None);
        Self { indices, entries, has_nulls, values }
    }

    fn index(&self, row: usize) -> usize {
        usize::try_from(self.indices.word(row)).unwrap_or(usize::MAX)
    }

    /// The hash of an entry. The index of a null can be anything.
    fn entry(&self, index: u64) -> Option<u64> {
        usize::try_from(index).ok().and_then(|index| *self.entries.get(index)?)
    }
}

impl Rows for Dictionary {
    fn hash(&self, _: KeyHasher, row: usize, hashes: &mut [u64]) {
        self.indices.words(row, hashes);
        hashes.iter_mut().for_each(|hash| *hash = self.entry(*hash).unwrap_or_default());
    }

    fn has_nulls(&self) -> bool {
        self.has_nulls
    }

    fn part(&self, hasher: KeyHasher, row: usize) -> Part {
        let index = self.index(row);
        if index < self.values.len() { self.values.part(hasher, index) } else { Part::Null }
    }

    fn is_null(&self, row: usize) -> bool {
        self.entry(self.indices.word(row)).is_none()
    }

    fn bytes(&self, row: usize) -> Option<&[u8]> {
        self.values.bytes(self.index(row))
    }
}

/// The numbers of the runs that rows are in, by where each run ends.
pub(super) struct Runs(pub(super) Vec<u64>);

impl Words for Runs {
    fn words(&self, row: usize, words: &mut [u64]) {
        let mut run = self.0.partition_point(|&end| end <= row as u64);
        for (i, word) in words.iter_mut().enumerate() {
            while self.0.get(run).is_some_and(|&end| end <= (row + i) as u64) {
                run += 1;
            }
            *word = run as u64;
        }
    }
}
