//! Records with their hashes, which the threads that hash pass to the one that decides.

use anyhow::Result;
use malkoha::KeyHasher;

use super::{Candidate, Keys, Source};

/// A block of records, and the hashes of their keys.
#[derive(Default)]
pub(crate) struct Hashed {
    /// With terminators.
    text: Vec<u8>,
    /// Of the records, without terminators.
    lens: Vec<usize>,
    /// Of the records that can be compared.
    pub(crate) hashes: Vec<u64>,
    /// The numbers of the others.
    unfit: Vec<usize>,
    /// Other forms of some of the keys, by their numbers among the hashes.
    pub(crate) candidates: Vec<Candidate>,
}

impl Hashed {
    /// Adds records.
    pub(crate) fn fill(
        &mut self,
        source: Source<'_>,
        keys: &Keys,
        hasher: KeyHasher,
    ) -> Result<()> {
        self.text.extend_from_slice(source.text);
        keys.read(source, |batch| {
            for candidate in batch.candidates(batch.len(), true, |i| batch.is_fit(i)) {
                let unfit = batch.unfit.partition_point(|&i| i < candidate.record);
                let record = self.hashes.len() + candidate.record - unfit;
                self.candidates.push(candidate.at(record));
            }
            self.unfit.extend(batch.unfit.iter().map(|i| self.lens.len() + i));
            self.lens.extend(batch.records.iter().map(|record| record.len()));
            if batch.unfit.is_empty() {
                self.hashes.extend(batch.keys.iter().map(|key| hasher.hash_bytes(key)));
            } else {
                self.hashes.extend(batch.fit().map(|(_, key)| hasher.hash_bytes(key)));
            }
            Ok(())
        })
    }

    /// All records, and the number of each among those that can be compared.
    pub(crate) fn records(&self) -> impl Iterator<Item = (&[u8], Option<usize>)> {
        let (mut start, mut number) = (0, 0);
        let mut unfit = self.unfit.iter().copied().peekable();
        self.lens.iter().enumerate().map(move |(i, len)| {
            let record = &self.text[start..][..*len];
            start += len + 1;
            let fits = unfit.next_if_eq(&i).is_none();
            let fit = fits.then_some(number);
            number += usize::from(fits);
            (record, fit)
        })
    }

    /// Its memory stays.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.lens.clear();
        self.hashes.clear();
        self.candidates.clear();
        self.unfit.clear();
    }
}
