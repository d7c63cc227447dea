//! The constants of a growable filter, and what a hash means under them.
//!
//! | digit | bits of the hash | range |
//! | --- | --- | --- |
//! | root | high 32, multiplied down | `0..roots` |
//! | place | low 32, the highest 12 | `0..PLACES` |
//! | string | `hash * MIX`, from the highest bit on | a_1, a_2, ..., a_64 |
//!
//! A segment at depth g holds the keys of one root with one value of a_1..a_g. A key that arrives
//! there stores the next `bits` bits, a_(g+1)..a_(g+bits). The alternate place depends on
//! a_1..a_bits alone: whatever the depth, segment and slot together still know these.

use super::grid::{MAX_BUCKETS, Mix, PLACE_BITS, PLACES};
use crate::addressing::{LOW_32, MIX, scale};
use crate::error::BuildError;
use crate::geometry::MAX_CAPACITY;
use crate::params::float;

/// Slots a bucket.
pub(super) const LANES: u32 = 4;
/// The share of slots that the capacity fills. A segment that gets more than its share of the keys
/// grows a little before the others.
const START_LOAD: f64 = 0.958;
/// The share of slots, in 64ths, above which a segment grows. Searches get longer and longer there.
const FULL_64THS: u64 = 61;
/// The same until the filter holds its capacity, for which there should be no growth.
const FIRST_FULL_64THS: u64 = 62;
/// Room in a grown segment, in hundredths of what its keys fill: its load falls to 0.8.
pub(super) const ROOM: u64 = 120;
/// Slots beside `capacity / START_LOAD`, which keep small tables from growing too early.
const SPARE_SLOTS: u64 = 8;
/// The greatest growth that can be asked for.
const MAX_GROWTH: f64 = 1e9;
/// Four slots of one bit more fit 128 bits at any half byte.
pub(crate) const MAX_BITS: u32 = 30;
/// Bits that distinguish alternate places at the growth that was asked for: as many as fill
/// buckets of four.
const ALTERNATE_BITS: u32 = 7;

/// The constants of one filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bits of the fingerprint of a key that arrives, the mark of its end not counted.
    pub(crate) bits: u32,
    /// Segments of depth 0.
    pub(crate) roots: u32,
    /// Bits of a value, at most; 0 in a set.
    pub(crate) value_bits: u32,
}

/// What a hash means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyBits {
    pub(crate) root: u64,
    pub(crate) places: [u64; 2],
    pub(crate) mix: Mix,
    /// a_1 is the highest bit.
    pub(crate) string: u64,
}

/// Keys in a segment of this many buckets when it is full; `first` until the filter holds its
/// capacity.
#[inline(always)]
pub(super) fn full(buckets: u64, first: bool) -> u64 {
    buckets * u64::from(LANES) * if first { FIRST_FULL_64THS } else { FULL_64THS } / 64
}

/// The buckets that so many keys fill.
pub(super) fn buckets_for(keys: u64) -> u64 {
    (keys * 64).div_ceil(u64::from(LANES) * FULL_64THS)
}

