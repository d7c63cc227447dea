//! Lookups of a stream of keys, in blocks whose cache misses overlap.

use alloc::vec::IntoIter;
use alloc::vec::Vec;
use core::fmt;
use core::iter::{FusedIterator, Zip};

use super::{Content, Filter, Keys};
use crate::key::Key;
use crate::table::traits::{CHUNK, Lookup};

/// The keys of an iterator, each with whether the filter has it: made by
/// [`Filter::lookups`].
#[derive(Clone)]
#[must_use = "iterators are lazy"]
pub struct Lookups<'a, I: Iterator, T, C = Keys> {
    filter: &'a Filter<T, C>,
    keys: I,
    ready: Zip<IntoIter<I::Item>, IntoIter<bool>>,
}

impl<T: Lookup, C: Content> Filter<T, C> {
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
    pub fn lookups<I>(&self, keys: I) -> Lookups<'_, I::IntoIter, T, C>
    where
        I: IntoIterator<Item: Key>,
    {
        let ready = Vec::new().into_iter().zip(Vec::new());
        Lookups { filter: self, keys: keys.into_iter(), ready }
    }
}

impl<I: Iterator<Item: Key>, T: Lookup, C: Content> Iterator for Lookups<'_, I, T, C> {
    type Item = (I::Item, bool);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(answer) = self.ready.next() {
            return Some(answer);
        }
        let block: Vec<I::Item> = self.keys.by_ref().take(CHUNK).collect();
        let found = self.filter.contains_many(&block);
        self.ready = block.into_iter().zip(found);
        self.ready.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let (at_least, at_most) = self.keys.size_hint();
        let ready = self.ready.len();
        (at_least.saturating_add(ready), at_most.and_then(|most| most.checked_add(ready)))
    }
}

impl<I, T: Lookup, C: Content> FusedIterator for Lookups<'_, I, T, C> where
    I: FusedIterator<Item: Key>
{
}

impl<I: Iterator, T, C> fmt::Debug for Lookups<'_, I, T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").field("ready", &self.ready.len()).finish_non_exhaustive()
    }
}
