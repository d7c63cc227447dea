//! A bucket as one word: its lanes read and changed all at once.
//!
//! Empty lanes hold 0 and may lie anywhere. The bits above the last lane are 0.

use crate::layout::bits::LaneFormat;
use crate::layout::bucket_pair::BucketPair;

impl LaneFormat<u64> {
    /// As many lanes of this size as a word has.
    pub(crate) fn of_word(fingerprint_bits: u32) -> Self {
        Self::new(u64::BITS / fingerprint_bits, fingerprint_bits)
    }

    /// Whether a lane of one of two words holds `fingerprint`, for a lookup that
    /// [comes alone](crate::layout::bucket_pair).
    #[inline(always)]
    pub(crate) fn have_either(&self, words: [u64; 2], fingerprint: u64) -> bool {
        BucketPair::of(words).have_lane(self.all(fingerprint), [self.ones - 1, self.highs])
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

    /// The word with the lane that begins at bit `shift` emptied.
    #[inline(always)]
    pub(crate) fn without(&self, word: u64, shift: u32) -> u64 {
        word & !(self.lowest() << shift)
    }

    /// How many lanes are occupied.
    pub(crate) fn occupied(&self, word: u64) -> u32 {
        self.number - self.count(word, 0)
    }

    /// Whether the bits above the last lane are 0.
    pub(crate) fn is_within(&self, word: u64) -> bool {
        word & !self.mask == 0
    }

    /// The word with its occupied lanes first.
    pub(crate) fn packed(&self, word: u64) -> u64 {
        self.fingerprints(word)
            .zip(0..)
            .fold(0, |packed, (f, lane)| packed | f << (lane * self.bits))
    }
}
