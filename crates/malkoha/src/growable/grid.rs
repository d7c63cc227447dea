//! Places and buckets: how a segment of any number of buckets knows its keys' places again.
//!
//! A key has two of 2^12 places, and 8 bits that its fingerprint tells and that are the same at
//! both: its *offset*. Place and offset together are a fine place, one of 2^20 in a row. Each
//! bucket has a stretch of that row, in which no offset comes twice. So the bucket and the
//! fingerprint tell the place, and buckets can be added without the keys.
//!
//! A segment of at least 2^12 buckets has 2^11 groups of two places. Each group has two to four
//! buckets, which share its 512 fine places evenly; the first groups have one more than the others.
//! Bucket number j of group i is bucket 2^11 j + i of the segment. So one more bucket, which comes
//! last, changes the stretches of its own group alone.
//!
//! A small table has fewer buckets, whose stretches share the whole row evenly: 2^20 / B fine
//! places each. 2^n places count as one there, and each slot has n more bits, which say which of
//! them is meant.

use crate::addressing::{LOW_32, MIX};

/// Bits of a string that choose the alternate place. With six, buckets of four fill as far, but the
/// last tenth of the inserts takes half as many instructions again: there are fewer chains of
/// moves.
pub(crate) const MIX_BITS: u32 = 8;
pub(super) const PLACE_BITS: u32 = 12;
/// Places of a segment, and its least number of buckets once it has split.
pub(crate) const PLACES: u64 = 1 << PLACE_BITS;
/// At this size a segment splits.
pub(crate) const MAX_BUCKETS: u64 = 2 * PLACES;
/// 256 offsets make the stretches of buckets differ by 1 in 128 at most.
const OFFSET_BITS: u32 = 8;
/// The number of groups of a segment, as a power of two.
const GROUP_BITS: u32 = 11;
pub(super) const GROUPS: u64 = 1 << GROUP_BITS;
/// The number of fine places of a group, as a power of two.
const WITHIN_BITS: u32 = PLACE_BITS + OFFSET_BITS - GROUP_BITS;
/// The fine place of its group at which each bucket begins, in groups of 4, none, 2 and 3: by the
/// last bits of both numbers, so that no index need be checked.
const STARTS: [u16; 16] = [0, 128, 256, 384, 0, 0, 0, 0, 0, 256, 0, 0, 0, 171, 342, 0];
/// In a file: marks a number of buckets that are in groups.
const GROUPED: u16 = 1 << 15;

/// The number by which a fingerprint determines its alternate place and its offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mix(u64);

/// Half a step: an odd number of 2^12 for the sum, and of 2^2 for the offset.
const HALF_STEP: u64 =
    (0x9e3 << OFFSET_BITS | 13 << (OFFSET_BITS - MIX_BITS)) << (32 - PLACE_BITS - OFFSET_BITS) >> 1;

/// The mix of each value of [`MIX_BITS`] bits.
static MIXES: [u32; 1 << MIX_BITS] = {
    let (mut mixes, mut prefix) = ([0; 1 << MIX_BITS], 0);
    while prefix < mixes.len() {
        // The lowest 32 bits are all that there are.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let mix = Mix::computed(prefix as u64).0 as u32;
        mixes[prefix] = mix;
        prefix += 1;
    }
    mixes
};

impl Mix {
    /// The mix of the [`MIX_BITS`] bits that stay in the slots: n(n + 1) half steps, of whose 32
    /// bits the highest 12 are the sum of a place and its alternate, the next 8 the offset.
    ///
    /// n(n + 1)/2 takes each value modulo a power of two once, so the offsets are as evenly spread
    /// as possible: buckets get equal shares of the keys. The sums do not grow in equal steps: with
    /// those, all places that moves lead to would lie next to each other in the order of the steps.
    #[inline(always)]
    pub(super) const fn computed(prefix: u64) -> Self {
        let factor = prefix.wrapping_mul(HALF_STEP).wrapping_add(HALF_STEP);
        Self(prefix.wrapping_mul(factor) & LOW_32)
    }

