//! Fingerprints renewed from the log, so that segments can split at any number of keys.
//!
//! A split takes a bit of each fingerprint of its segment, and the oldest keys have the fewest
//! left. After six splits their part could not split any more. Before that, the store reads their
//! records and inserts them again: a thirty-second of a part's keys, each time that these have
//! doubled.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Index, PARTS, place};
use crate::error::Result;

/// Splits for which each key of a part should have bits left.
const AHEAD: u32 = 2;

impl Index {
    /// The parts whose segments can soon not split any more, except those in which a renewal did
    /// not help, because records cannot be read.
    pub(crate) fn exhausted(&self) -> impl Iterator<Item = usize> {
        (0..PARTS).filter(|&number| {
            let part = self.parts[number].read();
            let left = part.splits_left();
            // A part that a snapshot shares would be copied first, so it waits as long as it can.
            let is_alone = left == 0 || Arc::strong_count(&part) == 1;
            left < AHEAD.min(self.settled[number].load(Ordering::Relaxed)) && is_alone
        })
    }

    /// The locations of the keys of a segment that must be renewed; `None` behind the last one.
    pub(crate) fn exhausted_locations(&self, number: usize, segment: usize) -> Option<Vec<u64>> {
        let part = self.parts[number].read();
        (segment < part.segments()).then(|| part.values_short_of(AHEAD, segment))
    }

    /// Inserts keys of a part again, given their hashes and the locations that they had. Skips
    /// those that have other locations now. Meanwhile no file must be removed, because another key
    /// could get the location.
    ///
    /// After an error the index lacks a key. No cause is known: a part refuses only locations that
    /// are too long, and these were in it.
    pub(crate) fn renew(&self, number: usize, mut keys: Vec<(u64, u64)>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let mut locked = self.part_mut(number);
        let part = Arc::make_mut(&mut locked.part);
        // All are removed before the first is inserted: a key that meets others of its fingerprint
        // would share it, however short it is.
        keys.retain(|&(hash, location)| part.remove_hash(place(hash).1, location));
        // If one is refused, the others must not be missing too.
        let insert = |(hash, location): (u64, u64)| part.insert_hash(place(hash).1, location);
        let refused = keys.into_iter().map(insert).filter_map(Result::err).last();
        refused.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Notes that a part was renewed as far as it can be.
    pub(crate) fn settle(&self, number: usize) {
        let left = self.parts[number].read().splits_left();
        self.settled[number].store(left, Ordering::Relaxed);
    }
}
