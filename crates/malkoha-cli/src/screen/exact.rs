//! Lines that are in a list, exactly: fingerprints find the place, and the list confirms it.

use std::collections::HashMap;

use anyhow::{Result, bail};
use malkoha::{BatchError, CuckooMap, InsertError, KeyHasher, MappedMap};

use super::Matcher;
use super::origin::{LineNumbers, Origin};
use crate::filter::bits_of;
use crate::input::Texts;
use crate::pipeline::both;
use crate::progress::Progress;
use crate::records::{EachFound, Forms, split};

/// The rate at which a line that is not in the list is compared with one that is. It only costs
/// time; a lower rate would cost space.
const CANDIDATE_RATE: f64 = 1.0 / 128.0;

/// Lines of the list, for each segment of the index, that are put in together: enough that a
/// segment is brought into cache for many of them, few enough to take little memory next to it.
const LINES_A_SEGMENT: usize = 512;

/// Fewer are not worth starting threads.
const LEAST_LINES_A_ROUND: usize = 1 << 16;

/// Fewer lines are hashed before a thread has started.
const MIN_LINES_A_THREAD: usize = 8192;

/// Lists, and for each distinct key its fingerprint and where its first record begins.
pub(crate) struct Exact {
    pub(super) texts: Texts,
    hasher: KeyHasher,
    index: Index,
    pub(super) forms: Forms,
    /// The numbers of the lists, in the order in which they are named, and of their lines.
    numbers: Option<(Vec<usize>, LineNumbers)>,
    /// The places of records that cannot be compared.
    unfit: Vec<u64>,
}

impl Exact {
    /// Indexes lists in one pass on up to `threads` threads, with little in memory but the index.
    pub(crate) fn build(
        texts: Texts,
        hasher: KeyHasher,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let mut index = Index::new(texts.most_records(), texts.len(), hasher)?;
        let (round, mut unfit) = (index.lines_a_round(), Vec::new());
        let is_same = |known, new| texts.are_equal(known, new);
        if texts.are_lines() {
            let mut lines = Vec::new();
            let mut put_in = |lines: &mut Vec<(u64, &[u8])>| {
                index.insert(&hash_all(hasher, lines, threads), threads, is_same)?;
                progress.advance(lines.iter().map(|(_, line)| line.len() + 1).sum());
                lines.clear();
                anyhow::Ok(())
            };
            for (base, list) in texts.lists() {
                let mut place = base;
                split(list, texts.separator(), |batch| {
                    for line in batch {
                        lines.push((place, *line));
                        place += line.len() as u64 + 1;
                    }
                    if lines.len() >= round { put_in(&mut lines) } else { Ok(()) }
                })?;
            }
            put_in(&mut lines)?;
        } else {
            let mut hashed = Vec::new();
            texts.read(|mut place, batch| {
                for (i, (record, key)) in batch.records.iter().zip(batch.keys).enumerate() {
                    if batch.is_fit(i) {
                        hashed.push((hasher.hash_bytes(key), place));
                    } else {
                        unfit.push(place);
                    }
                    place += record.len() as u64 + 1;
                    progress.advance(record.len() + 1);
                }
                if hashed.len() >= round {
                    index.insert(&hashed, threads, is_same)?;
                    hashed.clear();
                }
                Ok(())
            })?;
            index.insert(&hashed, threads, is_same)?;
        }
        Ok(Self { unfit, ..Self::of(texts, hasher, index) })
    }

    /// A list whose index is in a file.
    pub(super) fn kept(texts: Texts, map: MappedMap) -> Self {
        Self::of(texts, map.hasher(), Index { map: Map::Kept(map), unplaced: HashMap::new() })
    }

    fn of(texts: Texts, hasher: KeyHasher, index: Index) -> Self {
        let forms = texts.forms();
        Self { texts, hasher, index, forms, numbers: None, unfit: Vec::new() }
    }

    /// Makes it report where lines are, given the numbers of the lists among all.
    pub(crate) fn numbered(self, lists: Vec<usize>) -> Self {
        let lines = LineNumbers::of(&self.texts);
        Self { numbers: Some((lists, lines)), ..self }
    }

    /// The index, if all keys found a place in it.
    pub(super) fn whole_index(&self) -> Option<&CuckooMap> {
        match &self.index.map {
            Map::Built(map) if self.index.unplaced.is_empty() => Some(map),
            _ => None,
        }
    }

