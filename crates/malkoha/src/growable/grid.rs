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

use crate::addressing::LOW_32;

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
mod tests {
    use super::*;

    /// Moves keep reaching new places, and offsets are as even as possible.
    #[test]
    #[cfg_attr(miri, ignore = "sorts 65,536 numbers, and loads nothing")]
    fn few_bits_lead_everywhere() {
        let mut offsets: Vec<u64> = (0..256).map(|prefix| Mix::computed(prefix).offset()).collect();
        offsets.sort_unstable();
        assert!(offsets.into_iter().eq(0..256));
        let alternates = |place| (0..256).map(move |prefix| Mix::computed(prefix).alternate(place));
        let mut places: Vec<u64> = alternates(1).flat_map(alternates).collect();
        places.sort_unstable();
        places.dedup();
        // Steps of equal length lead to 127.
        assert!(places.len() > 600, "{}", places.len());
    }

    /// For every number of buckets: the place is recovered, and no bucket is without fine places.
    #[test]
    fn bucket_and_fingerprint_tell_the_place() {
        let mut prefix = 1_u64;
        let (first, step) = if cfg!(miri) { (9, 2_999) } else { (200, 61) };
        let some = (1..first).chain((first..=8192).step_by(step)).chain([4095, 4096, 4097, 8192]);
        for buckets in some {
            let grid = Grid::new(buckets);
            assert_eq!(Grid::from_bits(grid.to_bits(), 1), Some(grid));
            for place in (0..PLACES).step_by(if cfg!(miri) { 501 } else { 7 }).chain([PLACES - 1]) {
                prefix = prefix.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let mix = Mix::of(prefix >> 56);
                let bucket = grid.bucket(place, mix);
                assert!(bucket < buckets.into());
                let known = grid.place(grid.stretch(bucket), mix);
                assert_eq!(known, place >> grid.low_bits() << grid.low_bits(), "{grid:?}");
                assert_eq!(mix.alternate(mix.alternate(place)), place);
            }
        }
    }
    /// One more bucket takes keys from its own group alone, and groups share their fine places
    /// evenly.
    #[test]
    fn a_bucket_more_changes_one_group() {
        for buckets in [4096, 5000, 6143, 6144, 8191] {
            let (before, after) = (Grid::new(buckets), Grid::new(buckets + 1));
            let group = u64::from(buckets) & (GROUPS - 1);
            assert_eq!(after.group(group).last(), Some(buckets.into()));
            let mut shares = vec![0_u32; buckets as usize + 1];
            for place in 0..PLACES {
                for mix in (0..256).map(Mix::computed) {
                    let [old, new] = [before, after].map(|grid| grid.bucket(place, mix));
                    assert!(old == new || old % GROUPS == group && new % GROUPS == group);
                    shares[usize::try_from(new).unwrap()] += 1;
                }
            }
            assert!(shares.iter().all(|share| [128, 170, 171, 256].contains(share)));
        }
        for bits in [4095 | GROUPED, 4096, 8193 | GROUPED, 8193, 0, GROUPED] {
            assert_eq!(Grid::from_bits(bits, 1), None, "{bits}");
        }
        assert_eq!(Grid::from_bits(4095, PLACES), None);
    }
}
