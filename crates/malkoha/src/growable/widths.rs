//! How many bits a fingerprint has by the depth of its segment.
//!
//! A slot knows the bits of its segment's path and those of its fingerprint. So the deeper a
//! segment is, the shorter its fingerprints can be for the same promised rate. But all depths
//! together must keep to the rate, and all depths of one width bring equally many matches. So the
//! depths that most filters reach share most of the rate among them, with one width, and the few
//! filters that grow further pay for the rest: there, widths rise slowly.

use super::grid::MIX_BITS;

/// Four slots of one bit more fit 128 bits at any half byte.
pub(crate) const MAX_BITS: u32 = 30;
/// The greatest depth.
pub(crate) const MAX_DEPTH: u32 = 31;
/// The splits after which a set's fingerprints begin to get longer: the largest of these that keeps
/// to the rate. If even the fewest do not, all fingerprints have a bit more.
const TURNS: (u32, u32) = (8, 14);
/// Splits in which fingerprints get longer by a bit from then on: with fewer, the shortest last
/// longer, but larger filters take more than if all had one length.
const A_RISE: u32 = 4;
/// The most bits that fingerprints get longer by then: enough for 31 splits.
const MOST_RISE: u32 = 6;
/// Bits of a path that a set's fingerprint has when it arrives, at least, and when the filter is
/// large. One without any goes into both halves of a split: with 5, that is one slot in eleven
/// after 12 splits.
const PATH_BITS: (u32, u32) = (5, 6);
/// Below this number of splits, one width for all depths takes no more bits.
pub(super) const WORTHWHILE: u32 = 7;

/// Bits of the fingerprint of a key that arrives, by the depth of its segment, the mark of its end
/// not counted. All are equal, unless the other numbers say more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Widths {
    /// The fewest.
    pub(crate) bits: u32,
    /// Above this depth, one more for each level.
    pub(crate) narrow_from: u32,
    /// Below this depth one more for the first four levels, two for the next four and so on, ...
    pub(crate) turn: u32,
    /// ... until there are this many more.
    pub(crate) rise: u32,
}

impl Widths {
    /// The same at all depths.
    pub(crate) const fn all(bits: u32) -> Self {
        Self { bits, narrow_from: 0, turn: 0, rise: 0 }
    }

    /// The most frugal ones that keep to a rate in a set that splits its first segments, at this
    /// depth, very often.
    pub(super) fn of_set(root_depth: u32, keeps: impl Fn(Self) -> bool) -> Option<Self> {
        let widths = |bits, splits: u32, rise| Self {
            bits,
            narrow_from: 0,
            turn: (root_depth + splits).min(MAX_DEPTH),
            rise,
        };
        let (least, enough) = PATH_BITS;
        let bits =
            (MIX_BITS + least..=MAX_BITS).find(|&bits| keeps(widths(bits, TURNS.0, MOST_RISE)))?;
        let turns = (TURNS.0..=TURNS.1).rev();
        let all = turns.flat_map(|turn| {
            ((MIX_BITS + enough).saturating_sub(bits)..=MOST_RISE).map(move |rise| (turn, rise))
        });
        all.map(|(turn, rise)| widths(bits, turn, rise)).find(|&widths| keeps(widths))
    }

    /// Those of a map whose first segments are at this depth, where each key knows `known` bits of
    /// its string behind their paths at least, so that it can be split.
    pub(super) fn of_map(
        root_depth: u32,
        known: u32,
        least: u32,
        keeps: impl Fn(Self) -> bool,
    ) -> Option<Self> {
        let widths = |bits: u32| {
            let narrow_from = root_depth + known.saturating_sub(bits);
            Self { narrow_from, ..Self::all(bits) }
        };
        (least..=MAX_BITS).map(widths).find(|&widths| keeps(widths))
    }

    /// The bits at a depth. From one depth to the next they never fall by more than one, so that a
    /// split leaves each fingerprint all its bits.
    #[inline]
    pub(crate) fn at(&self, depth: u32) -> u32 {
        let risen = depth.saturating_sub(self.turn).div_ceil(A_RISE);
        let narrowed = self.narrow_from.saturating_sub(depth);
        (self.bits + narrowed + risen.min(self.rise)).min(MAX_BITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growable::shape::Shape;

    fn widths(capacity: u64, fpr: f64, value_bits: u32) -> [u32; 32] {
        let (shape, _) = Shape::new(capacity, fpr, None, value_bits).unwrap();
        std::array::from_fn(|depth| shape.widths.at(u32::try_from(depth).unwrap()))
    }

    /// Worked out by hand: a lookup meets 15.5 slots of the first keys in a segment and 7 of each
    /// depth behind them, of which those of 16 bits match with probability 2^-16. Thirteen depths
    /// of 16 bits, four of 17, four of 18 and eleven of 19 weigh 15.5 + 84 + 14 + 7 + 9.6 times
    /// that, which is 0.1985 %.
    #[test]
    fn two_per_mille_for_good() {
        let mut expected = [19; 32];
        expected[..13].fill(16);
        expected[13..17].fill(17);
        expected[17..21].fill(18);
        assert_eq!(widths(10_000, 0.002, 0), expected);
    }

    #[test]
    fn no_split_takes_more_than_a_bit() {
        for capacity in [1, 30_000, 1_000_000, 1 << 30] {
            for (fpr, value_bits) in
                [0.5, 0.03, 1e-3, 1e-5].into_iter().flat_map(|f| [(f, 0), (f, 8)])
            {
                let widths = widths(capacity, fpr, value_bits);
                assert!(widths.windows(2).all(|two| two[1] + 1 >= two[0]), "{widths:?}");
                assert!(widths.iter().all(|bits| (MIX_BITS + 2..=MAX_BITS).contains(bits)));
            }
        }
    }

    /// A map is split sixteen times, so it must know as many bits of each key's path.
    #[test]
    fn maps_know_enough_to_be_split() {
        for fpr in [0.1, 0.01, 1e-4] {
            let widths = widths(10, fpr, 8);
            for (depth, bits) in (0..=MAX_DEPTH).zip(widths).take(16) {
                assert!(depth + bits >= MIX_BITS + 16, "{widths:?}");
            }
            assert!(widths[16] < widths[0], "{widths:?}");
        }
    }
}