impl Shape {
    /// The shape for `capacity` keys that keeps to `fpr` until the filter has grown to `growth`
    /// times as many, and the buckets of each of its roots.
    pub(crate) fn new(
        capacity: u64,
        fpr: f64,
        growth: f64,
        value_bits: u32,
    ) -> Result<(Self, u32), BuildError> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        // Written so that a NaN is refused too.
        if !(fpr > 0.0 && fpr < 1.0) {
            return Err(BuildError::Fpr(fpr));
        }
        if !(1.0..=MAX_GROWTH).contains(&growth) {
            return Err(BuildError::Growth { asked: growth, most: MAX_GROWTH });
        }
        if value_bits > 64 {
            return Err(BuildError::ValueBits(value_bits));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 2^36 / 0.9"
        )]
        let slots = (float(capacity) / START_LOAD).ceil() as u64 + SPARE_SLOTS;
        let buckets = slots.div_ceil(LANES.into());
        // As many as there can be: the closer a segment's buckets are to its places, the better.
        let roots = (buckets / PLACES).max(1);
        let narrow = |n: u64| u32::try_from(n).map_err(|_| BuildError::Capacity(capacity));
        let (buckets, roots) = (narrow(buckets.div_ceil(roots))?, narrow(roots)?);
        let grown = float(capacity) * growth;
        let shape = Self { bits: 0, roots, value_bits };
        let least = shape.splits(grown) + ALTERNATE_BITS;
        if least > MAX_BITS {
            return Err(BuildError::Growth { asked: growth, most: shape.most_growth(capacity) });
        }
        (least..=MAX_BITS)
            .map(|bits| Self { bits, ..shape })
            .find(|shape| shape.highest_fpr(buckets, grown) <= fpr)
            .map(|shape| (shape, buckets))
            .ok_or_else(|| BuildError::FprTooSmall {
                asked: fpr,
                reachable: Self { bits: MAX_BITS, ..shape }.highest_fpr(buckets, grown),
            })
    }

    /// Keys a root, in units of a segment that must split.
    fn segments_a_root(&self, keys: f64) -> f64 {
        keys / f64::from(self.roots) / float(full(MAX_BUCKETS, true))
    }

    /// How often segments have split at this many keys, if each split as early as it may.
    fn splits(&self, keys: f64) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 66")]
        let splits =
            (self.segments_a_root(keys) * float(ROOM) / 100.0).max(1.0).log2().ceil() as u32;
        splits
    }

    /// The greatest growth, in whole numbers, for which there are bits.
    fn most_growth(&self, capacity: u64) -> f64 {
        let splits = f64::from(MAX_BITS - ALTERNATE_BITS);
        let segments = splits.exp2() * 100.0 / float(ROOM);
        (segments / self.segments_a_root(float(capacity))).floor()
    }

    /// The highest false-positive rate from `buckets` buckets a root on up to this many keys.
    ///
    /// With P places a root, a lookup meets a key's place with probability 2/P. A key that arrived
    /// at depth g then matches with probability 2^-(g+bits). The first segment-full of keys of a
    /// root arrives at depth 0, the next one at depth 1, the next two at depth 2, and so on: each
    /// depth adds half of what the first did.
    fn highest_fpr(&self, buckets: u32, keys: f64) -> f64 {
        let (fulls, segment) = (self.segments_a_root(keys), float(full(MAX_BUCKETS, true)));
        let depth = fulls.max(1.0).log2().floor();
        let begun = if fulls <= 1.0 { fulls } else { (fulls / depth.exp2() - 1.0) / 2.0 + 1.0 };
        let weight = segment * (begun + depth / 2.0);
        // A small table has fewer buckets than places, and tells only so many places apart.
        let least = fulls * float(MAX_BUCKETS);
        let apart = |buckets: f64| buckets.log2().floor().exp2().min(float(PLACES));
        let (first, last) = (apart(buckets.into()), apart(least.max(buckets.into())));
        let at_end = weight / last;
        // Just before the places that are told apart doubled, their slots were as full as can be.
        let highest = if first < last { at_end.max(segment / float(PLACES)) } else { at_end };
        -(-2.0 * highest * (-f64::from(self.bits)).exp2()).exp_m1()
    }

    #[inline(always)]
    pub(super) fn key(&self, hash: u64) -> KeyBits {
        let string = hash.wrapping_mul(MIX);
        let first = (hash & LOW_32) >> (32 - PLACE_BITS);
        let mix = Mix::new(string >> (64 - self.bits));
        let root = scale(hash >> 32, self.roots.into());
        KeyBits { root, places: [first, mix.alternate(first)], mix, string }
    }

    /// What a key stores that arrives in a segment at `depth`: `bits` bits and the mark.
    #[inline(always)]
    pub(super) fn fingerprint(&self, string: u64, depth: u32) -> u64 {
        (((string << depth) >> (64 - self.bits)) << 1) | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_what_they_promise() {
        for capacity in [1, 2, 100, 4_000, 15_000, 16_000, 40_000, 1_000_000, 1 << 36] {
            for (fpr, growth) in [(0.5, 1.0), (0.01, 1024.0), (1e-3, 1e4), (1e-6, 1024.0)] {
                let (shape, buckets) = Shape::new(capacity, fpr, growth, 0).unwrap();
                assert!(u64::from(buckets) <= MAX_BUCKETS, "{shape:?}");
                let slots = u64::from(shape.roots) * u64::from(buckets * LANES);
                assert!(float(slots) * START_LOAD >= float(capacity));
                assert!(float(slots) * 0.94 <= float(capacity + 16));
            }
        }
        assert!(Shape::new(1, 1e-12, 1.0, 0).is_err());
        assert!(Shape::new(1, 0.1, f64::NAN, 0).is_err());
        assert!(Shape::new(0, 0.1, 1.0, 0).is_err());
        assert_eq!(Shape::new(1, 0.1, 1.0, 65).unwrap_err(), BuildError::ValueBits(65));
    }

    /// A growth that takes more bits than there are is told as such, whatever the rate, with the
    /// greatest that can be had.
    #[test]
    fn growth_beyond_the_bits_is_refused_as_growth() {
        for capacity in [1_000_000, 70_000_000, 1 << 36] {
            for fpr in [0.5, 1e-6] {
                let new = |growth| Shape::new(capacity, fpr, growth, 0);
                let Err(BuildError::Growth { asked: 1e9, most }) = new(1e9) else {
                    panic!("{:?}", new(1e9));
                };
                assert!(most > 1e6 && new(most).is_ok() && new(most * 1.001).is_err(), "{most}");
            }
        }
        assert!(Shape::new(100, 0.5, 1e9, 0).is_ok(), "small ones may grow as far as any");
    }

    /// Worked out by hand: 12 bits at eight slots of load 0.958, and the mark.
    #[test]
    fn a_million_keys_at_two_per_mille_have_twelve_bits() {
        assert_eq!(Shape::new(1_000_000, 0.002, 1.0, 0).unwrap().0.bits, 12);
    }

    #[test]
    fn the_alternate_is_an_involution() {
        let (shape, _) = Shape::new(1_000, 0.001, 1024.0, 0).unwrap();
        for n in 0..10_000_u64 {
            let key = shape.key(n.wrapping_mul(0x9e6c_63d0_876a_68ad));
            assert!(key.places.iter().all(|&place| place < PLACES));
            assert_eq!(key.mix.alternate(key.places[1]), key.places[0]);
        }
    }
}
