//! Inserts of many keys in their order. In a table that is larger than the caches, their misses
//! overlap.
//!
//! A key's buckets are requested long before it is inserted. Later, when they have come and turn
//! out to be full, the buckets are requested to which their occupants can move.

use super::codec::with_codec;
use super::directory::Target;
use super::segment::Segment;
use super::table::Growing;
use crate::table::batch::{IN_CACHE_BYTES, value_at};

/// How many keys after the request of its buckets a key is inserted, at most.
const AHEAD: usize = 32;

impl Growing {
    /// Tries to [insert](Self::insert_new) each hash; then calls `each` with its number, where it
    /// belongs, and whether that was enough.
    pub(super) fn insert_stream(
        &mut self,
        hashes: &[u64],
        values: &[u64],
        mut each: impl FnMut(&mut Self, usize, &Target, bool),
    ) {
        let mut insert = |table: &mut Self, number: usize, target: &Target| {
            let inserted = table.insert_new(target, value_at(values, number));
            table.len += u64::from(inserted);
            each(table, number, target, inserted);
        };
        if self.is_cached() {
            return (0..hashes.len()).for_each(|number| {
                insert(self, number, &self.target(hashes[number]));
            });
        }
        let Some(&first) = hashes.first() else { return };
        // All requests of a short batch come before its first insert.
        let ahead = hashes.len().min(AHEAD);
        // How many keys after the request of its buckets they are looked at.
        let look = ahead / 2;
        // The target of a key is valid as long as no segment changes its form or its address.
        let mut ring = [(self.target(first), self.version); AHEAD];
        for turn in 0..hashes.len() + ahead {
            if let Some(number) = turn.checked_sub(ahead) {
                let (mut target, version) = ring[number % AHEAD];
                if version != self.version {
                    target = self.target(hashes[number]);
                }
                insert(self, number, &target);
            }
            if let Some(&hash) = hashes.get(turn) {
                let target = self.target(hash);
                self.request(&target);
                ring[turn % AHEAD] = (target, self.version);
            }
            if let Some(number) = turn.checked_sub(look).filter(|&number| number < hashes.len()) {
                let (target, version) = &ring[number % AHEAD];
                if *version == self.version {
                    self.request_exits(target);
                }
            }
        }
    }

    /// Whether the table is mostly in cache, with all partitions of a shared one.
    fn is_cached(&self) -> bool {
        let (used, segments) = (self.segments.used(), self.segments.len() as u64);
        let all = self.directory.others() as u64 + segments;
        used / segments * all <= IN_CACHE_BYTES as u64
    }

    /// Requests the lines of the buckets to which the occupants of full ones can move.
    #[inline(always)]
    fn request_exits(&self, target: &Target) {
        let bytes = self.segments.from(target.entry.address);
        with_codec!(target.any_codec, codec => {
            Segment::new(codec, target.entry.word.form()).request_exits(bytes, target.spot.buckets);
        });
    }
}