    /// The places of all distinct keys, each at its first occurrence, and of records without one.
    pub(super) fn first_places(&self) -> impl Iterator<Item = u64> {
        self.index.places().chain(self.unfit.iter().copied())
    }

    /// Calls `each` with the numbers of keys that are in, and the name of the list.
    pub(super) fn find_lists(&self, keys: &[&[u8]], each: &mut EachFound<'_>) {
        self.find_places(keys, |i, place| {
            each(i, self.texts.offset(place).map(|(list, _)| self.texts.name(list)));
        });
    }

    /// The name of a list other than this one that has a key.
    pub(super) fn find_other(&self, key: &[u8], list: usize) -> Option<String> {
        let mut other = None;
        self.find_places(&[key], |_, place| {
            let of = self.texts.offset(place).map(|(of, _)| of);
            other = other.or(of.filter(|&of| of != list));
        });
        Some(self.texts.name(other?).to_owned())
    }

    /// Calls `each` with the numbers of keys that are in, and where they are.
    pub(super) fn find_places(&self, keys: &[&[u8]], mut each: impl FnMut(usize, u64)) {
        let Self { texts, hasher, index, .. } = self;
        let hashes: Vec<u64> = keys.iter().map(|key| hasher.hash_bytes(key)).collect();
        let mut candidates = Vec::with_capacity(keys.len());
        index.all_candidates(&hashes, |i, place| candidates.push((i, place)));
        for (i, place) in candidates {
            if texts.is_at(place, keys[i]) {
                each(i, place);
            }
        }
    }
}

impl Matcher for Exact {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        self.find_places(lines, |i, _| found[i] = true);
        Ok(())
    }

    fn forms(&self) -> Vec<&Forms> {
        vec![&self.forms]
    }

    fn origin(&self, line: &[u8]) -> Option<Origin> {
        let (lists, numbers) = self.numbers.as_ref()?;
        let mut places = Vec::new();
        self.find_places(&[line], |_, place| places.push(place));
        let (list, offset) = self.texts.offset(places.into_iter().min()?)?;
        Some(Origin { list: lists[list], line: numbers.of_line(&self.texts, list, offset) })
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
        let each = hashed.iter_mut().zip(lines);
        return each
            .for_each(|(hashed, (place, line))| *hashed = (hasher.hash_bytes(line), *place));
    }
    let half = threads / 2;
    let middle = lines.len() / threads * half;
    let (first, rest) = hashed.split_at_mut(middle);
    both(
        || hash_into(first, hasher, &lines[..middle], half),
        || hash_into(rest, hasher, &lines[middle..], threads - half),
    );
}

/// From a line's hash to the offsets at which the line may begin.
struct Index {
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
    fn new(lines: u64, list_bytes: u64, hasher: KeyHasher) -> Result<Self> {
        let offset_bits = bits_of(list_bytes.saturating_sub(1)).max(1);
        // A twelfth of the slots stays free beyond what is needed: half of the time to build an
        // index goes into the last tenth of a full one.
        let map = CuckooMap::builder()
            .capacity(lines.max(1) + lines / 12)
            .fpr(CANDIDATE_RATE)
            .value_bits(offset_bits)
            .with_hasher(hasher)
            .build()?;
        Ok(Self { map: Map::Built(map), unplaced: HashMap::new() })
    }

    /// Lines to put in at a time.
    fn lines_a_round(&self) -> usize {
        let Map::Built(map) = &self.map else { return 1 };
        (map.geometry().segments as usize * LINES_A_SEGMENT).max(LEAST_LINES_A_ROUND)
    }

    /// Puts in the lines that are not in, by pairs of hash and offset.
    fn insert(
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

    fn all_candidates(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        match &self.map {
            Map::Built(map) => map.get_hashes(hashes, &mut each),
            Map::Kept(map) => map.get_hashes(hashes, &mut each),
        }
        if !self.unplaced.is_empty() {
            for (i, hash) in hashes.iter().enumerate() {
                let offsets = self.unplaced.get(hash).into_iter().flatten();
                offsets.for_each(|&offset| each(i, offset));
            }
        }
    }

    /// All places that are in.
    fn places(&self) -> impl Iterator<Item = u64> {
        let placed: Box<dyn Iterator<Item = u64>> = match &self.map {
            Map::Built(map) => Box::new(map.entries().map(|entry| entry.value)),
            Map::Kept(map) => Box::new(map.entries().map(|entry| entry.value)),
        };
        placed.chain(self.unplaced.values().flatten().copied())
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