    /// The mix of the lowest [`MIX_BITS`] bits of `prefix`, looked up: searches ask for it at every
    /// slot that they meet.
    #[inline(always)]
    pub(super) fn of(prefix: u64) -> Self {
        Self(MIXES[(prefix & ((1 << MIX_BITS) - 1)) as usize].into())
    }

    /// The other place of a key: `(H - place) mod PLACES`. Its own inverse.
    #[inline(always)]
    pub(super) fn alternate(self, place: u64) -> u64 {
        (self.0 >> (32 - PLACE_BITS)).wrapping_sub(place) & (PLACES - 1)
    }

    #[inline(always)]
    fn offset(self) -> u64 {
        (self.0 >> (32 - PLACE_BITS - OFFSET_BITS)) & ((1 << OFFSET_BITS) - 1)
    }
}

/// The parts of a hash.
///
/// | digit | bits of the hash | range |
/// | --- | --- | --- |
/// | place | low 32, the highest 12 | `0..PLACES` |
/// | string | `hash * MIX`, from the highest bit on | a_1, a_2, ..., a_64 |
///
/// The first [`MIX_BITS`] bits of a string choose the alternate place, and each slot stores them.
/// The bits behind them are the key's *path*: a segment at depth g holds the keys with one value of
/// its first g bits, and its slots store the bits that follow. So a table with more roots is one
/// that was split more often before any key came, and all tables agree on all places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyBits {
    pub(crate) places: [u64; 2],
    pub(crate) mix: Mix,
    /// a_1 is the highest bit.
    pub(crate) string: u64,
    /// The string behind the bits that choose the alternate place.
    pub(crate) path: u64,
}

impl KeyBits {
    #[inline(always)]
    pub(crate) fn of(hash: u64) -> Self {
        Self::with(hash, Mix::of)
    }

    /// [`of`](Self::of) for loops that are to be vectorised: computes the mix instead of looking it
    /// up.
    #[inline(always)]
    pub(super) fn of_many(hash: u64) -> Self {
        Self::with(hash, Mix::computed)
    }

    #[inline(always)]
    fn with(hash: u64, mix: impl Fn(u64) -> Mix) -> Self {
        let string = hash.wrapping_mul(MIX);
        let first = (hash & LOW_32) >> (32 - PLACE_BITS);
        let mix = mix(string >> (64 - MIX_BITS));
        Self { places: [first, mix.alternate(first)], mix, string, path: string << MIX_BITS }
    }

    /// The fingerprint of a key that arrives in a segment at `depth`: `bits` bits and the mark.
    #[inline(always)]
    pub(super) fn fingerprint(&self, depth: u32, bits: u32) -> u64 {
        (stored(self.string, depth, bits) << 1) | 1
    }
}

/// The bits of a string that a slot of `bits` bits at this depth has room for.
#[inline(always)]
pub(super) fn stored(string: u64, depth: u32, bits: u32) -> u64 {
    let (kept, path) = (string >> (64 - MIX_BITS), string << MIX_BITS << depth);
    ((kept << (64 - MIX_BITS)) | (path >> MIX_BITS)) >> (u64::BITS - bits)
}

/// The buckets of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    buckets: u32,
    low_bits: u32,
}

impl Grid {
    /// For 1 to [`MAX_BUCKETS`] buckets: groups, if there are enough.
    #[inline(always)]
    pub(crate) fn new(buckets: u32) -> Self {
        debug_assert!((1..=MAX_BUCKETS).contains(&buckets.into()));
        let low_bits = PLACE_BITS.saturating_sub((buckets | 1).ilog2());
        Self { buckets, low_bits }
    }

    /// [`new`](Self::new) for a caller that already has all parts.
    #[inline(always)]
    pub(super) fn with_low_bits(buckets: u32, low_bits: u32) -> Self {
        Self { buckets, low_bits }
    }

    /// As it stands in files.
    pub(crate) fn to_bits(self) -> u16 {
        let buckets = u16::try_from(self.buckets).expect("at most 2^13");
        if self.is_grouped() { buckets | GROUPED } else { buckets }
    }

