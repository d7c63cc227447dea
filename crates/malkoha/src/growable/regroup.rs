//! Spreads the keys of a segment over more buckets: its own and a few new ones, or those of its
//! halves.
//!
//! A key stays in its group whatever the number of buckets, so groups are moved one after another.
//! The new buckets of a group are put together in registers and written once.

#![expect(
    clippy::cast_possible_truncation,
    reason = "the numbers of a group's slots and buckets are below 32"
)]

use std::ops::Range;

use super::grid::{GROUPS, Grid, MAX_BUCKETS, MIX_BITS, Mix};
use super::rebuild::{Misfit, Overflowed, filling, place_others};
use super::record::Record;
use super::segment::{Form, Position, Segment, Slot};
use super::table::{Growing, narrow};
use crate::arch::vectorized;
use crate::layout::four_lanes::{FourLanes, SLOTS};

/// Buckets of a group, at most.
const BUCKETS: usize = 4;
/// Slots of a group, at most.
const GROUP_SLOTS: usize = BUCKETS * SLOTS as usize;

/// A segment of n buckets grows by n / `EARLY_STEP` until the filter holds its capacity, when only
/// a segment with more than its share of the keys is full.
const EARLY_STEP: u64 = 64;
/// The same for a segment with stashed keys: each step goes through all of them.
const STASHED_STEP: u64 = 5;

vectorized! {
    /// Moves the keys of these groups. For a fingerprint, `destination` returns the number of its
    /// segment and the fingerprint to store there. A slot whose bucket is full goes to `waiting`,
    /// with that number.
    ///
    /// # Safety
    ///
    /// Asks nothing of its caller.
    pub(super) unsafe fn regroup[D: Fn(u64) -> (usize, u64)](
        destination: D,
        from: &Segment<'_, 2>,
        bytes: &[u8],
        to: &[Segment<'_, 2>],
        into: &mut [Box<[u8]>],
        groups: Range<u64>,
        waiting: &mut Vec<(usize, Slot)>,
    ) {
        let (width, grid) = (from.codec.width, from.form.grid);
        let (first, last) = (&to[0], &to[to.len() - 1]);
        let to_width = first.codec.width;
        let has_values = from.form.value_bits > 0;
        for group in groups {
            let (mut fingerprints, mut stretches) = ([0; GROUP_SLOTS], [0; GROUP_SLOTS]);
            let slots = fingerprints.as_chunks_mut::<4>().0.iter_mut();
            let slots = slots.zip(stretches.as_chunks_mut::<4>().0);
            for (bucket, (fingerprints, stretches)) in grid.group(group).zip(slots) {
                let halves = from.load(bytes, bucket).halves(width);
                *stretches = [grid.stretch_in_group(bucket); 4];
                for (lane, fingerprint) in fingerprints.iter_mut().enumerate() {
                    let word = halves[lane / 2] >> (lane as u32 % 2 * width);
                    *fingerprint = word & (u64::MAX >> (u64::BITS - width));
                }
            }
            let sizes = [first, last].map(|to| to.form.grid.group_size(group));
            let (mut places, mut kept) = ([0; GROUP_SLOTS], [0; GROUP_SLOTS]);
            let mut numbers = [0; GROUP_SLOTS];
            for i in 0..GROUP_SLOTS {
                let mix = Mix::computed(fingerprints[i] >> (width - MIX_BITS));
                let (segment, rest) = destination(fingerprints[i]);
                places[i] = Grid::place_in_group(stretches[i], mix);
                kept[i] = rest;
                let size = if segment == 0 { sizes[0] } else { sizes[1] };
                let number = Grid::number_in_group(places[i], mix, size);
                numbers[i] = number + (segment * BUCKETS) as u64;
            }
            let mut words = [[0; 2]; 2 * BUCKETS];
            let mut lens = [0_u32; 2 * BUCKETS];
            let buckets = grid.group_size(group) as usize % (BUCKETS + 1);
            for i in 0..buckets * SLOTS as usize {
                if fingerprints[i] == 0 {
                    continue;
                }
                let number = (numbers[i] % (2 * BUCKETS as u64)) as usize;
                let (segment, lane) = (number / BUCKETS, lens[number]);
                let bucket = (number % BUCKETS) as u64 * GROUPS + group;
                let value = if has_values {
                    let bucket = (i / 4) as u64 * GROUPS + group;
                    from.value(bytes, Position { bucket, lane: i as u32 % 4 })
                } else {
                    0
                };
                if lane < SLOTS {
                    words[number][(lane / 2) as usize] |= kept[i] << (lane % 2 * to_width);
                    lens[number] = lane + 1;
                    if has_values {
                        to[segment].set_value(&mut into[segment], Position { bucket, lane }, value);
                    }
                } else {
                    waiting.push((segment, Slot { fingerprint: kept[i], place: places[i], value }));
                }
            }
            for ((to, into), words) in to.iter().zip(&mut *into).zip(words.chunks(BUCKETS)) {
                for (bucket, word) in to.form.grid.group(group).zip(words) {
                    FourLanes(*word).store(into, to.bit(bucket), to.codec.width);
                }
            }
        }
    }
}

impl Growing {
    /// The buckets of a segment after its next step; none if a split makes better use of memory.
    pub(super) fn next_buckets(&self, number: usize) -> Option<u64> {
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

    /// Gives groups of a segment a bucket more each, until there are this many buckets.
    pub(super) fn extend(&mut self, number: usize, buckets: u64) {
        let old = self.records[number].form;
        let before = old.grid.buckets();
        let after = buckets.min(before + GROUPS);
        let form = Form { grid: Grid::new(narrow(after)), ..old };
        let mut overflowed = Overflowed { slots: Vec::new(), misfit: Misfit::Stash };
        // Takes as many bytes as before: the values are as wide.
        let any_codec = self.any_codec(number);
        let (bytes, search) = (self.segments.bytes(number), &mut self.search);
        let [from, to] = [old, form].map(|form| Segment::new(any_codec.wide(), form));
        let mut into = [to.lengthened(bytes)];
        let (first, last) = (before & (GROUPS - 1), after - before);
        // New buckets are those of consecutive groups, the last of which can be followed by the
        // first.
        let rest = (first + last).saturating_sub(GROUPS);
        let mut waiting = Vec::new();
        for groups in [first..first + last - rest, 0..rest] {
            if form.value_bits > 0 {
                let buckets = groups.clone().flat_map(|group| form.grid.group(group));
                buckets.for_each(|bucket| to.clear(&mut into[0], bucket));
            }
            // SAFETY: asks nothing.
            unsafe {
                regroup(|kept| (0, kept), &from, bytes, &[to], &mut into, groups, &mut waiting)
            };
        }
        place_others(&[to], &mut into, search, waiting, &mut overflowed);
        let [bytes] = into;
        let has_stash = self.forget_stash(number);
        self.install(number, Record { form, ..self.records[number] }, bytes);
        self.spill_overflowed([number], overflowed, has_stash);
    }
}
