//! Batches of hashes, and how they are inserted: in order, or in sorted rounds.

use alloc::vec::Vec;
use core::ops::Range;

use crate::table::rounds::ThreadBuffer;
use crate::table::traits::{CHUNK, Fill};
use crate::threads::side_by_side;

/// Where the hashes of a batch come from.
pub trait Source {
    fn len(&self) -> usize;
    /// Calls `each(position of the first, hashes)` for successive parts of a range, whose positions
    /// begin at 0. Parts of `at_once`, if they are to be hashed.
    fn hashes(&self, range: Range<usize>, at_once: usize, each: impl FnMut(usize, &[u64]));
    /// The hash at a position.
    fn hash(&self, position: usize) -> Option<u64>;
}

/// Hashes as they are.
pub(crate) struct Hashes<'a>(pub(crate) &'a [u64]);

impl Source for Hashes<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn hashes(&self, range: Range<usize>, _: usize, mut each: impl FnMut(usize, &[u64])) {
        each(0, &self.0[range]);
    }

    fn hash(&self, position: usize) -> Option<u64> {
        self.0.get(position).copied()
    }
}

/// Inserts a batch on this thread; returns the positions of those that found no place.
pub(crate) fn insert(table: &mut impl Fill, source: &impl Source) -> Vec<usize> {
    insert_sorted(table, source, 1, |buffers, range| sort(source, range, &mut buffers[0]))
}

/// [`insert`] on up to this many threads; the table does not depend on their number.
pub(crate) fn insert_on_threads(
    table: &mut impl Fill,
    source: &(impl Source + Sync),
    threads: usize,
) -> Vec<usize> {
    insert_sorted(table, source, threads, |buffers, range| {
        let each = range.len().div_ceil(buffers.len()).max(CHUNK);
        let parts = range.clone().step_by(each).zip(buffers);
        let parts = parts.map(|(start, buffer)| (start..range.end.min(start + each), buffer));
        side_by_side(parts.collect(), |(range, buffer)| sort(source, range, buffer));
    })
}

/// Inserts hashes as they arrive, until one finds no place; returns whether all are in. This many
/// are expected.
pub(crate) fn insert_stream(
    table: &mut impl Fill,
    hashes: impl Iterator<Item = u64>,
    expected: usize,
) -> bool {
    let (mut hashes, mut are_in) = (hashes, true);
    let mut rounds = table.rounds(expected, 1);
    let (mut chunk, mut sorted, mut left) = (Vec::with_capacity(CHUNK), 0, expected);
    loop {
        chunk.clear();
        chunk.extend(hashes.by_ref().take(CHUNK));
        // It is not polled again: some iterators would start over.
        let is_end = chunk.len() < CHUNK;
        left = left.saturating_sub(chunk.len());
        match &mut rounds {
            None => are_in &= table.insert_batch(&chunk, &[]).is_empty(),
            Some(round) => {
                round.buffers()[0].push(&chunk);
                sorted += chunk.len();
                if is_end || sorted >= round.hashes() {
                    are_in &= table.insert_round(round).is_empty();
                    sorted = 0;
                    if table.has_outgrown(round) {
                        rounds = table.rounds(left, 1);
                    }
                }
            }
        }
        if is_end || !are_in {
            return are_in;
        }
    }
}

fn sort(source: &impl Source, range: Range<usize>, buffer: &mut ThreadBuffer) {
    source.hashes(range, CHUNK, |_, hashes| buffer.push(hashes));
}

fn insert_sorted<F: Fill>(
    table: &mut F,
    source: &impl Source,
    threads: usize,
    sort: impl Fn(&mut [ThreadBuffer], Range<usize>),
) -> Vec<usize> {
    let (len, mut start, mut refused) = (source.len(), 0, Vec::new());
    table.make_room(len, &mut |number| source.hash(number));
    let mut rounds = table.rounds(len, threads);
    while let Some(round) = &mut rounds
        && start < len
    {
        let range = start..len.min(start + round.hashes());
        start = range.end;
        sort(round.buffers(), range.clone());
        let hashes = table.insert_round(round);
        locate(source, range, hashes, &mut refused);
        if table.has_outgrown(round) {
            rounds = table.rounds(len - start, threads);
        }
    }
    source.hashes(start..len, F::UNSORTED, |first, hashes| {
        refused.extend(table.insert_batch(hashes, &[]).into_iter().map(|i| start + first + i));
    });
    refused
}

/// Passes all hashes in parts to `each`, with the part of `new` for them. Returns the positions
/// that `each` returns, as those of the whole.
pub(crate) fn in_parts(
    source: &impl Source,
    at_once: usize,
    new: &mut [bool],
    mut each: impl FnMut(&[u64], &mut [bool]) -> Vec<usize>,
) -> Vec<usize> {
    let mut refused = Vec::new();
    source.hashes(0..source.len(), at_once, |start, hashes| {
        let part = each(hashes, &mut new[start..][..hashes.len()]);
        refused.extend(part.into_iter().map(|i| start + i));
    });
    refused
}

/// Finds the positions of refused hashes, one for each refusal.
fn locate(
    source: &impl Source,
    range: Range<usize>,
    mut hashes: Vec<u64>,
    refused: &mut Vec<usize>,
) {
    if hashes.is_empty() {
        return;
    }
    hashes.sort_unstable();
    // How many equal hashes have been found before it.
    let mut found = alloc::vec![0; hashes.len()];
    let start = range.start;
    source.hashes(range, CHUNK, |first, chunk| {
        for (i, hash) in chunk.iter().enumerate() {
            let at = hashes.partition_point(|refused| refused < hash);
            if let Some(found) = found.get_mut(at)
                && hashes.get(at + *found) == Some(hash)
            {
                *found += 1;
                refused.push(start + first + i);
            }
        }
    });
}
