//! The slots of a bucket side by side in a word: a few instructions examine all of them at once.

use crate::words::ones;

/// Where slots lie in a word: four of up to 16 bits, or two of more. A slot has its counter in its
/// lower bits and its fingerprint above that. Words may have anything above their last slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lanes {
    /// The lowest bit of each slot.
    low: u64,
    /// The counter of each slot.
    counters: u64,
    /// The fingerprint of each slot without its highest bit.
    fingerprints: u64,
    slot_bits: u32,
    counter_bits: u32,
    /// The lowest bit of the last slot.
    last: u32,
}

impl Lanes {
    pub(super) const fn new(fingerprint_bits: u32, counter_bits: u32) -> Self {
        let slot_bits = fingerprint_bits + counter_bits;
        let (mut low, mut last) = (1 | 1 << slot_bits, slot_bits);
        if slot_bits <= 16 {
            low |= low << (2 * slot_bits);
            last = 3 * slot_bits;
        }
        let fingerprints = low * (ones(fingerprint_bits - 1) << counter_bits);
        let counters = low * ones(counter_bits);
        Self { low, counters, fingerprints, slot_bits, counter_bits, last }
    }

    /// Words of a bucket.
    #[inline(always)]
    pub(super) const fn words(self) -> usize {
        if self.slot_bits <= 16 { 1 } else { 2 }
    }

    /// The lowest bit of each slot that is in use and has this fingerprint.
    #[inline(always)]
    pub(super) const fn holding(self, word: u64, fingerprint: u64) -> u64 {
        // Zero where the fingerprint is the same; the counter stays.
        let differs = word ^ (self.low * (fingerprint << self.counter_bits));
        // A carry into the highest bit of a slot, unless all other bits of its fingerprint are 0.
        let other = ((differs & self.fingerprints) + self.fingerprints) | differs;
        let counts = (word & self.counters) + self.counters;
        !(other >> (self.slot_bits - 1)) & (counts >> self.counter_bits) & self.low
    }

    /// The lowest bit of each slot that is not in use.
    #[inline(always)]
    pub(super) const fn empty(self, word: u64) -> u64 {
        // An empty slot has a counter of 0, and no other has.
        !(((word & self.counters) + self.counters) >> self.counter_bits) & self.low
    }

    /// The number of slots whose lowest bits these are.
    #[inline(always)]
    pub(super) const fn count(self, lowest: u64) -> u64 {
        // The product has the sum of all slots in the last one, and no sum is above four.
        lowest.wrapping_mul(self.low) >> self.last & 7
    }
}
