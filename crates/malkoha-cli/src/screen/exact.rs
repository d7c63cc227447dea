//! Lines that are in a list, without error: fingerprints find the place, the list confirms it.

use std::collections::HashMap;

use anyhow::Result;
use malkoha::{BatchError, CuckooMap, InsertError, KeyHasher};
use memchr::memchr;

use super::Matcher;
use crate::input::{List, split};
use crate::pipeline::both;
use crate::progress::Progress;

/// The rate at which a line that is not in the list is compared with a line of it, in vain.
/// It only costs time; a lower rate would cost space.
const CANDIDATE_RATE: f64 = 1.0 / 512.0;

/// Lines of the list, for each segment of the index, that are put in together: enough that a
/// segment is brought into cache for many of them, few enough to take little memory beside it.
const LINES_A_SEGMENT: usize = 2048;

/// Fewer lines are hashed before a thread has started.
const MIN_LINES_A_THREAD: usize = 8192;

/// A list of lines, and for each distinct line its fingerprint and where it begins.
pub(crate) struct Exact {
    list: List,
    separator: u8,
    hasher: KeyHasher,
    index: Index,
}

impl Exact {
    /// Indexes a list in one pass on up to `threads` threads, with little in memory but the index.
    pub(crate) fn build(
        list: List,
        separator: u8,
        hasher: KeyHasher,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let mut index = Index::new(list.count_lines(separator), list.len() as u64)?;
        let round = index.lines_a_round();
        let is_same =
            |known, new| begins_at(&list, separator, known, line_at(&list, separator, new));
        let (mut lines, mut offset, mut done) = (Vec::new(), 0, 0);
        let mut put_in = |lines: &mut Vec<(u64, &[u8])>, end: usize| {
            index.insert(&hash_all(hasher, lines, threads), threads, is_same)?;
            lines.clear();
            progress.advance(end - done);
            done = end;
            anyhow::Ok(())
        };
        split(&list, separator, |batch| {
            for line in batch {
                lines.push((offset as u64, *line));
                offset += line.len() + 1;
            }
            if lines.len() >= round { put_in(&mut lines, offset) } else { Ok(()) }
        })?;
        put_in(&mut lines, list.len())?;
        Ok(Self { list, separator, hasher, index })
    }
}

/// Each line's hash, and where it begins.
fn hash_all(hasher: KeyHasher, lines: &[(u64, &[u8])], threads: usize) -> Vec<(u64, u64)> {
    let mut hashed = vec![(0, 0); lines.len()];
    hash_into(&mut hashed, hasher, lines, threads.min(lines.len() / MIN_LINES_A_THREAD));
    hashed
}

fn hash_into(hashed: &mut [(u64, u64)], hasher: KeyHasher, lines: &[(u64, &[u8])], threads: usize) {
    if threads < 2 {
        for (hashed, (offset, line)) in hashed.iter_mut().zip(lines) {
            *hashed = (hasher.hash_bytes(line), *offset);
        }
        return;
    }
    let half = threads / 2;
    let middle = lines.len() / threads * half;
    let (first, rest) = hashed.split_at_mut(middle);
    both(
        || hash_into(first, hasher, &lines[..middle], half),
        || hash_into(rest, hasher, &lines[middle..], threads - half),
    );
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

/// The line of `list` that begins at `offset`.
fn line_at(list: &[u8], separator: u8, offset: u64) -> &[u8] {
    let rest = usize::try_from(offset).ok().and_then(|offset| list.get(offset..)).unwrap_or(&[]);
    memchr(separator, rest).map_or(rest, |end| &rest[..end])
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

    /// Lines to put in at a time.
    fn lines_a_round(&self) -> usize {
        self.map.geometry().segments as usize * LINES_A_SEGMENT
    }

    /// Puts in the lines that are not in, by pairs of hash and offset.
    fn insert(
        &mut self,
        lines: &[(u64, u64)],
        threads: usize,
        is_same: impl Fn(u64, u64) -> bool + Sync,
    ) -> Result<()> {
        let refused = match self.map.insert_distinct_hashes(lines, threads, &is_same) {
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
        let line = |offset| line_at(list, b'\n', offset);
        assert_eq!(
            [line(0), line(3), line(7), line(8), line(99)],
            [&b"ab"[..], b"abc", b"", b"last", b""]
        );
        assert!(!is(8, "lastly") && !is(8, "las") && !is(99, ""));
    }

    #[test]
    fn lines_without_a_place_are_found_all_the_same() {
        let mut index = Index::new(1, 1 << 20).unwrap();
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
