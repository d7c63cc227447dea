//! Places and buckets: how a segment of any number of buckets knows its keys' places again.
//!
//! A key has two of 2^12 places, and 8 bits that its fingerprint tells and that are the same at
//! both: its *offset*. Place and offset together are a fine place, one of 2^20 in a row. A segment
//! of B buckets gives each bucket a stretch of that row, 2^20 / B long. With at least 2^12 buckets
//! a stretch has no offset twice. So the bucket and the fingerprint tell the place, whatever B is,
//! and a segment can be rebuilt with more buckets, in order, without the keys.
//!
//! A small table has fewer buckets. There 2^n places count as one, and each slot has n bits more
//! which say which of them is meant.

use std::iter;

use super::shape::MIX_BITS;
use crate::addressing::{LOW_32, SPREAD};

pub(super) const PLACE_BITS: u32 = 12;
/// Places of a segment, and its least number of buckets once it has split.
pub(crate) const PLACES: u64 = 1 << PLACE_BITS;
/// At this size a segment splits.
pub(crate) const MAX_BUCKETS: u64 = 2 * PLACES;
/// 256 offsets make the stretches of buckets differ by 1 in 128 at most.
const OFFSET_BITS: u32 = 8;

/// What a fingerprint says about places: where its alternate is, and its offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mix(u64);

/// How the first bits of a key's string become that: a square and a product, of whose 32 bits the
/// highest 12 are the sum of a place and its alternate, the next 8 the offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixer {
    square: u64,
    factor: u64,
}

impl Mixer {
    /// For all bits that a slot and its path know.
    pub(super) const ALL: Self = Self { square: 0, factor: SPREAD };
    /// For the [`MIX_BITS`] bits that stay in the slots.
    ///
    /// n(n + 1)/2 is each number once modulo a power of two, so the offsets are exactly as far
    /// apart as can be: buckets get equal shares of the keys. And the sums are no equal steps, with
    /// which all places that moves lead to would lie next to each other in the order of these
    /// steps.
    pub(super) const FEW: Self = Self { square: Self::STEPS, factor: Self::STEPS };
    /// Half a step: an odd number of 2^12 for the sum, and of 2^2 for the offset.
    const STEPS: u64 = (0x9e3 << OFFSET_BITS | 13 << (OFFSET_BITS - MIX_BITS)) << Self::LOWER >> 1;
    const LOWER: u32 = 32 - PLACE_BITS - OFFSET_BITS;

    #[inline(always)]
    pub(super) fn mix(self, prefix: u64) -> Mix {
        let factor = prefix.wrapping_mul(self.square).wrapping_add(self.factor);
        Mix(prefix.wrapping_mul(factor) & LOW_32)
    }
}

impl Mix {
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
    narrowing: u32,
}

impl Grid {
    /// For 1 to [`MAX_BUCKETS`] buckets.
    #[inline(always)]
    pub(crate) fn new(buckets: u32) -> Self {
        debug_assert!((1..=MAX_BUCKETS).contains(&buckets.into()));
        Self { buckets, narrowing: PLACE_BITS.saturating_sub((buckets | 1).ilog2()) }
    }

    /// [`new`](Self::new) for a caller that has the narrowing at hand.
    #[inline(always)]
    pub(super) fn with_narrowing(buckets: u32, narrowing: u32) -> Self {
        Self { buckets, narrowing }
    }

    pub(crate) fn buckets(self) -> u64 {
        self.buckets.into()
    }

    /// Low bits of a place that its bucket does not tell.
    #[inline(always)]
    pub(super) fn narrowing(self) -> u32 {
        self.narrowing
    }

    /// Fine places of the whole segment: 2 to this power.
    #[inline(always)]
    fn fine_bits(self) -> u32 {
        PLACE_BITS + OFFSET_BITS - self.narrowing
    }

    #[inline(always)]
    pub(super) fn bucket(self, place: u64, mix: Mix) -> u64 {
        let fine = (place >> self.narrowing << OFFSET_BITS) | mix.offset();
        (fine * u64::from(self.buckets)) >> self.fine_bits()
    }

    /// The first fine place of a bucket.
    #[inline(always)]
    pub(super) fn stretch(self, bucket: u64) -> u64 {
        (bucket << self.fine_bits()).div_ceil(self.buckets.into())
    }

    /// The first fine places of all buckets, in order: a division for each bucket would take longer
    /// than all else that a rebuild does with it.
    pub(super) fn stretches(self) -> impl Iterator<Item = u64> {
        let buckets = u64::from(self.buckets);
        let (step, part) = ((1 << self.fine_bits()) / buckets, (1 << self.fine_bits()) % buckets);
        // The exact quotient is `whole + rest / buckets`.
        let next = move |&(whole, rest): &(u64, u64)| {
            let carry = u64::from(rest + part >= buckets);
            Some((whole + step + carry, rest + part - carry * buckets))
        };
        let exact = iter::successors(Some((0, 0)), next);
        exact.map(|(whole, rest)| whole + u64::from(rest > 0)).zip(0..buckets).map(|(at, _)| at)
    }

    /// The place, its lowest `narrowing` bits zero, of an occupant of the bucket whose stretch
    /// begins here. Below [`PLACES`] even for a slot of a damaged table.
    #[inline(always)]
    pub(super) fn place(self, stretch: u64, mix: Mix) -> u64 {
        let above = stretch + ((1 << OFFSET_BITS) - 1) - mix.offset();
        (above >> OFFSET_BITS << self.narrowing) & (PLACES - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves lead to ever more places, and offsets are as even as can be.
    #[test]
    #[cfg_attr(miri, ignore = "sorts 65,536 numbers, and loads nothing")]
    fn few_bits_lead_everywhere() {
        let mut offsets: Vec<u64> =
            (0..256).map(|prefix| Mixer::FEW.mix(prefix).offset()).collect();
        offsets.sort_unstable();
        assert!(offsets.into_iter().eq(0..256));
        let alternates =
            |place| (0..256).map(move |prefix| Mixer::FEW.mix(prefix).alternate(place));
        let mut places: Vec<u64> = alternates(1).flat_map(alternates).collect();
        places.sort_unstable();
        places.dedup();
        // Steps of equal length lead to 127.
        assert!(places.len() > 600, "{}", places.len());
    }

    /// For every number of buckets: the place is known again, and no bucket is none.
    #[test]
    fn bucket_and_fingerprint_tell_the_place() {
        let mut prefix = 1_u64;
        let (first, step) = if cfg!(miri) { (9, 2_999) } else { (200, 61) };
        let some = (1..first).chain((first..=8192).step_by(step)).chain([4095, 4096, 4097, 8192]);
        for (buckets, few) in some.flat_map(|buckets| [(buckets, false), (buckets, true)]) {
            let grid = Grid::new(buckets);
            let stretches = (0..grid.buckets()).map(|bucket| grid.stretch(bucket));
            assert!(cfg!(miri) || grid.stretches().eq(stretches), "{buckets}");
            for place in (0..PLACES).step_by(if cfg!(miri) { 501 } else { 7 }).chain([PLACES - 1]) {
                prefix = prefix.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let mix =
                    if few { Mixer::FEW.mix(prefix >> 56) } else { Mixer::ALL.mix(prefix >> 40) };
                let bucket = grid.bucket(place, mix);
                assert!(bucket < buckets.into());
                let known = grid.place(grid.stretch(bucket), mix);
                assert_eq!(known, place >> grid.narrowing() << grid.narrowing(), "{buckets}");
                assert_eq!(mix.alternate(mix.alternate(place)), place);
            }
        }
    }
}
