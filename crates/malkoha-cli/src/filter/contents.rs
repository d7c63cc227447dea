//! Operations of commands on sets of lines, and on maps from lines to values.

use std::hash;

use anyhow::{Result, anyhow};
use malkoha::tables::{Candidates, Change, Stored};
use malkoha::{BatchError, Content, Filter, KeyHasher, Keys, Values};

/// A table that commands read as a whole, change and write.
pub(crate) trait Table: Candidates + Change + Stored + Send + 'static {}

impl<T: Candidates + Change + Stored + Send + 'static> Table for T {}

/// The meaning of a line in a set, [`Keys`], and in a map, [`Values`].
pub(crate) trait Lines: Content + Sized + Send + Sync + 'static {
    /// The item of a line of the input.
    type Item: Item + hash::Hash;
    /// The users' name for these.
    const ITEMS: &'static str;
    const HAS_VALUES: bool;

    /// Keeps the items that are not in and must be put in to be found.
    fn retain_new<T: Table>(filter: &Filter<T, Self>, items: &mut Vec<Self::Item>);

    fn insert<T: Table>(
        filter: &mut Filter<T, Self>,
        items: &[Self::Item],
    ) -> Result<(), BatchError>;

    /// Puts what is not in into a set, and returns which items these are.
    fn insert_new<T: Table>(
        filter: &mut Filter<T, Self>,
        hashes: &[u64],
        new: &mut [bool],
    ) -> Result<()>;

    /// Removes items, one copy each.
    fn remove<T: Table>(filter: &mut Filter<T, Self>, items: &[Self::Item]);

    /// The slots that sorted items need: copies need none, and a key has `most` for its values.
    fn room(items: &[Self::Item], most: u64) -> u64;

    /// Candidate values, each with a number of copies; in a set there are none.
    fn candidates<T: Candidates>(filter: &Filter<T, Self>, hash: u64) -> Vec<(u64, u64)>;
}

/// Puts all items in; after an error some are in.
pub(crate) fn insert<T: Table, C: Lines>(
    filter: &mut Filter<T, C>,
    items: &[C::Item],
) -> Result<()> {
    C::insert(filter, items).map_err(|BatchError { refused, error, .. }| {
        anyhow!("{} of {} {} found no place; {error}", refused.len(), items.len(), C::ITEMS)
    })
}

impl Lines for Keys {
    type Item = u64;
    const ITEMS: &'static str = "lines";
    const HAS_VALUES: bool = false;

    fn retain_new<T: Table>(filter: &Filter<T>, hashes: &mut Vec<u64>) {
        let mut found = vec![false; hashes.len()];
        filter.contains_hashes(hashes, &mut found);
        let mut found = found.into_iter();
        // A false positive of a small growable filter may disappear when it has grown.
        hashes.retain(|&hash| found.next() == Some(false) || !filter.has_copy_hash(hash));
    }

    fn insert<T: Table>(filter: &mut Filter<T>, hashes: &[u64]) -> Result<(), BatchError> {
        filter.insert_hashes(hashes)
    }

    fn insert_new<T: Table>(
        filter: &mut Filter<T>,
        hashes: &[u64],
        new: &mut [bool],
    ) -> Result<()> {
        filter.insert_unique_hashes(hashes, new).map_err(|refusal| refusal.error)?;
        Ok(())
    }

    fn remove<T: Table>(filter: &mut Filter<T>, hashes: &[u64]) {
        filter.remove_hashes(hashes, &mut vec![false; hashes.len()]);
    }

    fn room(hashes: &[u64], _: u64) -> u64 {
        hashes.chunk_by(|a, b| a == b).count() as u64
    }

    fn candidates<T: Candidates>(_: &Filter<T>, _: u64) -> Vec<(u64, u64)> {
        Vec::new()
    }
}

impl Lines for Values {
    type Item = (u64, u64);
    const ITEMS: &'static str = "pairs";
    const HAS_VALUES: bool = true;

    fn retain_new<T: Table>(map: &Filter<T, Self>, pairs: &mut Vec<(u64, u64)>) {
        let hashes: Vec<u64> = pairs.iter().map(|&(hash, _)| hash).collect();
        let mut new = vec![true; pairs.len()];
        map.get_hashes(&hashes, |i, value| new[i] = new[i] && value != pairs[i].1);
        let mut new = new.into_iter();
        pairs.retain(|_| new.next() == Some(true));
    }

    fn insert<T: Table>(map: &mut Filter<T, Self>, pairs: &[(u64, u64)]) -> Result<(), BatchError> {
        map.insert_hashes(pairs)
    }

    fn insert_new<T: Table>(_: &mut Filter<T, Self>, _: &[u64], _: &mut [bool]) -> Result<()> {
        Err(anyhow!("it holds a map, and lines have no values: see 'malkoha add --help'"))
    }

    fn remove<T: Table>(map: &mut Filter<T, Self>, pairs: &[(u64, u64)]) {
        for &(hash, value) in pairs {
            map.remove_hash(hash, value);
        }
    }

    fn room(pairs: &[(u64, u64)], most: u64) -> u64 {
        let of_key = |pairs: &[(u64, u64)]| pairs.chunk_by(|a, b| a == b).count() as u64;
        pairs.chunk_by(|a, b| a.0 == b.0).map(|pairs| of_key(pairs).min(most)).sum()
    }

    fn candidates<T: Candidates>(map: &Filter<T, Self>, hash: u64) -> Vec<(u64, u64)> {
        let mut candidates = Vec::new();
        map.for_each_candidate(hash, |value, copies| candidates.push((value, copies)));
        candidates
    }
}

/// The hash of a line, or those of keys with their values.
pub(crate) trait Item: Copy + Default + Ord + Send + Sync + 'static {
    /// Numbers of 64 bits that it is.
    const WORDS: usize;

    /// The item of a line, with values of at most this many bits.
    ///
    /// # Errors
    ///
    /// The fault of a line and the remedy, as a message goes on behind the line's number.
    fn of(line: &[u8], hasher: KeyHasher, value_bits: u32) -> Result<Self>;

    /// The hash of the line, or of its key.
    fn hash(self) -> u64;

    /// Its numbers, the hash first.
    fn words(self) -> impl Iterator<Item = u64>;

    /// Of [`WORDS`](Self::WORDS) numbers.
    fn of_words(words: &[u64]) -> Self;
}

impl Item for u64 {
    const WORDS: usize = 1;

    fn of(line: &[u8], hasher: KeyHasher, _: u32) -> Result<Self> {
        Ok(hasher.hash_bytes(line))
    }

    fn hash(self) -> u64 {
        self
    }

    fn words(self) -> impl Iterator<Item = u64> {
        [self].into_iter()
    }

    fn of_words(words: &[u64]) -> Self {
        words[0]
    }
}
