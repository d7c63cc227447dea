//! Lines that are in a filter, with its rate of false positives.

use std::ops::Deref;

use anyhow::Result;
use malkoha::CuckooFilter;

use super::Matcher;
use crate::input::{List, split};

/// A filter of lines, wherever its table lies.
pub(crate) struct Approximate<B> {
    filter: CuckooFilter<B>,
    hashes: Vec<u64>,
}

impl<B: Deref<Target = [u8]>> Approximate<B> {
    pub(crate) fn new(filter: CuckooFilter<B>) -> Self {
        Self { filter, hashes: Vec::new() }
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

impl<B: Deref<Target = [u8]>> Matcher for Approximate<B> {
    fn find(&mut self, lines: &[&[u8]], found: &mut [bool]) {
        let hasher = self.filter.hasher();
        self.hashes.clear();
        self.hashes.extend(lines.iter().map(|line| hasher.hash_bytes(line)));
        self.filter.contains_hashes(&self.hashes, found);
    }
}
