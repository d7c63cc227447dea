//! Where the lines of a list may begin, by their hashes.

use std::collections::HashMap;

use anyhow::{Result, bail};
use malkoha::{BatchError, CuckooMap, InsertError, KeyHasher, MappedMap};

/// The rate at which a line that is not in the list is compared with one that is. It only costs
/// time; a lower rate would cost space.
const CANDIDATE_RATE: f64 = 1.0 / 128.0;

/// Lines of the list, for each segment of the index, that are put in together: enough that a
/// segment is brought into cache for many of them, few enough to take little memory beside it.
const LINES_A_SEGMENT: usize = 512;

/// Fewer are not worth starting threads.
const LEAST_LINES_A_ROUND: usize = 1 << 16;

/// From a line's hash to the offsets at which the line may begin.
pub(super) struct Index {
    map: Map,
    /// Lines that the map had no place for. Its size ensures that this stays empty; otherwise the
    /// answers would still be right.
    unplaced: HashMap<u64, Vec<u64>>,
}

enum Map {
    Built(CuckooMap),
    /// In a file, to which nothing is added.
    Kept(MappedMap),
}

impl Index {
    pub(super) fn new(lines: u64, list_bytes: u64, hasher: KeyHasher) -> Result<Self> {
        let last_offset = list_bytes.saturating_sub(1);
        let offset_bits = (u64::BITS - last_offset.leading_zeros()).max(1);
        // A twelfth of the slots stays free beyond what is needed: half of the time to build an
        // index goes into the last tenth of a full one.
        let capacity = lines.max(1) + lines / 12;
        let map = CuckooMap::builder()
            .capacity(capacity)
            .fpr(CANDIDATE_RATE)
            .value_bits(offset_bits)
            .with_hasher(hasher)
            .build()?;
        Ok(Self { map: Map::Built(map), unplaced: HashMap::new() })
    }

    pub(super) fn kept(map: MappedMap) -> Self {
        Self { map: Map::Kept(map), unplaced: HashMap::new() }
    }

    /// The map, if it contains all lines.
    pub(super) fn whole(&self) -> Option<&CuckooMap> {
        match &self.map {
            Map::Built(map) if self.unplaced.is_empty() => Some(map),
            _ => None,
        }
    }

    /// Lines to put in at a time.
    pub(super) fn lines_a_round(&self) -> usize {
        let Map::Built(map) = &self.map else { return 1 };
        (map.geometry().segments as usize * LINES_A_SEGMENT).max(LEAST_LINES_A_ROUND)
    }

    /// Puts in the lines that are not in, by pairs of hash and offset.
    pub(super) fn insert(
        &mut self,
        lines: &[(u64, u64)],
        threads: usize,
        is_same: impl Fn(u64, u64) -> bool + Sync,
    ) -> Result<()> {
        let Map::Built(map) = &mut self.map else { bail!("an index in a file is whole") };
        let refused = match map.insert_distinct_hashes(lines, threads, &is_same) {
            Ok(_) => return Ok(()),
            Err(BatchError { error: error @ InsertError::Value { .. }, .. }) => {
                return Err(error.into());
            }
            Err(BatchError { refused, .. }) => refused,
        };
        for (hash, offset) in refused.into_iter().map(|i| lines[i]) {
            let unplaced = self.unplaced.entry(hash).or_default();
            if !unplaced.iter().any(|&known| is_same(known, offset)) {
                unplaced.push(offset);
            }
        }
        Ok(())
    }

    pub(super) fn all_candidates(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        match &self.map {
            Map::Built(map) => map.get_hashes(hashes, &mut each),
            Map::Kept(map) => map.get_hashes(hashes, &mut each),
        }
        if !self.unplaced.is_empty() {
            for (i, &hash) in hashes.iter().enumerate() {
                self.unplaced_candidates(hash).for_each(|offset| each(i, offset));
            }
        }
    }

    /// All places that are in.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> {
        let placed: Box<dyn Iterator<Item = u64>> = match &self.map {
            Map::Built(map) => Box::new(map.entries().map(|entry| entry.value)),
            Map::Kept(map) => Box::new(map.entries().map(|entry| entry.value)),
        };
        placed.chain(self.unplaced.values().flatten().copied())
    }

    fn unplaced_candidates(&self, hash: u64) -> impl Iterator<Item = u64> {
        // There are usually none, and then the hash need not be looked up.
        let offsets = if self.unplaced.is_empty() { None } else { self.unplaced.get(&hash) };
        offsets.into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_place_are_found_all_the_same() {
        let mut index = Index::new(1, 1 << 20, KeyHasher::new(0)).unwrap();
        // Far more than the map has slots; each twice.
        let lines: Vec<(u64, u64)> = (0..2000).map(|n| (n / 2, n / 2 * 7)).collect();
        index.insert(&lines, 2, |a, b| a == b).unwrap();
        assert!(!index.unplaced.is_empty());
        let hashes: Vec<u64> = (0..1000).collect();
        let mut found = [false; 1000];
        index.all_candidates(&hashes, |i, offset| found[i] |= offset == hashes[i] * 7);
        assert!(found.iter().all(|&found| found));
        assert!(index.unplaced.values().all(|offsets| offsets.len() == 1));
    }
}
