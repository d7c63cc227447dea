//! The constants of a growable filter, and what a hash means under them.
//!
//! | digit | bits of the hash | range |
//! | --- | --- | --- |
//! | root | high 32, multiplied down | `0..roots` |
//! | place | low 32, multiplied down | `0..places` |
//! | string | `hash * MIX`, from the highest bit on | a_1, a_2, ..., a_64 |
//!
//! A segment at depth g holds the keys of one root with one value of a_1..a_g. A key that arrives
//! there stores the next `bits` bits, a_(g+1)..a_(g+bits). The alternate place depends on
//! a_1..a_bits alone: whatever the depth, segment and slot together still know these.

use crate::addressing::{LOW_32, MIX, SPREAD, scale, spread};
use crate::error::BuildError;
use crate::geometry::MAX_CAPACITY;
use crate::params::float;

/// Slots a bucket.
pub(super) const LANES: u32 = 4;
/// Places of a whole segment, at least; fewer than twice as many, at most. A segment of 2^14 to
/// 2^15 slots splits in a tenth of a millisecond.
const WHOLE_PLACES: u32 = 1 << 12;
/// The share of slots to fill before a segment splits.
pub(super) const MAX_LOAD: f64 = 0.95;
/// Slots beside `capacity / MAX_LOAD`, which keep small tables from growing too early.
const SPARE_SLOTS: u64 = 16;
/// Four slots of one bit more fit 128 bits at any half byte.
pub(super) const MAX_BITS: u32 = 30;
/// Bits that distinguish alternate places at the growth that was asked for: as many as fill
/// buckets of four.
const ALTERNATE_BITS: u32 = 7;

/// The constants of one filter, and `narrowing`, the one that changes while it is small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bits of the fingerprint of a key that arrives.
    pub(crate) bits: u32,
    /// Places of a whole segment, a multiple of 2^`narrowing`.
    pub(crate) places: u32,
    /// Segments of depth 0.
    pub(crate) roots: u32,
    /// A small filter has one segment, of which 2^`narrowing` places are one bucket. Its slots
    /// have as many bits more, which say which of these places is meant.
    pub(crate) narrowing: u32,
}

/// What a hash means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyBits {
    pub(crate) root: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
    /// a_1 is the highest bit.
    pub(crate) string: u64,
}

impl Shape {
    /// The shape for `capacity` keys that keeps to `fpr` until the filter has grown to `growth`
    /// times as many.
    pub(crate) fn new(capacity: u64, fpr: f64, growth: f64) -> Result<Self, BuildError> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        // Written so that a NaN is refused too.
        if !(fpr > 0.0 && fpr < 1.0) {
            return Err(BuildError::Fpr(fpr));
        }
        if !(1.0..=1e9).contains(&growth) {
            return Err(BuildError::Growth(growth));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 2^36 / 0.95"
        )]
        let slots = (float(capacity) / MAX_LOAD).ceil() as u64 + SPARE_SLOTS;
        let buckets = slots.div_ceil(LANES.into());
        let roots = buckets.div_ceil(2 * u64::from(WHOLE_PLACES));
        // 2^13 at most; so many roots as 2^36 keys need are fewer than 2^32.
        let narrow = |n: u64| u32::try_from(n).map_err(|_| BuildError::Capacity(capacity));
        let (buckets, roots) = (narrow(buckets.div_ceil(roots))?, narrow(roots)?);
        let narrowing = (0..).find(|n| buckets << n >= WHOLE_PLACES).unwrap_or(0);
        let shape = Self { bits: 0, places: buckets << narrowing, roots, narrowing };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 30")]
        let doublings = (growth.log2().ceil() as u32).saturating_sub(narrowing);
        (doublings + ALTERNATE_BITS..=MAX_BITS)
            .map(|bits| Self { bits, ..shape })
            .find(|shape| shape.fpr_after(doublings) <= fpr)
            .ok_or_else(|| BuildError::FprTooSmall {
                asked: fpr,
                reachable: Self { bits: MAX_BITS, ..shape }.fpr_after(doublings),
            })
    }

    /// The highest false-positive rate when segments have split this many times. Of the keys in a
    /// full filter half arrived since the last split, a quarter before it, and so on; a key that
    /// has seen n splits has lost n bits. So each split adds half of what a lookup had at first.
    fn fpr_after(&self, doublings: u32) -> f64 {
        let at_first = f64::from(2 * LANES) * MAX_LOAD * (-f64::from(self.bits)).exp2();
        at_first * (1.0 + f64::from(doublings) / 2.0)
    }

    /// Buckets a segment.
    pub(crate) fn buckets(&self) -> u64 {
        u64::from(self.places >> self.narrowing)
    }

    /// Slots a segment.
    pub(crate) fn slots(&self) -> u64 {
        self.buckets() * u64::from(LANES)
    }

    /// Bytes a segment, a multiple of 8, with room for a word at any bucket.
    pub(crate) fn segment_bytes(&self) -> u64 {
        (self.slots() * u64::from(self.slot_bits())).div_ceil(64) * 8 + 16
    }

    /// Bits a slot: a fingerprint, the mark of its end, and which of the bucket's places is meant.
    pub(crate) fn slot_bits(&self) -> u32 {
        self.bits + 1 + self.narrowing
    }

    #[inline(always)]
    pub(super) fn key(&self, hash: u64) -> KeyBits {
        let string = hash.wrapping_mul(MIX);
        let first = scale(hash & LOW_32, self.places.into());
        KeyBits {
            root: scale(hash >> 32, self.roots.into()),
            first,
            second: self.alternate(first, string >> (64 - self.bits)),
            string,
        }
    }

    /// The other place of a key at `place` whose string begins with `prefix`, of `bits` bits. Its
    /// own inverse, as in the other layouts.
    #[inline(always)]
    pub(super) fn alternate(&self, place: u64, prefix: u64) -> u64 {
        let target = spread(prefix, SPREAD, self.places.into());
        let borrow = 0_u64.wrapping_sub(u64::from(target < place));
        target.wrapping_sub(place).wrapping_add(u64::from(self.places) & borrow)
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
                let shape = Shape::new(capacity, fpr, growth).unwrap();
                assert!(shape.places.trailing_zeros() >= shape.narrowing, "{shape:?}");
                assert!(shape.places >= WHOLE_PLACES && shape.places <= 2 * WHOLE_PLACES);
                let slots = shape.slots() * u64::from(shape.roots);
                assert!(float(slots) * MAX_LOAD >= float(capacity));
            }
        }
        assert!(Shape::new(1, 1e-12, 1.0).is_err());
        assert!(Shape::new(1, 0.1, f64::NAN).is_err());
        assert!(Shape::new(0, 0.1, 1.0).is_err());
    }

    #[test]
    fn the_alternate_is_an_involution() {
        let shape = Shape::new(1_000, 0.001, 1024.0).unwrap();
        for n in 0..10_000_u64 {
            let key = shape.key(n.wrapping_mul(0x9e6c_63d0_876a_68ad));
            assert!(key.first < shape.places.into() && key.second < shape.places.into());
            let back = shape.alternate(key.second, key.string >> (64 - shape.bits));
            assert_eq!(back, key.first);
        }
    }
}
