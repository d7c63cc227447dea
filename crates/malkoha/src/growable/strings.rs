//! The parts of a hash: two places, and a string of bits of which a slot stores the first that its
//! segment does not imply.

use super::grid::{MIX_BITS, Mix, PLACE_BITS};
use crate::addressing::{LOW_32, MIX};

/// The parts of a hash.
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
