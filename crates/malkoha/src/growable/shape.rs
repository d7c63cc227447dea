//! The constants of a growable filter: how full its segments get, and how wide its slots are.

use super::grid::{MAX_BUCKETS, MIX_BITS, PLACES};
use super::widths::{MAX_BITS, MAX_DEPTH, WORTHWHILE, Widths};
use crate::error::BuildError;
use crate::geometry::MAX_CAPACITY;
use crate::layout::four_lanes::SLOTS;
use crate::params::float;

/// The share of slots that the capacity fills. A segment that gets more than its share of the keys
/// grows a little before the others.
const START_LOAD: f64 = 0.958;
/// The share of slots, in 64ths, above which a segment of fewer than [`PLACES`] buckets grows.
/// Searches get longer and longer there.
const FULL_64THS: u64 = 61;
/// How a segment of at least [`PLACES`] buckets grows, with slots of at least [`LONG`] bits. A key
/// of a set at 0.1 % then takes 21.5 to 22 bits on average while the set doubles, and 63 % of the
/// inserts find room at once. With the steps for short slots it takes about 1.5 bits less, and 40 %
/// find room.
const LONG_SLOTS: Steps = Steps { full_64ths: 56, part: 10, split_room: 110 };
/// The same for shorter slots, of which each empty one costs a larger share of a key's bits.
const SHORT_SLOTS: Steps = Steps { full_64ths: 59, part: 32, split_room: 106 };
const LONG: u32 = 17;
/// The same until the filter holds its capacity, for which there should be no growth.
const EARLY_FULL_64THS: u64 = 62;
/// Room in a grown segment, in hundredths of what its keys fill: its load falls to 0.8.
pub(super) const ROOM: u64 = 120;
/// Slots in addition to `capacity / START_LOAD`, which keep small tables from growing too early.
const SPARE_SLOTS: u64 = 8;
/// The greatest growth that can be asked for.
const MAX_GROWTH: f64 = 1e9;
/// Bits of a path that a set's fingerprint has when it arrives, at least and enough. Fingerprints
/// without any go into both halves of a split: with 6, that is one slot in sixteen after 10 splits,
/// and one in five after 20.
const PATH_BITS: (u32, u32) = (2, 6);
/// The capacity from which on a set without a named growth keeps to its rate up to the capacity. A
/// smaller one keeps to it at any size: it takes few bytes, and its capacity is often a guess.
const LARGE: u64 = 1 << 16;
/// Bits of a path that a fingerprint of such a set has at least. With fewer, a high rate would have
/// its keys go into both halves after few splits.
const LARGE_PATH_BITS: u32 = 4;
/// Bits of a path that are left to a map's fingerprints at the growth that was asked for.
const SPARE_BITS: u32 = 2;
/// Bits of a path that a map's fingerprint has if no growth was asked for: enough for 10^9 keys, or
/// 65,536 times what it was built for. Later keys of segments that cannot be split are stashed.
const MAP_PATH_BITS: u32 = 16;
/// The constants of one filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Bits of the fingerprint of a key that arrives, by the depth of its segment.
    pub(crate) widths: Widths,
    /// Segments that the table began with.
    pub(crate) roots: u32,
    /// Bits of a value, at most; 0 in a set.
    pub(crate) value_bits: u32,
    /// Whether values are ages, by which keys expire that are not removed.
    pub(crate) ages: bool,
}

/// How a segment grows in small steps.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    /// The share of its slots above which it grows.
    full_64ths: u64,
    /// A segment of n buckets gets n / `part` more.
    pub(super) part: u64,
    /// Room in the halves of a split segment, in hundredths of what their keys fill.
    pub(super) split_room: u64,
}

impl Shape {
    /// How segments grow in small steps.
    #[inline(always)]
    pub(super) fn steps(&self) -> Steps {
        if self.widths.bits + 1 + self.value_bits >= LONG { LONG_SLOTS } else { SHORT_SLOTS }
    }

    /// Keys in a segment of this many buckets when it is full; `first` until the filter holds its
    /// capacity.
    #[inline(always)]
    pub(super) fn full(&self, buckets: u64, first: bool) -> u64 {
        let share = match (first, buckets < PLACES) {
            (true, _) => EARLY_FULL_64THS,
            (false, true) => FULL_64THS,
            (false, false) => self.steps().full_64ths,
        };
        buckets * u64::from(SLOTS) * share / 64
    }

    /// The number of buckets that this many keys fill.
    pub(super) fn buckets_for(&self, keys: u64) -> u64 {
        let full_to = |share| (keys * 64).div_ceil(u64::from(SLOTS) * share);
        match full_to(FULL_64THS) {
            few if few < PLACES => few,
            _ => full_to(self.steps().full_64ths),
        }
    }

