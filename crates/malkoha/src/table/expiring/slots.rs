//! The slots of a table of ages that is changed.

use crate::addressing::{Probe, index};
use crate::expiry::Times;
use crate::layout::bits::Word;
use crate::layout::expiring::ExpiringBuckets;
use crate::layout::{Neighbours, Relocate, Search, TableLayout, search_budget};
use crate::table::fixed::Fixed;

use super::{BLOCK, block_of, find};

/// A table that is changed.
pub(super) struct Slots<'a, W> {
    buckets: ExpiringBuckets<W>,
    pub(super) bytes: &'a mut [u8],
    search: &'a mut Search,
    /// Occupied slots, including expired ones that were not swept.
    occupied: &'a mut u64,
    max_kicks: u32,
}

impl<'a, W: Word> Slots<'a, W> {
    pub(super) fn of(table: &'a mut Fixed, buckets: ExpiringBuckets<W>) -> Self {
        let Fixed { bytes, search, parts, .. } = table;
        let max_kicks = parts.max_kicks;
        Self { buckets, bytes, search, occupied: &mut parts.len, max_kicks }
    }

    /// Sees a key. Returns whether it is new, or `None` if there is no room for it. A known key
    /// gets this label if `refresh` returns true for its present one.
    #[inline(always)]
    pub(super) fn see(
        &mut self,
        times: &mut Times,
        probe: &Probe,
        label: u64,
        refresh: impl FnOnce(&Times, u64) -> bool,
    ) -> Option<bool> {
        let (buckets, base) = (self.buckets, self.buckets.words.base(probe.segment));
        self.clean(times, probe.segment, probe.first);
        self.clean(times, probe.segment, probe.second);
        let [in_first, in_second] = find(&buckets, self.bytes, probe);
        if in_first.2 | in_second.2 != W::ZERO {
            let (place, bucket, found) = if in_first.2 != W::ZERO { in_first } else { in_second };
            let shift = buckets.shift_of(found);
            if let Some((_, known)) = buckets.slot(bucket, shift)
                && known != label
                && refresh(times, known)
            {
                self.store(base, place, buckets.relabelled(bucket, shift, label));
                times.count_out(known);
                times.count_in(label);
            }
            return Some(false);
        }
        let (place, bucket) = if !buckets.is_full(in_first.1) {
            (probe.first, in_first.1)
        } else if !buckets.is_full(in_second.1) {
            (probe.second, in_second.1)
        } else {
            let place = self.make_room(times, probe)?;
            (place, buckets.load(self.bytes, base, place))
        };
        self.store(base, place, buckets.pushed(bucket, probe.fingerprint, label));
        *self.occupied += 1;
        times.count_in(label);
        Some(true)
    }

    #[inline(always)]
    fn store(&mut self, base: usize, place: u64, bucket: W) {
        self.buckets.words.store(self.bytes, base, place, bucket);
    }

