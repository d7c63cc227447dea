//! Segments that grow by a few buckets, which take keys from their own groups alone.

use super::grid::{GROUPS, Grid, MAX_BUCKETS};
use super::rebuild::{Misfit, filling, place_others};
use super::record::Record;
use super::regroup::{Only, regroup};
use super::segment::{Form, Segment};
use super::table::{Growing, narrow};

/// A segment of n buckets grows by n / `EARLY_STEP` until the filter holds its capacity, when only
/// a segment with more than its share of the keys is full.
const EARLY_STEP: u64 = 64;
/// The same for a segment with stashed keys: each step goes through all of them.
const STASHED_STEP: u64 = 5;

impl Growing {
    /// The buckets of a segment after its next step; none if a split makes better use of memory.
    pub(super) fn extended(&self, number: usize) -> Option<u64> {
        let Record { form, stashed, .. } = self.records[number];
        let buckets = form.grid.buckets();
        let step = match stashed {
            0 if self.is_below_capacity() => EARLY_STEP,
            0 => self.shape.steps().part,
            _ => STASHED_STEP,
        };
        let wanted = (buckets + buckets.div_ceil(step)).min(MAX_BUCKETS);
        filling(self.any_codec(number).width(), form, wanted)
    }

    /// Gives groups of a segment a bucket more each, until there are so many buckets.
    pub(super) fn extend(&mut self, number: usize, buckets: u64) {
        let old = self.records[number].form;
        let before = old.grid.buckets();
        let after = buckets.min(before + GROUPS);
        let form = Form { grid: Grid::new(narrow(after)), ..old };
        let mut aside = Vec::new();
        // Takes as many bytes as before: the values are as wide.
        let any_codec = self.any_codec(number);
        let (bytes, search) = (self.segments.bytes(number), &mut self.search);
        let [from, to] = [old, form].map(|form| Segment::new(any_codec.wide(), form));
        let mut into = [to.lengthened(bytes)];
        let (first, last) = (before & (GROUPS - 1), after - before);
        // New buckets are those of consecutive groups, the last of which may be followed by the
        // first.
        let rest = (first + last).saturating_sub(GROUPS);
        let mut waiting = Vec::new();
        for groups in [first..first + last - rest, 0..rest] {
            if form.value_bits > 0 {
                let buckets = groups.clone().flat_map(|group| form.grid.group(group));
                buckets.for_each(|bucket| to.clear(&mut into[0], bucket));
            }
            // SAFETY: asks nothing.
            unsafe { regroup(Only, &from, bytes, &[to], &mut into, groups, &mut waiting) };
        }
        place_others(&[to], &mut into, search, waiting, (&mut aside, Misfit::Stash));
        let [bytes] = into;
        let has_stash = self.forget_stash(number);
        self.install(number, Record { form, ..self.records[number] }, bytes);
        self.set_aside([number], &aside, has_stash);
    }
}
