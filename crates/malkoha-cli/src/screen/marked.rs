//! Screening by the smaller side: the input is indexed, and a long list is read past it. Each
//! record of the input that the list has is marked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use malkoha::KeyHasher;

use super::{Exact, Matcher, Sieve};
use crate::input::{Block, Side, Texts};
use crate::pipeline::{Sink, in_order};
use crate::progress::Progress;
use crate::records::EachFound;

/// Distinct keys of an input. Some are marked.
pub(crate) struct Marked {
    pub(super) keys: Exact,
    /// A bit for each place where a record may begin.
    pub(super) marks: Vec<AtomicU64>,
    sieve: Sieve,
}

impl Marked {
    /// Marks the keys of `input` that `lists` have.
    pub(crate) fn of(
        input: Texts,
        lists: &Side,
        hasher: KeyHasher,
        threads: usize,
        progress: &Progress,
    ) -> Result<Arc<Self>> {
        let exact = Exact::build(input, hasher, threads, &Progress::hidden())?;
        let marked = Arc::new(Self::nothing_of(exact)?);
        marked.mark(lists, threads, progress)?;
        Ok(marked)
    }

    /// Nothing is marked yet.
    pub(super) fn nothing_of(keys: Exact) -> Result<Self> {
        let words = words(&keys.texts)?;
        let marks = std::iter::repeat_with(AtomicU64::default).take(words).collect();
        let sieve = Sieve::of(&keys)?;
        Ok(Self { keys, marks, sieve })
    }

    /// Marks keys that `lists` have.
    pub(super) fn mark(
        self: &Arc<Self>,
        lists: &Side,
        threads: usize,
        progress: &Progress,
    ) -> Result<()> {
        let (marking, keys) = (Arc::clone(self), lists.keys.clone());
        let work = move |block: &Block, _: &mut ()| {
            keys.read(block.source(), |batch| {
                let fit = batch.fit().map(|(_, key)| key);
                let kept: Vec<&[u8]> = fit.filter(|key| marking.sieve.keeps(key)).collect();
                let mut unequal = batch.len();
                marking.keys.find_places(&kept, |_, place| {
                    marking.mark_place(place);
                    unequal = unequal.saturating_sub(1);
                });
                let is_unequal = |i: usize| {
                    let mut is_in = false;
                    marking.keys.find_places(&[batch.keys[i]], |_, _| is_in = true);
                    !is_in
                };
                let find = |forms: &[&[u8]], each: &mut EachFound<'_>| {
                    marking.keys.find_lists(forms, each);
                    Ok(())
                };
                batch.prove(unequal, is_unequal, &[&marking.keys.forms], &find)
            })
        };
        in_order(&lists.inputs, progress, threads, work, Nothing)?;
        lists.settle()
    }

    /// Proves how records differ from those of other files among these.
    pub(super) fn prove_among_files(&self) {
        self.keys.forms.prove(|form, file| self.keys.find_other(form, file));
    }

    fn mark_place(&self, place: u64) {
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
    fn find(&self, keys: &[&[u8]], found: &mut [bool]) -> Result<()> {
        self.keys.find_places(keys, |i, place| {
            let (word, bit) = at(place);
            found[i] |= self.marks[word].load(Ordering::Relaxed) & bit != 0;
        });
        Ok(())
    }
}

/// Blocks have no results.
struct Nothing;

impl Sink for Nothing {
    type Made = ();

    fn take(&mut self, (): &mut ()) -> Result<()> {
        Ok(())
    }
}
