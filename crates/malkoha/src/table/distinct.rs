//! Filling a map with the first value of each key, segment by segment, on several threads.

use alloc::vec;
use alloc::vec::Vec;

use crate::addressing::{index, scale};
use crate::layout::Search;
use crate::layout::copies::{self, Overflow};
use crate::spill::{Spill, SpillKey};
use crate::table::batch;
use crate::table::fixed::Fixed;
use crate::threads::side_by_side;

/// A pair of hash and value, and its position in the batch.
type Placed = (u64, u64, usize);

impl Fixed {
    /// Inserts pairs of hash and value, in order. Leaves out each whose key is in: one of the
    /// candidate values of its hash makes `is_same(candidate, value)` true. Returns how many were
    /// inserted, and the positions of those that found no place.
    pub(crate) fn insert_distinct(
        &mut self,
        pairs: &[(u64, u64)],
        threads: usize,
        is_same: impl Fn(u64, u64) -> bool + Sync,
    ) -> (u64, Vec<usize>) {
        let segments = self.parts.geometry.segments as usize;
        let (sorted, ends) = by_segment(pairs, segments);
        let segment_bytes = index(self.parts.geometry.segment_bytes());
        let segments_per_thread = segments.div_ceil(threads.clamp(1, segments));
        let (lanes, spill, max_kicks) = (self.layout.lanes(), &self.spill, self.parts.max_kicks);
        // Each thread fills successive segments.
        let fill = |(number, bytes): (usize, &mut [u8])| {
            let first = number * segments_per_thread;
            let start = first.checked_sub(1).map_or(0, |before| ends[before]);
            let end = ends[segments.min(first + segments_per_thread) - 1];
            let pairs = &sorted[start..end];
            let hashes: Vec<u64> = pairs.iter().map(|&(hash, ..)| hash).collect();
            let first_segment = u32::try_from(first).expect("a segment's number");
            let (mut search, mut fresh) = (Search::default(), Spill::default());
            let (mut inserted, mut refused) = (0, Vec::new());
            batch::pipelined(lanes, bytes, &hashes, first_segment.into(), |bytes, i, probe| {
                let (_, value, position) = pairs[i];
                let mut found = lanes.found(bytes, probe);
                let in_table = found.any(|at| is_same(lanes.value_in(bytes, at), value));
                // The probe counts segments from the first of these; what was spilled before, from
                // 0.
                let here = SpillKey::of(probe, 0);
                let there = SpillKey { segment: here.segment + first_segment, ..here };
                let mut spilled = spill.values(there).chain(fresh.values(here));
                if in_table || spilled.any(|(candidate, _)| is_same(candidate, value)) {
                    return;
                }
                drop(spilled);
                let mut overflow = Overflow { search: &mut search, spill: &mut fresh, max_kicks };
                if copies::insert(lanes, bytes, &mut overflow, probe, value) {
                    inserted += 1;
                } else {
                    refused.push(position);
                }
            });
            (inserted, refused, fresh.shifted(first_segment.into()))
        };
        let parts =
            self.bytes.chunks_mut(segments_per_thread * segment_bytes).enumerate().collect();
        let (mut inserted, mut refused) = (0, Vec::new());
        for (count, positions, spilled) in side_by_side(parts, fill) {
            inserted += count;
            refused.extend(positions);
            self.spill.extend(spilled);
        }
        self.parts.len += inserted;
        refused.sort_unstable();
        (inserted, refused)
    }
}

/// The pairs sorted by segment, in their order within each, and where each segment's end.
fn by_segment(pairs: &[(u64, u64)], segments: usize) -> (Vec<Placed>, Vec<usize>) {
    // As in `Addressing::probe`.
    let of = |hash: u64| index(scale(hash >> 32, segments as u64));
    let mut ends = vec![0; segments];
    for &(hash, _) in pairs {
        ends[of(hash)] += 1;
    }
    let mut start = 0;
    for end in &mut ends {
        (start, *end) = (start + *end, start);
    }
    let mut sorted = vec![(0, 0, 0); pairs.len()];
    for (i, &(hash, value)) in pairs.iter().enumerate() {
        let end = &mut ends[of(hash)];
        sorted[*end] = (hash, value, i);
        *end += 1;
    }
    (sorted, ends)
}
