//! Segments that grow by a few buckets, which take keys from their own groups alone.

use super::any_codec::with_codec;
use super::bucket_word::BucketWord;
use super::directory::Form;
use super::grid::{GROUPS, Grid, MAX_BUCKETS};
use super::rebuild::{Misfit, filling, place_others};
use super::segment::{Position, Segment, Slot};
use super::shape::LANES;
use super::table::{Growing, Record, narrow};

/// A segment of n buckets grows by n / `STEP` at a time: smaller steps copy its bytes more often,
/// larger ones leave more room empty.
const STEP: u64 = 32;
/// The same until the filter holds its capacity, when only a segment with more than its share of
/// the keys is full.
const FIRST_STEP: u64 = 64;
/// The same for a segment with stashed keys: each step goes through all of them.
const STASHED_STEP: u64 = 5;

impl Growing {
    /// The buckets of a segment after its next step; none if a split makes better use of memory.
    pub(super) fn extended(&self, number: usize) -> Option<u64> {
        let Record { form, stashed, .. } = self.records[number];
        let buckets = form.grid.buckets();
        let step = match stashed {
            0 if self.is_first() => FIRST_STEP,
            0 => STEP,
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
        let [bytes] = with_codec!(any_codec, codec => {
            let [from, to] = [old, form].map(|form| Segment::new(codec, form));
            let mut into = [to.lengthened(bytes)];
            let mut waiting = Vec::new();
            for bucket in before..after {
                let group = bucket & (GROUPS - 1);
                spread(&from, &to, bytes, &mut into[0], group, &mut waiting);
            }
            place_others(&[to], &mut into, search, waiting, (&mut aside, Misfit::Stash));
            into
        });
        let has_stash = self.forget_stash(number);
        self.install(number, Record { form, ..self.records[number] }, bytes);
        self.set_aside([number], &aside, has_stash);
    }
}

/// Spreads the keys of a group over its buckets, of which one is new; what finds no room waits.
fn spread<W: BucketWord>(
    from: &Segment<'_, W>,
    to: &Segment<'_, W>,
    bytes: &[u8],
    into: &mut [u8],
    group: u64,
    waiting: &mut Vec<(usize, Slot)>,
) {
    to.form.grid.group(group).for_each(|bucket| to.clear(into, bucket));
    let mut lens = [0; 4];
    for bucket in from.form.grid.group(group) {
        from.for_each_in(bytes, bucket, |slot, mix| {
            let bucket = to.form.grid.bucket_in_group(slot.place, mix);
            // Numbers of a group's buckets are below 4.
            let len = &mut lens[(bucket / GROUPS) as usize];
            let lane = *len;
            if lane < LANES {
                to.fill(into, Position { bucket, lane }, slot);
                *len += 1;
            } else {
                waiting.push((0, slot));
            }
        });
    }
}