    /// Both buckets of a key are full: makes room in one of them, and returns which.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, times: &mut Times, probe: &Probe) -> Option<u64> {
        let (buckets, base) = (self.buckets, self.buckets.words.base(probe.segment));
        let candidates = [probe.first, probe.second];
        let limit = self.search.refusals.limit(probe.segment, self.max_kicks);
        let bytes = &self.bytes[base..][..index(buckets.words.segment_bytes())];
        let segment = Segment { buckets, bytes, times, number: probe.segment };
        let Some(found) = self.search.find_room(&segment, &candidates, limit) else {
            let price = search_budget::price(buckets.words.addressing().places(), self.max_kicks);
            self.search.refusals.refused(probe.segment, price);
            return None;
        };
        let steps: alloc::vec::Vec<_> = self.search.steps(found).collect();
        // Only living keys are moved, out of buckets that are full of living keys. So sweeping
        // first changes none of these buckets except the last one, which may get its room from it.
        for step in &steps {
            self.clean(times, probe.segment, step.to);
        }
        for step in steps {
            buckets.relocate(self.bytes, base, step.from, step.choice, step.to);
        }
        Some(candidates[found.root()])
    }

    /// Removes a key; whether it lived.
    pub(super) fn forget(&mut self, times: &mut Times, probe: &Probe) -> bool {
        let (buckets, base) = (self.buckets, self.buckets.words.base(probe.segment));
        for place in [probe.first, probe.second] {
            self.clean(times, probe.segment, place);
            let bucket = buckets.load(self.bytes, base, place);
            let found = buckets.matches(bucket, probe.fingerprint);
            if found == W::ZERO {
                continue;
            }
            let shift = buckets.shift_of(found);
            self.store(base, place, buckets.closed(bucket, shift));
            self.freed(probe.segment, 1);
            if let Some((_, label)) = buckets.slot(bucket, shift) {
                times.count_out(label);
            }
            return true;
        }
        false
    }

    /// Notes slots of a segment that are free now.
    fn freed(&mut self, segment: u64, slots: u64) {
        // Saturating: a damaged file may claim fewer keys than its table holds.
        *self.occupied = self.occupied.saturating_sub(slots);
        if self.search.refusals.is_any_short() {
            (0..slots).for_each(|_| self.search.refusals.removed(segment));
        }
    }

    /// Sweeps the block of a place, unless this was done in this epoch.
    #[inline(always)]
    pub(super) fn clean(&mut self, times: &mut Times, segment: u64, place: u64) {
        let block = block_of(&self.buckets, segment, place);
        if !times.is_swept(block) {
            self.sweep(times, segment, place, block);
        }
    }

    #[cold]
    #[inline(never)]
    fn sweep(&mut self, times: &mut Times, segment: u64, place: u64, block: usize) {
        let (buckets, base) = (self.buckets, self.buckets.words.base(segment));
        let first = place / BLOCK * BLOCK;
        let expired = times.expired_label(block);
        let mut freed = 0;
        for place in first..(first + BLOCK).min(buckets.words.addressing().places()) {
            let bucket = buckets.load(self.bytes, base, place);
            // Usually one label has expired, which few buckets have.
            if expired.is_some_and(|label| buckets.labelled(bucket, label) == W::ZERO) {
                continue;
            }
            let mut kept = bucket;
            // From the last lane on, so that lanes that move down have been looked at.
            for (shift, _, label) in buckets.occupants(bucket).rev() {
                if times.age(block, label).is_none() {
                    kept = buckets.closed(kept, shift);
                    freed += 1;
                }
            }
            if kept != bucket {
                self.store(base, place, kept);
            }
        }
        times.set_swept(block);
        self.freed(segment, freed);
    }
}

/// A segment in which a search looks for room.
struct Segment<'a, W> {
    buckets: ExpiringBuckets<W>,
    bytes: &'a [u8],
    times: &'a Times,
    number: u64,
}

impl<W: Word> Neighbours for Segment<'_, W> {
    fn places(&self) -> u64 {
        self.buckets.words.addressing().places()
    }

    #[inline(always)]
    fn for_each_target(&self, place: u64, mut each: impl FnMut(u64)) {
        let bucket = self.buckets.load(self.bytes, 0, place);
        for shift in self.buckets.shifts() {
            let fingerprint =
                self.buckets.slot(bucket, shift).map_or(0, |(fingerprint, _)| fingerprint);
            each(self.buckets.words.addressing().alternate(place, fingerprint));
        }
    }

    /// An expired slot counts as free.
    #[inline(always)]
    unsafe fn has_room(&self, place: u64) -> bool {
        let (buckets, bucket) = (&self.buckets, self.buckets.load(self.bytes, 0, place));
        let block = block_of(buckets, self.number, place);
        !buckets.is_full(bucket)
            || !self.times.is_swept(block)
                && buckets
                    .occupants(bucket)
                    .any(|(_, _, label)| self.times.age(block, label).is_none())
    }

    #[inline(always)]
    fn prefetch(&self, place: u64) {
        crate::arch::prefetch(self.bytes, self.buckets.words.byte(0, place) as u64);
    }
}
