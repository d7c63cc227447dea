//! Lines that are in a list, without error: fingerprints find the place, the list confirms it.

use std::collections::HashMap;

use anyhow::Result;
use malkoha::{CuckooMap, KeyHasher};

use super::Matcher;
use crate::input::{List, split};
use crate::progress::Progress;

/// The rate at which a line that is not in the list is compared with a line of it, in vain.
/// It only costs time; a lower rate would cost space.
const CANDIDATE_RATE: f64 = 1.0 / 512.0;

/// A list of lines, and for each distinct line its fingerprint and where it begins.
pub(crate) struct Exact {
    list: List,
    separator: u8,
    hasher: KeyHasher,
    index: Index,
}

impl Exact {
    /// Indexes a list in one pass, with nothing in memory but the index.
    pub(crate) fn build(list: List, separator: u8, progress: &Progress) -> Result<Self> {
        // A seed of its own for each run: nobody can prepare a list whose lines collide.
        let hasher = KeyHasher::random();
        let mut index = Index::new(list.count_lines(separator), list.len() as u64)?;
        let mut hashes = Vec::new();
        let mut offset = 0;
        split(&list, separator, |lines| {
            hashes.clear();
            hashes.extend(lines.iter().map(|line| hasher.hash_bytes(line)));
            index.warm_up(&hashes);
            let batch_start = offset;
            for (line, &hash) in lines.iter().zip(&hashes) {
                let known = |candidate| begins_at(&list, separator, candidate, line);
                if !index.candidates(hash).any(known) {
                    index.insert(hash, offset);
                }
                offset += line.len() as u64 + 1;
            }
            progress.advance(usize::try_from(offset - batch_start)?);
            Ok(())
        })?;
        Ok(Self { list, separator, hasher, index })
    }
}

impl Matcher for Exact {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let Self { list, separator, hasher, index } = self;
        let hashes: Vec<u64> = lines.iter().map(|line| hasher.hash_bytes(line)).collect();
        let mut candidates = Vec::with_capacity(lines.len());
        index.all_candidates(&hashes, |i, offset| candidates.push((i, offset)));
        for (i, offset) in candidates {
            found[i] |= begins_at(list, *separator, offset, lines[i]);
        }
        Ok(())
    }
}

/// Whether `line` is the line of `list` that begins at `offset`.
#[inline]
fn begins_at(list: &[u8], separator: u8, offset: u64, line: &[u8]) -> bool {
    let rest = usize::try_from(offset).ok().and_then(|offset| list.get(offset..));
    rest.and_then(|rest| rest.strip_prefix(line))
        .is_some_and(|rest| rest.first().is_none_or(|&next| next == separator))
}

/// From a line's hash to the offsets at which the line may begin.
struct Index {
    map: CuckooMap,
    /// Lines that the map had no place for. It is sized so that this stays empty; were it not,
    /// the answers would still be right.
    unplaced: HashMap<u64, Vec<u64>>,
}

impl Index {
    fn new(lines: u64, list_bytes: u64) -> Result<Self> {
        let last_offset = list_bytes.saturating_sub(1);
        let offset_bits = (u64::BITS - last_offset.leading_zeros()).max(1);
        // An eighth of the slots stays free beyond what is needed: half of the time to build an
        // index goes into the last tenth of a full one.
        let capacity = lines.max(1) + lines / 8;
        let map = CuckooMap::with_capacity(capacity, CANDIDATE_RATE, offset_bits)?;
        Ok(Self { map, unplaced: HashMap::new() })
    }

    fn insert(&mut self, hash: u64, offset: u64) {
        if self.map.insert_hash(hash, offset).is_err() {
            self.unplaced.entry(hash).or_default().push(offset);
        }
    }

    /// Brings the places of these hashes into the cache, all at once.
    fn warm_up(&self, hashes: &[u64]) {
        self.map.get_hashes(hashes, |_, _| ());
    }

    fn candidates(&self, hash: u64) -> impl Iterator<Item = u64> {
        self.map.get_hash(hash).chain(self.unplaced_candidates(hash))
    }

    fn all_candidates(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        self.map.get_hashes(hashes, &mut each);
        if !self.unplaced.is_empty() {
            for (i, &hash) in hashes.iter().enumerate() {
                self.unplaced_candidates(hash).for_each(|offset| each(i, offset));
            }
        }
    }

    fn unplaced_candidates(&self, hash: u64) -> impl Iterator<Item = u64> {
        // Most often there are none, and then the hash need not be looked up.
        let offsets = if self.unplaced.is_empty() { None } else { self.unplaced.get(&hash) };
        offsets.into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_the_whole_line() {
        let list = b"ab\nabc\n\nlast";
        let is = |offset, line: &str| begins_at(list, b'\n', offset, line.as_bytes());
        assert!(is(0, "ab") && is(3, "abc") && is(7, "") && is(8, "last"));
        assert!(!is(0, "a") && !is(0, "abc") && !is(3, "ab") && !is(0, ""));
        assert!(!is(8, "lastly") && !is(8, "las") && !is(99, ""));
    }

    #[test]
    fn lines_without_a_place_are_found_all_the_same() {
        let mut index = Index::new(1, 1 << 20).unwrap();
        // Far more than the map has slots.
        for hash in 0..1000 {
            index.insert(hash, hash * 7);
        }
        assert!(!index.unplaced.is_empty());
        let hashes: Vec<u64> = (0..1000).collect();
        let mut found = [false; 1000];
        index.all_candidates(&hashes, |i, offset| found[i] |= offset == hashes[i] * 7);
        assert!(found.iter().all(|&found| found));
        assert!((0..1000).all(|hash| index.candidates(hash).any(|offset| offset == hash * 7)));
    }
}
