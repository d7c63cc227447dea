//! Screening by the smaller side: the input is indexed, and a long list is read past it. Each line
//! of the input that the list has is marked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use malkoha::KeyHasher;

use super::{Exact, Matcher, Sieve};
use crate::input::{Block, Inputs, List, Texts, split};
use crate::keys::Keys;
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;

/// How many times longer than the input a list must be.
const TIMES: u64 = 2;

/// The longest input that is indexed for a list of unknown length, in bytes.
pub(crate) const MOST_FOR_UNKNOWN: u64 = 1 << 26;

/// Distinct keys of an input. Some are marked.
pub(crate) struct Marked {
    keys: Exact,
    /// A bit for each place where a key may begin.
    marks: Vec<AtomicU64>,
    sieve: Sieve,
}

/// The texts of `inputs`, if all are available and short compared with the lists.
pub(crate) fn smaller_than(lists: &Inputs, inputs: &Inputs) -> Option<Texts> {
    let texts = Texts::of(inputs)?;
    let is_smaller = match lists.total_bytes() {
        Some(bytes) => texts.len().saturating_mul(TIMES) <= bytes,
        None => texts.len() <= MOST_FOR_UNKNOWN,
    };
    is_smaller.then_some(texts)
}

impl Marked {
    /// Marks the keys of `input` that are lines of `lists`, spelled as keys are.
    pub(crate) fn of(
        input: Texts,
        lists: &Inputs,
        keys: &Keys,
        hasher: KeyHasher,
        threads: usize,
        progress: &Progress,
    ) -> Result<Arc<Self>> {
        let texts = if keys.are_lines() { input } else { texts_of_keys(&input, keys)? };
        let exact = Exact::build(texts, hasher, threads, &Progress::hidden())?;
        let marked = Arc::new(Self::nothing_of(exact)?);
        marked.mark_lines(lists, keys.of_lists(), threads, progress)?;
        Ok(marked)
    }

    /// Nothing is marked yet.
    pub(super) fn nothing_of(keys: Exact) -> Result<Self> {
        let words = words(keys.texts())?;
        let marks = std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let sieve = Sieve::of(&keys);
        Ok(Self { keys, marks, sieve })
    }

    /// Marks keys that are lines of `lists`.
    pub(super) fn mark_lines(
        self: &Arc<Self>,
        lists: &Inputs,
        spelling: Keys,
        threads: usize,
        progress: &Progress,
    ) -> Result<()> {
        let (separator, marking) = (lists.separator(), Arc::clone(self));
        let work = move |block: &Block, _: &mut ()| {
            split(block.lines(), separator, |batch| {
                spelling.with(batch, |lines| {
                    let kept = lines.iter().copied().filter(|line| marking.sieve.keeps(line));
                    let kept: Vec<&[u8]> = kept.collect();
                    marking.keys.find_places(&kept, |_, place| marking.mark(place));
                    Ok(())
                })
            })
        };
        in_order(lists, progress, threads, work, Nothing)?;
        Ok(())
    }

    pub(super) fn texts(&self) -> &Texts {
        self.keys.texts()
    }

    /// The marks: a bit for each place.
    pub(super) fn marks(&self) -> &[AtomicU64] {
        &self.marks
    }

    fn mark(&self, place: u64) {
        let (word, bit) = at(place);
        // If lines are repeated, it is usually marked already.
        if self.marks[word].load(Ordering::Relaxed) & bit == 0 {
            self.marks[word].fetch_or(bit, Ordering::Relaxed);
        }
    }
}

/// Words that have a bit for each place.
pub(super) fn words(texts: &Texts) -> Result<usize> {
    Ok(usize::try_from(texts.len())? / 64 + 1)
}

/// The word that has the bit of a place, and the bit.
#[inline]
pub(super) fn at(place: u64) -> (usize, u64) {
    ((place / 64) as usize, 1 << (place % 64))
}

impl Matcher for Arc<Marked> {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        self.keys.find_places(lines, |i, place| {
            let (word, bit) = at(place);
            found[i] |= self.marks[word].load(Ordering::Relaxed) & bit != 0;
        });
        Ok(())
    }
}

/// The keys of an input, each in a line of its own.
fn texts_of_keys(input: &Texts, keys: &Keys) -> Result<Texts> {
    let (keys, separator) = (keys.clone().uncounted(), input.separator());
    let mut text = Vec::new();
    for (_, list) in input.lists() {
        split(list, separator, |batch| {
            keys.with(batch, |keys| {
                // No line of a list is equal to a key that has the end of a line in it.
                for key in keys.iter().filter(|key| !key.contains(&separator)) {
                    text.extend_from_slice(key);
                    text.push(separator);
                }
                Ok(())
            })
        })?;
    }
    Ok(Texts::new(vec![List::Read(text)], separator))
}

/// Blocks have no results.
struct Nothing;

impl Sink for Nothing {
    type Made = ();

    fn take(&mut self, (): &mut ()) -> Result<()> {
        Ok(())
    }
}
