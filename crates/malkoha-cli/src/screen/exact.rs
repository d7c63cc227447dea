//! Lines that are in a list, exactly: fingerprints find the place, and the list confirms it.

use anyhow::Result;
use malkoha::KeyHasher;
use memchr::memchr_iter;

use super::index::Index;
use super::{Matcher, Origin};
use crate::input::Texts;
use crate::pipeline::both;
use crate::progress::Progress;
use crate::records::{Forms, split};

/// Fewer lines are hashed before a thread has started.
const MIN_LINES_A_THREAD: usize = 8192;

/// Lists, and for each distinct key its fingerprint and where its first record begins.
pub(crate) struct Exact {
    texts: Texts,
    hasher: KeyHasher,
    index: Index,
    forms: Forms,
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
        let round = index.lines_a_round();
        let is_same = |known, new| texts.are_equal(known, new);
        let mut unfit = Vec::new();
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
                let keys = batch.records.iter().zip(batch.keys).zip(batch.fits());
                for ((record, key), fits) in keys {
                    if fits {
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

    /// Lists that have been indexed.
    pub(super) fn of(texts: Texts, hasher: KeyHasher, index: Index) -> Self {
        let forms = texts.forms();
        Self { texts, hasher, index, forms, numbers: None, unfit: Vec::new() }
    }

    /// Makes it report where lines are, given the numbers of the lists among all.
    pub(crate) fn numbered(self, lists: Vec<usize>) -> Self {
        let lines = LineNumbers::of(&self.texts);
        Self { numbers: Some((lists, lines)), ..self }
    }

    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// The places of all distinct keys, each at its first occurrence, and of records without one.
    pub(super) fn first_places(&self) -> impl Iterator<Item = u64> {
        self.index.places().chain(self.unfit.iter().copied())
    }

    pub(super) fn forms(&self) -> &Forms {
        &self.forms
    }

    /// The number of the first key that is in one of these lists, and the name of that list.
    pub(super) fn find_list(
        &self,
        keys: &[&[u8]],
        is_meant: impl Fn(usize) -> bool,
    ) -> Option<(usize, Option<String>)> {
        let mut found = Vec::new();
        self.find_places(keys, |i, place| {
            let list = self.texts.offset(place).map(|(list, _)| list);
            found.extend(list.filter(|&list| is_meant(list)).map(|list| (i, list)));
        });
        let (i, list) = found.into_iter().min()?;
        Some((i, Some(self.texts.name(list).to_owned())))
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
        let mut first = None;
        self.find_places(&[line], |_, place| {
            first = Some(first.map_or(place, |at: u64| at.min(place)))
        });
        let (list, offset) = self.texts.offset(first?)?;
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
        for (hashed, (place, line)) in hashed.iter_mut().zip(lines) {
            *hashed = (hasher.hash_bytes(line), *place);
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

/// Bytes between places whose line is known.
const STEP: usize = 4096;

/// How many lines of each list lie before some places.
struct LineNumbers(Vec<Vec<u64>>);

impl LineNumbers {
    fn of(texts: &Texts) -> Self {
        let separator = texts.separator();
        let of_list = |list: &[u8]| {
            let mut before = 0;
            let counted = list.chunks(STEP).map(|chunk| {
                let start = before;
                before += memchr_iter(separator, chunk).count() as u64;
                start
            });
            counted.collect()
        };
        Self(texts.lists().map(|(_, list)| of_list(list)).collect())
    }

    /// The number, from 1, of the line that begins at this distance from the beginning of a list.
    fn of_line(&self, texts: &Texts, list: usize, offset: u64) -> u64 {
        let Some((_, text)) = texts.lists().nth(list) else { return 0 };
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(text.len());
        // A line may begin at the end, but no step does.
        let step = (offset / STEP).min(self.0[list].len().saturating_sub(1));
        let before = self.0[list].get(step).copied().unwrap_or(0);
        before + memchr_iter(texts.separator(), &text[step * STEP..offset]).count() as u64 + 1
    }
}