    /// The shape for `capacity` keys that keeps to `fpr` until the filter has grown to `growth`
    /// times as many, and the number of buckets of each of its roots. With a growth of infinity, it
    /// keeps to `fpr` at any size, or as far as the longest fingerprints do. Without a growth, so
    /// do maps and sets of fewer than [`LARGE`] keys, and larger sets keep to it up to `capacity`.
    pub(crate) fn new(
        capacity: u64,
        fpr: f64,
        growth: Option<f64>,
        value_bits: u32,
    ) -> Result<(Self, u32), BuildError> {
        Self::of(capacity, fpr, growth, (value_bits, false))
    }

    /// The same for a table whose values can be ages.
    pub(crate) fn of(
        capacity: u64,
        fpr: f64,
        growth: Option<f64>,
        (value_bits, ages): (u32, bool),
    ) -> Result<(Self, u32), BuildError> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        // Written so that a NaN is refused too.
        if !(fpr > 0.0 && fpr < 1.0) {
            return Err(BuildError::Fpr(fpr));
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
        let buckets = slots.div_ceil(SLOTS.into());
        // As many as there can be of a power of two: the closer a segment's buckets are to its
        // places, the better. Few more buckets are better than ones that leave no room to grow.
        let roots = 1 << ((buckets + buckets / 16) / PLACES).max(1).ilog2();
        let buckets = if roots == 1 { buckets } else { buckets.max(roots * PLACES) };
        let narrow = |n: u64| u32::try_from(n).map_err(|_| BuildError::Capacity(capacity));
        let (buckets, roots) = (narrow(buckets.div_ceil(roots))?, narrow(roots)?);
        let widths = Widths::all(MAX_BITS);
        let shape = Self { widths, roots, value_bits, ages };
        let least_path_bits = if growth.is_some() { PATH_BITS.0 } else { LARGE_PATH_BITS };
        let growth = growth.or((shape.copies_exhausted() && capacity >= LARGE).then_some(1.0));
        let growth = growth.filter(|&growth| growth != f64::INFINITY);
        if let Some(asked) = growth.filter(|growth| !(1.0..=MAX_GROWTH).contains(growth)) {
            return Err(BuildError::Growth { asked, most: MAX_GROWTH });
        }
        let deepest = MAX_DEPTH - shape.root_depth();
        let without_copies = deepest.min(MAX_BITS - MIX_BITS - SPARE_BITS);
        let most = shape
            .growth_to(if shape.copies_exhausted() { deepest } else { without_copies }, capacity);
        if let Some(asked) = growth.filter(|&growth| growth > most) {
            return Err(BuildError::Growth { asked, most });
        }
        let grown = float(capacity) * growth.unwrap_or(shape.growth_to(deepest, capacity));
        let splits = shape.splits(grown);
        let keeps = |widths| Self { widths, ..shape }.highest_fpr(buckets, grown) <= fpr;
        let all_alike = |path_bits| {
            (MIX_BITS + path_bits..=MAX_BITS).map(Widths::all).find(|&widths| keeps(widths))
        };
        let enough = match (growth, shape.copies_exhausted()) {
            (Some(_), true) if splits < WORTHWHILE => {
                all_alike(splits.clamp(least_path_bits, PATH_BITS.1))
            }
            (_, true) => Widths::of_set(shape.root_depth(), keeps),
            (_, false) => {
                let most = if growth.is_some() { u32::MAX } else { MAP_PATH_BITS };
                let known = MIX_BITS + most.min(splits + SPARE_BITS);
                Widths::of_map(shape.root_depth(), known, MIX_BITS + SPARE_BITS, keeps)
            }
        };
        let enough = enough.map(|widths| Self { widths, ..shape });
        let asked_for = float(capacity) * growth.unwrap_or(1.0);
        let reachable = shape.highest_fpr(buckets, asked_for);
        enough
            .or((reachable <= fpr).then_some(shape))
            .map(|shape| (shape, buckets))
            .ok_or(BuildError::FprTooSmall { asked: fpr, reachable })
    }

    /// Keys per root, in units of a segment that must split.
    fn segments_a_root(&self, keys: f64) -> f64 {
        keys / f64::from(self.roots) / float(self.full(MAX_BUCKETS, true))
    }

