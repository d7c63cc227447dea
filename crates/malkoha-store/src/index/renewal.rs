//! Fingerprints renewed from the log, so that segments can split at any number of keys.
//!
//! A split takes a bit of each fingerprint of its segment, and the keys that came first have the
//! fewest left: six splits later their shard could not split any more. Before that, whoever has the
//! records inserts those keys anew. They are a thirty-second of a shard's keys, each time that
//! these have doubled.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Index, SHARDS, place};
use crate::error::Result;

/// Splits for which each key of a shard should have bits left.
const AHEAD: u32 = 2;

impl Index {
    /// The shards in which segments can soon not split any more, except those where a renewal was
    /// in vain, because records cannot be read.
    pub(crate) fn worn(&self) -> impl Iterator<Item = usize> {
        (0..SHARDS).filter(|&number| {
            let shard = self.shards[number].read();
            let left = shard.splits_left();
            // What a snapshot shares would be copied first, so that waits as long as it can.
            let is_alone = left == 0 || Arc::strong_count(&shard) == 1;
            left < AHEAD.min(self.settled[number].load(Ordering::Relaxed)) && is_alone
        })
    }

    /// The locations of the keys of a segment that are to be renewed; `None` behind the last one.
    pub(crate) fn worn_locations(&self, number: usize, segment: usize) -> Option<Vec<u64>> {
        let shard = self.shards[number].read();
        (segment < shard.segments()).then(|| shard.values_short_of(AHEAD, segment))
    }

    /// Inserts keys of a shard anew, given their hashes with the locations that they had. Skips
    /// those that have others now. Meanwhile no file may be removed, or a location could be that of
    /// another key.
    ///
    /// After an error the index lacks a key. None is known that could cause one: a shard refuses
    /// only locations that it cannot have, and these were in it.
    pub(crate) fn renew(&self, number: usize, mut keys: Vec<(u64, u64)>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let mut locked = self.shard_mut(number);
        let shard = Arc::make_mut(&mut locked.shard);
        // All are removed before the first comes back: what finds others of its fingerprint would
        // take that, however short it is.
        keys.retain(|&(hash, location)| shard.remove_hash(place(hash).1, location));
        // If one is refused, the others are not to be missing with it.
        let insert = |(hash, location): (u64, u64)| shard.insert_hash(place(hash).1, location);
        let refused = keys.into_iter().map(insert).filter_map(Result::err).last();
        refused.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Notes that a shard was renewed as far as it can be.
    pub(crate) fn settle(&self, number: usize) {
        let left = self.shards[number].read().splits_left();
        self.settled[number].store(left, Ordering::Relaxed);
    }
}
