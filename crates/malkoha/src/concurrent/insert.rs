//! Inserting a key whose buckets are full, or already hold copies of it.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

use super::table::Table;
use crate::addressing::{Probe, index};
use crate::arch::prefetch_from;
use crate::layout::search_budget::{self, NEAR, SHORT};
use crate::layout::{Neighbours, Placement, Search};
use crate::locks::{Exclude, Locking};
use crate::spill::MAX_COPIES;
use crate::sync::{AtomicU64, Ordering};

thread_local! {
    /// This thread's memory for searches. Taken out while it is used. Absent when a thread ends.
    static SEARCH: Cell<Search> = const { Cell::new(Search::new()) };
}

/// A segment to search in. Other threads may change it at any moment.
struct Segment<'a, P: Locking> {
    table: &'a Table<P>,
    words: &'a [AtomicU64],
}

impl<P: Locking> Segment<'_, P> {
    #[inline(always)]
    fn bucket(&self, place: u64) -> &AtomicU64 {
        &self.words[index(place)]
    }
}

impl<P: Locking> Neighbours for Segment<'_, P> {
    #[inline(always)]
    fn places(&self) -> u64 {
        self.table.addressing.places()
    }

    #[inline(always)]
    fn for_each_target(&self, place: u64, mut each: impl FnMut(u64)) {
        let lanes = &self.table.lanes;
        let word = self.bucket(place).load(Ordering::Relaxed);
        for lane in 0..lanes.number {
            each(self.table.addressing.alternate(place, lanes.lane(word, lane)));
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

impl<P: Locking> Table<P> {
    /// Inserts a key. If this returns `false`, it was a first copy, and nothing has changed except
    /// that other keys may have moved.
    #[inline(always)]
    pub(super) fn insert(&self, probe: &Probe, max_kicks: u32) -> bool {
        match self.try_place(probe) {
            Placement::Taken => true,
            refusal => self.insert_refused(probe, refusal, max_kicks),
        }
    }

    /// Inserts a key unless it is in, or another one with the same fingerprint and places. Returns
    /// whether it was new. `None`: there is no room for it.
    ///
    /// If any number of calls insert one key, it is new to exactly one, provided there is room and
    /// nobody removes the key. [`insert`](Self::insert) takes no lock, so one that runs at the same
    /// time may add another copy: it counts as the later of the two.
    #[inline(always)]
    pub(super) fn insert_unique(&self, probe: &Probe, max_kicks: u32) -> Option<bool> {
        let done = self.put_unless_in(probe, &self.buckets.of(probe));
        done.or_else(|| self.insert_unique_with_moves(probe, max_kicks))
    }

    fn segment(&self, probe: &Probe) -> Segment<'_, P> {
        Segment { table: self, words: self.buckets.segment(probe.segment) }
    }

    /// Puts a fingerprint into an empty lane of the given buckets, unless one of its buckets has it
    /// already; returns whether it did. `None`: there is no empty lane.
    ///
    /// The lock makes the answer atomic: while it is held, no fingerprint of the stripe is moved or
    /// removed, so one that was in is seen, and no other call puts it there.
    fn put_unless_in(&self, probe: &Probe, buckets: &[&AtomicU64]) -> Option<bool> {
        // A copy that is seen is present, with or without the lock.
        if self.is_seen(probe) {
            return Some(false);
        }
        self.stripe(probe.segment, probe.fingerprint).lock.with(|| {
            if self.is_seen(probe) {
                return Some(false);
            }
            self.put_in_one(probe, buckets).then_some(true)
        })
    }

    fn put_in_one(&self, probe: &Probe, buckets: &[&AtomicU64]) -> bool {
        buckets.iter().any(|bucket| self.put(bucket, probe.fingerprint))
    }

    #[cold]
    #[inline(never)]
    fn insert_refused(&self, probe: &Probe, refusal: Placement, max_kicks: u32) -> bool {
        let spill = |copies| self.spill_beside(probe, copies).then_some(());
        if refusal == Placement::Copy && spill(MAX_COPIES).is_some() {
            return true;
        }
        let put = |buckets: &[&AtomicU64]| self.put_in_one(probe, buckets).then_some(());
        self.put_with_moves(probe, max_kicks, put, || spill(1)).is_some()
    }

    #[cold]
    #[inline(never)]
    fn insert_unique_with_moves(&self, probe: &Probe, max_kicks: u32) -> Option<bool> {
        let put = |buckets: &[&AtomicU64]| self.put_unless_in(probe, buckets);
        self.put_with_moves(probe, max_kicks, put, || None)
    }

    /// Moves other keys until `put`, which is given buckets of the key, returns something, or no
    /// move makes room. Before far places are searched, `instead` may find another way.
    #[inline(always)]
    fn put_with_moves<R>(
        &self,
        probe: &Probe,
        max_kicks: u32,
        put: impl Fn(&[&AtomicU64]) -> Option<R>,
        instead: impl FnOnce() -> Option<R>,
    ) -> Option<R> {
        let mut search = SEARCH.try_with(Cell::take).unwrap_or_default();
        search = search.for_table(index(self.buckets.len() * 8));
        let missing = || self.buckets.missing(probe.segment);
        let is_short = self.buckets.has_refused() && missing().load(Relaxed) > 0;
        let limit = if is_short { max_kicks.min(SHORT) } else { max_kicks };
        let near = limit.min(NEAR);
        let mut done = self.make_room(&mut search, probe, near, &put).or_else(instead);
        // A second copy is no reason to refuse a new key.
        if done.is_none() && self.spill_a_copy(&search, probe, near) {
            done = self.make_room(&mut search, probe, near, &put);
        }
        if done.is_none() && limit > near {
            done = self.make_room(&mut search, probe, limit, &put);
        }
        if done.is_none() && !is_short {
            let price = search_budget::price(self.addressing.places(), max_kicks);
            missing().store(price, Relaxed);
        }
        let _ = SEARCH.try_with(|kept| kept.set(search));
        done
    }

    /// Searches until `put` returns something, or there is no path. A path breaks, or the room that
    /// it made is taken, only if another thread has changed one of its buckets. So some thread
    /// always makes progress. No lock is held here, so moves can take the locks that they need.
    fn make_room<R>(
        &self,
        search: &mut Search,
        probe: &Probe,
        limit: u32,
        put: impl Fn(&[&AtomicU64]) -> Option<R>,
    ) -> Option<R> {
        let candidates = [probe.first, probe.second];
        let segment = self.segment(probe);
        loop {
            if let Some(done) = put(&self.buckets.of(probe)) {
                return Some(done);
            }
            let found = search.find_room(&segment, &candidates, limit)?;
            // The last move first, so that no fingerprint is ever without a place.
            let held = search.steps(found).all(|step| self.relocate(probe.segment, step));
            if held && let Some(done) = put(&[segment.bucket(candidates[found.root()])]) {
                return Some(done);
            }
        }
    }

    /// The last search found no room. Of the places that it looked at, takes the nearest that holds
    /// one of several copies, and spills that copy. Returns whether there was one.
    fn spill_a_copy(&self, search: &Search, probe: &Probe, limit: u32) -> bool {
        let segment = self.segment(probe);
        let mut looked_at = 0;
        let spilled = search.looked_at(self.addressing.places(), 2, limit).any(|place| {
            looked_at += 1 + self.lanes.number as usize;
            let bucket = segment.bucket(place);
            let word = bucket.load(Ordering::Acquire);
            let occupant = |f| self.addressing.occupant(probe.segment, place, f);
            self.lanes.fingerprints(word).map(occupant).any(|occupant| {
                self.count_in_table(&occupant) >= MAX_COPIES && self.spill_from(bucket, &occupant)
            })
        });
        search_budget::looked_at(looked_at);
        spilled
    }
}
