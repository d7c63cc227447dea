//! Inserting a key whose buckets are full, or already hold copies of it.

use std::cell::Cell;

use super::space::{Extent, Space};
use super::sync::{AtomicU64, Ordering};
use super::table::Table;
use crate::addressing::Probe;
use crate::arch::prefetch_from;
use crate::layout::{NEAR, Neighbours, Offer, Search};
use crate::locks::Locking;
use crate::spill::MAX_COPIES;

thread_local! {
    /// This thread's memory for searches. Taken out while it is used. Gone where a thread ends.
    static SEARCH: Cell<Search> = const { Cell::new(Search::new()) };
}

/// One part of a segment, to search in: what is read may have changed a moment later.
struct Part<'a, P: Locking, S> {
    table: &'a Table<P, S>,
    words: &'a [AtomicU64],
}

impl<P: Locking, S> Part<'_, P, S> {
    #[inline(always)]
    fn bucket(&self, place: u64) -> &AtomicU64 {
        // The part is in memory, so the index fits usize.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let index = place as usize;
        &self.words[index]
    }
}

impl<P: Locking, S> Neighbours for Part<'_, P, S> {
    #[inline(always)]
    fn places(&self) -> u64 {
        self.table.addressing.places()
    }

    #[inline(always)]
    fn for_each_target(&self, place: u64, mut each: impl FnMut(u64)) {
        let Table { lanes, addressing, .. } = self.table;
        let word = self.bucket(place).load(Ordering::Relaxed);
        for lane in 0..lanes.number() {
            each(addressing.alternate(place, lanes.lane(word, lane)));
        }
    }

    #[inline(always)]
    unsafe fn has_room(&self, place: u64) -> bool {
        let word = self.bucket(place).load(Ordering::Relaxed);
        self.table.lanes.has_room(word)
    }

    #[inline(always)]
    fn prefetch(&self, place: u64) {
        prefetch_from(std::ptr::from_ref(self.bucket(place)).cast(), 0);
    }
}

impl<P: Locking, S: Space> Table<P, S> {
    /// Inserts a key. On `false` nothing has changed but that others may have moved, and it was a
    /// first copy.
    #[inline(always)]
    pub(super) fn insert(&self, probe: &Probe, max_kicks: u32) -> bool {
        loop {
            let mut full = Extent::default();
            let inserted = self.space.in_part(probe, |part| match self.offer(probe) {
                Offer::Taken => true,
                refusal => {
                    full = self.space.extent(probe);
                    self.insert_refused(part, probe, refusal, max_kicks)
                }
            });
            if inserted || !self.space.split(&self.lanes, probe, full, || self.raise_versions()) {
                return inserted;
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_refused(
        &self,
        part: &[AtomicU64],
        probe: &Probe,
        refusal: Offer,
        max_kicks: u32,
    ) -> bool {
        if refusal == Offer::Copy && self.spill_beside(probe, MAX_COPIES) {
            return true;
        }
        let search = SEARCH.try_with(Cell::take).unwrap_or_default();
        let mut search = search.for_table(part.len() * 8 * self.addressing.segments() as usize);
        let near = max_kicks.min(NEAR);
        let inserted = self.insert_with_moves(part, &mut search, probe, near)
            || self.spill_beside(probe, 1)
            // A second copy is no reason to refuse a new key.
            || (self.spill_a_copy(part, &search, probe, near)
                && self.insert_with_moves(part, &mut search, probe, near))
            || (max_kicks > near && self.insert_with_moves(part, &mut search, probe, max_kicks));
        let _ = SEARCH.try_with(|kept| kept.set(search));
        inserted
    }

    /// Searches until a path has held while it was walked, or there is none. A path breaks only if
    /// another thread has changed a bucket of it, so some thread always gets on.
    fn insert_with_moves(
        &self,
        words: &[AtomicU64],
        search: &mut Search,
        probe: &Probe,
        limit: u32,
    ) -> bool {
        let candidates = [probe.first, probe.second];
        let part = Part { table: self, words };
        loop {
            if self.buckets(probe).iter().any(|bucket| self.put(bucket, probe.fingerprint)) {
                return true;
            }
            let Some(found) = search.find_room(&part, &candidates, limit) else {
                return false;
            };
            // The last move first, so that no fingerprint is ever without a place.
            let mut steps = search.steps(found);
            let held = steps.all(|step| self.relocate(words, probe.segment, step));
            drop(steps);
            let root = part.bucket(candidates[found.root()]);
            if held && self.put(root, probe.fingerprint) {
                return true;
            }
        }
    }

    /// Spills a copy from the nearest place that the last search, which found no room, looked at
    /// and that holds one of several; answers whether there was one.
    fn spill_a_copy(
        &self,
        words: &[AtomicU64],
        search: &Search,
        probe: &Probe,
        limit: u32,
    ) -> bool {
        let part = Part { table: self, words };
        search.looked_at(self.addressing.places(), 2, limit).any(|place| {
            let bucket = part.bucket(place);
            let word = bucket.load(Ordering::Acquire);
            let fingerprints = (0..self.lanes.number())
                .map(|lane| self.lanes.lane(word, lane))
                .filter(|&f| f != 0);
            let mut occupants =
                fingerprints.map(|f| self.addressing.occupant(probe.segment, place, f));
            occupants.any(|occupant| {
                self.count_in_table(&occupant) >= MAX_COPIES && self.spill_from(bucket, &occupant)
            })
        })
    }
}