    /// How often segments have split at this many keys, if each split as early as possible.
    fn splits(&self, keys: f64) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 66")]
        let splits =
            (self.segments_a_root(keys) * float(ROOM) / 100.0).max(1.0).log2().ceil() as u32;
        splits
    }

    /// The growth, as an integer, for which segments have split this often.
    fn growth_to(&self, splits: u32, capacity: u64) -> f64 {
        let segments = f64::from(splits).exp2() * 100.0 / float(ROOM);
        (segments / self.segments_a_root(float(capacity))).floor()
    }

    /// The highest false-positive rate from `buckets` buckets a root on up to this many keys.
    ///
    /// With P places a root, a lookup meets a key's place with probability 2/P. A key that arrived
    /// after g splits then matches with probability 2^-(g+bits). The first segment-full of keys of
    /// a root arrives after none, the next one after one, the next two after two, and so on: each
    /// depth adds half of what the first would with its bits.
    fn highest_fpr(&self, buckets: u32, keys: f64) -> f64 {
        let (fulls, segment) = (self.segments_a_root(keys), float(self.full(MAX_BUCKETS, true)));
        let depth = fulls.max(1.0).log2().floor();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 66")]
        let splits = depth as u32;
        // The probability that a key at the place matches, times 2^splits.
        let rate = |splits| (-f64::from(self.widths.at(self.root_depth() + splits))).exp2();
        let begun = (fulls / depth.exp2() - 1.0).max(0.0) / 2.0 * rate(splits + 1);
        let later: f64 = (1..=splits).map(|splits| rate(splits) / 2.0).sum();
        let split = float(self.full(MAX_BUCKETS, false));
        let weight = segment * fulls.min(1.0) * rate(0) + split * (begun + later);
        // A small table has fewer buckets than places, and tells only that many places apart.
        let least = fulls * float(MAX_BUCKETS);
        let apart = |buckets: f64| buckets.log2().floor().exp2().min(float(PLACES));
        let (first, last) = (apart(buckets.into()), apart(least.max(buckets.into())));
        let at_end = weight / last;
        // Just before the places that are told apart doubled, their slots were as full as can be.
        let highest =
            if first < last { at_end.max(segment / float(PLACES) * rate(0)) } else { at_end };
        -(-2.0 * highest).exp_m1()
    }

    /// The depth of the segments that the table began with.
    pub(crate) fn root_depth(&self) -> u32 {
        self.roots.trailing_zeros()
    }

    /// Whether a fingerprint that has no bit of its path left goes into both halves of a split. Not
    /// in maps: the copy in the other half would be a candidate that nobody can remove. An age
    /// expires in both.
    pub(crate) fn copies_exhausted(&self) -> bool {
        self.value_bits == 0 || self.ages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_keep_what_they_promise() {
        for capacity in [1, 2, 100, 4_000, 15_000, 16_000, 40_000, 1_000_000, 1 << 36] {
            for (fpr, growth) in [(0.5, 1.0), (0.01, 1024.0), (1e-3, 1e4), (1e-6, 512.0)] {
                let Ok((shape, buckets)) = Shape::new(capacity, fpr, Some(growth), 0) else {
                    assert!(capacity > 1 << 30 && growth > 512.0, "deeper than segments can be");
                    continue;
                };
                assert!(u64::from(buckets) <= MAX_BUCKETS, "{shape:?}");
                assert!(shape.roots.is_power_of_two());
                let slots = u64::from(shape.roots) * u64::from(buckets * SLOTS);
                assert!(float(slots) * START_LOAD >= float(capacity));
                assert!(float(slots) * 0.90 <= float(capacity + 16));
            }
        }
        assert!(Shape::new(1, 1e-12, Some(1.0), 0).is_err());
        assert!(Shape::new(1, 1e-12, None, 0).is_err());
        assert!(Shape::new(1, 0.1, Some(f64::NAN), 0).is_err());
        assert!(Shape::new(0, 0.1, None, 0).is_err());
        assert_eq!(Shape::new(1, 0.1, None, 65).unwrap_err(), BuildError::ValueBits(65));
    }

    /// A growth for which segments cannot split often enough is refused as such, whatever the rate,
    /// with the greatest that there is.
    #[test]
    fn growth_beyond_all_splits_is_refused_as_growth() {
        for (capacity, value_bits) in [(1 << 34, 0), (1 << 36, 0), (1_000_000, 8), (1 << 36, 8)] {
            for fpr in [0.5, 1e-5] {
                let new = |growth| Shape::new(capacity, fpr, Some(growth), value_bits);
                let Err(BuildError::Growth { asked: 1e9, most }) = new(1e9) else {
                    panic!("{:?}", new(1e9));
                };
                assert!(most > 100.0 && new(most).is_ok() && new(most * 1.01).is_err(), "{most}");
            }
        }
        assert!(Shape::new(100, 0.5, Some(1e9), 0).is_ok(), "small sets may grow as far as any");
        assert!(Shape::new(100, 0.5, Some(1e8), 8).is_ok(), "and small maps nearly as far");
    }

    /// The cost of growth without end: three bits.
    #[test]
    fn a_rate_that_holds_at_any_size_costs_few_bits() {
        let shape = |capacity, growth| Shape::new(capacity, 1e-4, growth, 0).unwrap().0;
        for capacity in [10_000, 1_000_000, 1 << 30, 1 << 36] {
            let for_good = shape(capacity, Some(f64::INFINITY));
            let fixed = shape(capacity, Some(1.0));
            let cost = for_good.widths.bits - fixed.widths.bits;
            assert!((2..=3).contains(&cost), "{capacity}: {cost}");
        }
        // The longest fingerprints do not keep this rate at any size, and do at the first.
        assert_eq!(Shape::new(100, 1e-7, None, 0).unwrap().0.widths.bits, MAX_BITS);
    }

    /// Worked out by hand: 12 bits at eight slots of load 0.958, and the mark.
    #[test]
    fn a_million_keys_at_two_per_mille_have_twelve_bits() {
        assert_eq!(Shape::new(1_000_000, 0.002, Some(1.0), 0).unwrap().0.widths.bits, 12);
    }
}
