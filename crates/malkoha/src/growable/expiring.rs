//! A growing table whose values are ages. A block is a segment: one that is to be changed is swept
//! first, and made smaller if few keys are left in it.

use super::grid::{Grid, MAX_BUCKETS, PLACES};
use super::record::{Home, Record};
use super::shape::ROOM;
use super::shrink::LEAST;
use super::table::{Growing, narrow};
use crate::error::UnionError;
use crate::expiry::{Ages, Times};
use crate::layout::Copies;
use crate::params::float;
use crate::ring;
use crate::table::traits::{Candidates, Change, Lookup};

impl Ages for Growing {
    fn prepare(&mut self) -> bool {
        self.shape.ages = true;
        true
    }

    fn blocks(&self) -> usize {
        self.segments()
    }

    #[inline]
    fn age(&self, times: &Times, hash: u64) -> Option<u64> {
        if self.contains(hash) { self.age_of(times, hash) } else { None }
    }

    fn lives(&self, times: &Times, hashes: &[u64], found: &mut [bool]) {
        self.contains_batch(hashes, found);
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = *found && self.age_of(times, hash).is_some();
        }
    }

    fn see(
        &mut self,
        times: &mut Times,
        hashes: &[u64],
        refresh: bool,
        new: &mut [bool],
    ) -> Vec<usize> {
        let ask = |table: &Self, hash: u64| table.prefetch(hash);
        ring::one_by_one(self, hashes, ask, |table, i, hash, ()| {
            new[i] = table.see_one(times, hash, refresh);
        });
        Vec::new()
    }

    fn forget(&mut self, times: &mut Times, hash: u64) -> bool {
        self.clean(times, hash);
        let mut lived = false;
        while let Some(label) = self.youngest(times, hash) {
            self.remove(hash, label);
            times.count_out(label);
            lived = true;
        }
        lived
    }

    fn sweep(&mut self, times: &mut Times) {
        while !times.all_swept() {
            let mut number = 0;
            // A segment can be removed, and the last one, which may have been visited, takes its
            // number.
            while number < self.segments() {
                if times.is_swept(number) {
                    number += 1;
                } else {
                    self.sweep_segment(times, number);
                }
            }
        }
    }

    fn for_each_label(&self, mut each: impl FnMut(u64)) {
        self.entries().for_each(|entry| (0..entry.copies.min(1)).for_each(|_| each(entry.value)));
    }

    fn absorb(&mut self, times: &mut Times, other: &Self) -> Result<(), UnionError> {
        *self = self.united(other, Copies::Most)?;
        let mut labels = Vec::new();
        self.for_each_label(|label| labels.push(label));
        times.clear(self.blocks());
        labels.into_iter().for_each(|label| times.count_in(label));
        Ok(())
    }

    fn fpr_of(&self, live: u64) -> f64 {
        let share = float(live) / float(self.filled().max(1));
        -(-self.expected_matches() * share).exp_m1()
    }
}

impl Growing {
    /// The least age of what matches a hash and has not expired.
    fn age_of(&self, times: &Times, hash: u64) -> Option<u64> {
        let number = self.target(hash).number();
        let mut least = None::<u64>;
        self.for_each_candidate(hash, |label, _| {
            let age = times.age(number, label);
            least = [least, age].into_iter().flatten().min();
        });
        least
    }

    /// The label of the youngest that matches a hash, in a segment that has been swept.
    fn youngest(&self, times: &Times, hash: u64) -> Option<u64> {
        if !self.contains(hash) {
            return None;
        }
        self.age_of(times, hash).map(|age| times.label_before(age))
    }

    fn see_one(&mut self, times: &mut Times, hash: u64, refresh: bool) -> bool {
        self.clean(times, hash);
        let label = times.label();
        if let Some(known) = self.youngest(times, hash) {
            if refresh && known != label {
                self.update(hash, known, label);
                times.count_out(known);
                times.count_in(label);
            }
            return false;
        }
        let _never_refused = self.insert(hash, label);
        times.set_blocks(self.blocks());
        times.count_in(label);
        self.copied_ages.drain(..).for_each(|label| times.count_in(label));
        true
    }

    /// Sweeps a key's segment, if that was not done in this epoch.
    #[inline]
    fn clean(&mut self, times: &mut Times, hash: u64) {
        let number = self.target(hash).number();
        if !times.is_swept(number) {
            self.sweep_segment(times, number);
        }
    }

    /// Removes what has expired from a segment, and makes it smaller if it has become empty enough.
    #[cold]
    #[inline(never)]
    fn sweep_segment(&mut self, times: &mut Times, number: usize) {
        self.empty_expired(times, number);
        self.slim(times, number);
        for number in self.segments.relieve() {
            self.point(number);
        }
    }

    fn empty_expired(&mut self, times: &mut Times, number: usize) {
        if times.is_swept(number) {
            return;
        }
        self.retain(number, |slot, _| times.age(number, slot.value).is_some());
        self.len = self.filled();
        times.set_swept(number);
    }

    /// Merges a segment with its sibling, if both are small, or gives it fewer buckets.
    fn slim(&mut self, times: &mut Times, number: usize) {
        let Record { home, form, len, .. } = self.records[number];
        let wanted = self.shape.buckets_for(u64::from(len) * ROOM / 100);
        if home.depth > self.least_depth() && wanted <= PLACES / 2 {
            let other = Home { path: home.path ^ 1, ..home };
            let sibling = self.directory.at(other);
            if self.records[sibling].home == other {
                self.empty_expired(times, sibling);
                let (lower, upper) =
                    if home.path & 1 == 0 { (number, sibling) } else { (sibling, number) };
                if self.merge(lower, upper) {
                    times.swap_remove(upper);
                    return;
                }
            }
        }
        let least = if home.depth > 0 || self.segments() > 1 { PLACES } else { LEAST };
        let wanted = wanted.clamp(least, MAX_BUCKETS);
        // A fifth of the buckets at least, or it is not worth the work.
        if wanted + wanted / 4 < form.grid.buckets() {
            debug_assert!(Grid::new(narrow(wanted)).buckets() == wanted);
            self.resize(number, wanted);
        }
    }
}
