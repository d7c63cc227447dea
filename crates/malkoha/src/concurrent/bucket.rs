//! A bucket as one word: its lanes read and changed all at once.
//!
//! Empty lanes hold 0 and may lie anywhere. The bits above the last lane are 0.

use crate::layout::bits::Word;
use crate::layout::bucket_pair::BucketPair;

/// The constants of one fingerprint size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordFormat {
    bits: u32,
    /// A 1 in every lane; times a fingerprint, the fingerprint in every lane.
    ones: u64,
    /// The highest bit of every lane.
    highs: u64,
}

impl WordFormat {
    pub(crate) fn new(fingerprint_bits: u32) -> Self {
        let lanes = 64 / fingerprint_bits;
        let ones = (0..lanes).fold(0, |word, lane| word | 1 << (lane * fingerprint_bits));
        Self { bits: fingerprint_bits, ones, highs: ones << (fingerprint_bits - 1) }
    }

    pub(crate) fn bits(self) -> u32 {
        self.bits
    }

    pub(crate) fn number(&self) -> u32 {
        64 / self.bits
    }

    /// Nonzero if and only if some lane holds `fingerprint`; the lowest set bit is then the highest
    /// bit of the lowest such lane.
    #[inline(always)]
    pub(crate) fn matches(&self, word: u64, fingerprint: u64) -> u64 {
        let difference = word ^ self.ones.wrapping_mul(fingerprint);
        difference.has_zero_lane(self.ones, self.highs)
    }

    /// Whether a lane of one of two words holds `fingerprint`, for a lookup that
    /// [comes alone](crate::layout::bucket_pair).
    #[inline(always)]
    pub(crate) fn have_either(&self, words: [u64; 2], fingerprint: u64) -> bool {
        let wanted = self.ones.wrapping_mul(fingerprint);
        BucketPair::of(words).have_lane(wanted, [self.ones - 1, self.highs])
    }

    /// The bit at which the lowest lane with `fingerprint` begins; 0 finds an empty one.
    #[inline(always)]
    pub(crate) fn find(&self, word: u64, fingerprint: u64) -> Option<u32> {
        let found = self.matches(word, fingerprint);
        (found != 0).then(|| found.trailing_zeros() + 1 - self.bits)
    }

    #[inline(always)]
    pub(crate) fn has_room(&self, word: u64) -> bool {
        self.matches(word, 0) != 0
    }

    /// How many lanes hold `fingerprint`.
    pub(crate) fn count(&self, word: u64, fingerprint: u64) -> u32 {
        let equal = |lane| u32::from(self.lane(word, lane) == fingerprint);
        (0..self.number()).map(equal).sum()
    }

    #[inline(always)]
    pub(crate) fn lane(&self, word: u64, lane: u32) -> u64 {
        word >> (lane * self.bits) & (u64::MAX >> (64 - self.bits))
    }

    /// The word with the lane that begins at bit `shift` emptied.
    #[inline(always)]
    pub(crate) fn without(&self, word: u64, shift: u32) -> u64 {
        word & !((u64::MAX >> (64 - self.bits)) << shift)
    }

    /// What the occupied lanes hold.
    pub(crate) fn fingerprints(self, word: u64) -> impl Iterator<Item = u64> {
        (0..self.number()).map(move |lane| self.lane(word, lane)).filter(|&f| f != 0)
    }

    /// How many lanes are occupied.
    pub(crate) fn occupied(&self, word: u64) -> u32 {
        self.number() - self.count(word, 0)
    }

    /// Whether the bits above the last lane are 0.
    pub(crate) fn is_within(&self, word: u64) -> bool {
        word & !self.ones.wrapping_mul(u64::MAX >> (64 - self.bits)) == 0
    }

    /// The word with its occupied lanes first.
    pub(crate) fn packed(&self, word: u64) -> u64 {
        self.fingerprints(word)
            .zip(0..)
            .fold(0, |packed, (f, lane)| packed | f << (lane * self.bits))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the lanes one by one.
        #[test]
        fn words_are_lanes(bits in 4_u32..=32, word: u64, pick: u8, shift in 0_u32..64) {
            let lanes = WordFormat::new(bits);
            let used = lanes.number() * bits;
            // Empty lanes are common only if they are made so.
            let word = word & (u64::MAX >> (64 - used)) & u64::MAX.rotate_left(shift).wrapping_shl(bits);
            let each: Vec<u64> = (0..lanes.number()).map(|lane| lanes.lane(word, lane)).collect();
            for wanted in [each[usize::from(pick) % each.len()], 0, 1] {
                let first = (0_u32..).zip(&each).find(|(_, f)| **f == wanted);
                prop_assert_eq!(lanes.find(word, wanted), first.map(|(lane, _)| lane * bits));
                let equal = each.iter().filter(|&&f| f == wanted).count();
                prop_assert_eq!(lanes.count(word, wanted) as usize, equal);
            }
            if let Some(shift) = lanes.find(word, each[0]) {
                prop_assert_eq!(lanes.without(word, shift) , word & !((1_u64 << bits) - 1));
            }
            let mut packed: Vec<u64> = each.iter().copied().filter(|&f| f != 0).collect();
            prop_assert_eq!(lanes.fingerprints(word).collect::<Vec<_>>(), packed.clone());
            prop_assert_eq!(lanes.occupied(word) as usize, packed.len());
            prop_assert!(lanes.is_within(word));
            prop_assert!(used == 64 || !lanes.is_within(word | 1 << (used + shift % (64 - used))));
            packed.resize(each.len(), 0);
            let word = lanes.packed(word);
            let again: Vec<u64> = (0..lanes.number()).map(|lane| lanes.lane(word, lane)).collect();
            prop_assert_eq!(again, packed);
        }
    }
}
