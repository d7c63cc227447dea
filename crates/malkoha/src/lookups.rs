//! Lookups of a stream of keys, in blocks whose cache misses overlap.

use std::iter::{FusedIterator, Zip};
use std::ops::Deref;
use std::vec::IntoIter;

use crate::filter::CuckooFilter;
use crate::key::Key;

/// Keys taken from the iterator at a time.
const BLOCK: usize = 1024;

/// The keys of an iterator, each with whether the filter has it: made by
/// [`CuckooFilter::lookups`].
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy"]
pub struct Lookups<'a, I: Iterator, B> {
    filter: &'a CuckooFilter<B>,
    keys: I,
    answered: Zip<IntoIter<I::Item>, IntoIter<bool>>,
}

impl<B: Deref<Target = [u8]>> CuckooFilter<B> {
    /// Looks up each key of an iterator, in order: [`contains_many`](Self::contains_many) for keys
    /// that are not in a slice. Takes up to 1024 keys ahead.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let known = CuckooFilter::try_from_iter(["cuckoo", "magpie"], 0.001)?;
    /// let text = "magpie wren cuckoo";
    /// let new: Vec<&str> = known
    ///     .lookups(text.split(' '))
    ///     .filter_map(|(word, found)| (!found).then_some(word))
    ///     .collect();
    /// assert_eq!(new, ["wren"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookups<I>(&self, keys: I) -> Lookups<'_, I::IntoIter, B>
    where
        I: IntoIterator<Item: Key>,
    {
        let answered = Vec::new().into_iter().zip(Vec::new());
        Lookups { filter: self, keys: keys.into_iter(), answered }
    }
}

impl<I: Iterator<Item: Key>, B: Deref<Target = [u8]>> Iterator for Lookups<'_, I, B> {
    type Item = (I::Item, bool);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(answer) = self.answered.next() {
            return Some(answer);
        }
        let block: Vec<I::Item> = self.keys.by_ref().take(BLOCK).collect();
        let found = self.filter.contains_many(&block);
        self.answered = block.into_iter().zip(found);
        self.answered.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (at_least, at_most) = self.keys.size_hint();
        let ready = self.answered.len();
        (at_least.saturating_add(ready), at_most.and_then(|most| most.checked_add(ready)))
    }
}

impl<I, B> FusedIterator for Lookups<'_, I, B>
where
    I: FusedIterator<Item: Key>,
    B: Deref<Target = [u8]>,
{
}
