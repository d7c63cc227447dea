//! Lines that are in a filter, with its rate of false positives.

use anyhow::Result;
use malkoha::{CuckooFilter, KeyHasher};

use super::Matcher;
use crate::input::{List, split};

/// A filter of lines.
pub(crate) struct Approximate<F> {
    filter: F,
}

/// What answers for hashes of lines.
pub(crate) trait Hashed {
    fn hasher(&self) -> KeyHasher;
    /// Sets `found[i]` where `hashes[i]` is in.
    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]);
}

impl Hashed for CuckooFilter {
    fn hasher(&self) -> KeyHasher {
        self.hasher()
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        self.contains_hashes(hashes, found);
    }
}

impl<F: Hashed> Approximate<F> {
    pub(crate) fn new(filter: F) -> Self {
        Self { filter }
    }
}

/// A filter of the distinct lines of a list.
///
/// A line that the filter takes for one that is in already is left out: it will be found
/// all the same, and nothing is ever removed from this filter.
pub(crate) fn filter_of(list: &List, separator: u8, fpr: f64) -> Result<CuckooFilter> {
    let capacity = list.count_lines(separator).max(1);
    let mut filter = CuckooFilter::builder().capacity(capacity).fpr(fpr).random_seed().build()?;
    let hasher = filter.hasher();
    let mut hashes = Vec::new();
    let mut known = Vec::new();
    split(list, separator, |lines| {
        hashes.clear();
        hashes.extend(lines.iter().map(|line| hasher.hash_bytes(line)));
        known.clear();
        known.resize(hashes.len(), false);
        filter.contains_hashes(&hashes, &mut known);
        for (&hash, _) in hashes.iter().zip(&known).filter(|&(_, &known)| !known) {
            // Looked up once more: this batch may hold the line twice.
            filter.insert_unique_hash(hash)?;
        }
        Ok(())
    })?;
    Ok(filter)
}

impl<F: Hashed + Send + Sync + 'static> Matcher for Approximate<F> {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let hasher = self.filter.hasher();
        let hashes: Vec<u64> = lines.iter().map(|line| hasher.hash_bytes(line)).collect();
        self.filter.contains_hashes(&hashes, found);
        Ok(())
    }
}