    /// From a file; `None` if no such segment can exist. With at least `least` buckets.
    pub(crate) fn from_bits(bits: u16, least: u64) -> Option<Self> {
        let buckets = u32::from(bits & !GROUPED);
        let grid = (least..=MAX_BUCKETS).contains(&buckets.into()).then(|| Self::new(buckets));
        grid.filter(|grid| grid.to_bits() == bits)
    }

    pub(crate) fn buckets(self) -> u64 {
        self.buckets.into()
    }

    /// Low bits of a place that its bucket does not tell.
    #[inline(always)]
    pub(super) fn low_bits(self) -> u32 {
        self.low_bits
    }

    /// Whether the buckets are in groups, so that more can be added one by one.
    #[inline(always)]
    pub(super) fn is_grouped(self) -> bool {
        self.low_bits == 0
    }

    /// Fine places of the whole segment: 2 to this power.
    #[inline(always)]
    fn fine_bits(self) -> u32 {
        PLACE_BITS + OFFSET_BITS - self.low_bits
    }

    #[inline(always)]
    pub(super) fn bucket(self, place: u64, mix: Mix) -> u64 {
        if self.is_grouped() {
            return self.bucket_in_group(place, mix);
        }
        let fine = (place >> self.low_bits << OFFSET_BITS) | mix.offset();
        (fine * u64::from(self.buckets)) >> self.fine_bits()
    }

    /// [`bucket`](Self::bucket) where it is known that there are groups.
    #[inline(always)]
    pub(super) fn bucket_in_group(self, place: u64, mix: Mix) -> u64 {
        let group = place >> (PLACE_BITS - GROUP_BITS);
        Self::number_in_group(place, mix, self.group_size(group)) << GROUP_BITS | group
    }

    /// The number of a bucket in its group of `size` buckets.
    #[inline(always)]
    pub(super) fn number_in_group(place: u64, mix: Mix, size: u64) -> u64 {
        let within = ((place << OFFSET_BITS) | mix.offset()) & ((1 << WITHIN_BITS) - 1);
        (within * size) >> WITHIN_BITS
    }

    #[inline(always)]
    pub(super) fn group_size(self, group: u64) -> u64 {
        let buckets = u64::from(self.buckets);
        (buckets >> GROUP_BITS) + u64::from(group < buckets & (GROUPS - 1))
    }

    /// The buckets of a group.
    pub(super) fn group(self, group: u64) -> impl Iterator<Item = u64> {
        (0..self.group_size(group)).map(move |number| number << GROUP_BITS | group)
    }

    /// The first fine place of a bucket.
    #[inline(always)]
    pub(super) fn stretch(self, bucket: u64) -> u64 {
        if self.is_grouped() {
            return self.stretch_in_group(bucket);
        }
        (bucket << self.fine_bits()).div_ceil(self.buckets.into())
    }

    /// [`stretch`](Self::stretch) where it is known that there are groups.
    #[inline(always)]
    pub(super) fn stretch_in_group(self, bucket: u64) -> u64 {
        let (group, number) = (bucket & (GROUPS - 1), bucket >> GROUP_BITS);
        let (size, number) = ((self.group_size(group) & 3) as usize, (number & 3) as usize);
        group << WITHIN_BITS | u64::from(STARTS[size << 2 | number])
    }

    /// The place, its lowest `low_bits` bits zero, of an occupant of the bucket whose stretch
    /// begins here. Below [`PLACES`] even for a slot of a damaged table.
    #[inline(always)]
    pub(super) fn place(self, stretch: u64, mix: Mix) -> u64 {
        (Self::place_in_group(stretch, mix) << self.low_bits) & (PLACES - 1)
    }

    /// [`place`](Self::place) where it is known that there are groups.
    #[inline(always)]
    pub(super) fn place_in_group(stretch: u64, mix: Mix) -> u64 {
        let above = stretch + ((1 << OFFSET_BITS) - 1) - mix.offset();
        (above >> OFFSET_BITS) & (PLACES - 1)
    }
}

#[cfg(test)]
mod tests;
