//! What a hash means under a shape: places, a string, and the part of it that a slot has room for.

use super::grid::{Mix, Mixer, PLACE_BITS};
use super::shape::{MIX_BITS, Shape};
use crate::addressing::{LOW_32, MIX, scale};

/// What hashes mean under a shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strings {
    /// In a table of several trees: bits of a string behind those that a slot has room for at depth
    /// 0.
    unused: u32,
    /// The number of trees in a table of several, or 0.
    trees: u32,
}

/// What a hash means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyBits {
    /// The tree.
    pub(crate) root: u64,
    pub(crate) places: [u64; 2],
    pub(crate) mix: Mix,
    /// a_1 is the highest bit.
    pub(crate) string: u64,
    /// The string behind the bits that choose the alternate place.
    pub(crate) path: u64,
}

impl Strings {
    /// What hashes mean in tables of one tree.
    pub(super) const ONE_TREE: Self = Self { unused: 0, trees: 0 };

    /// What hashes mean under this shape.
    pub(super) fn of(shape: &Shape) -> Self {
        let trees = if shape.mix_bits == 0 { shape.roots } else { 0 };
        Self { unused: 64 - shape.widths.bits, trees }
    }

    /// Whether hashes mean what they do in tables of [`MIX_BITS`]. Other tables are rare: slow
    /// operations are compiled for each kind separately, as `ONE` says.
    #[inline(always)]
    pub(super) fn is_one_tree(&self) -> bool {
        self.trees == 0
    }

    #[inline(always)]
    pub(super) fn key<const ONE: bool>(&self, hash: u64) -> KeyBits {
        self.key_with::<ONE>(hash, Mix::of_few)
    }

    /// [`key`](Self::key) for loops that are to be vectorised: computes what that looks up.
    #[inline(always)]
    pub(super) fn key_of_many<const ONE: bool>(&self, hash: u64) -> KeyBits {
        self.key_with::<ONE>(hash, |prefix| Mixer::FEW.mix(prefix))
    }

    /// `few` says what the [`MIX_BITS`] bits that stay in a slot become.
    #[inline(always)]
    fn key_with<const ONE: bool>(&self, hash: u64, few: impl Fn(u64) -> Mix) -> KeyBits {
        let string = hash.wrapping_mul(MIX);
        let first = (hash & LOW_32) >> (32 - PLACE_BITS);
        let (root, mix, path) = if ONE {
            (0, few(string >> (64 - MIX_BITS)), string << MIX_BITS)
        } else {
            let root = scale(hash >> 32, self.trees.into());
            (root, Mixer::ALL.mix(string >> self.unused), string)
        };
        KeyBits { root, places: [first, mix.alternate(first)], mix, string, path }
    }

    /// What is stored for a key that arrives in a segment at `depth`: `bits` bits and the mark.
    #[inline(always)]
    pub(super) fn fingerprint<const ONE: bool>(string: u64, depth: u32, bits: u32) -> u64 {
        (Self::stored::<ONE>(string, depth, bits) << 1) | 1
    }

    /// The bits of a string that a slot of `bits` bits at this depth has room for.
    #[inline(always)]
    pub(super) fn stored<const ONE: bool>(string: u64, depth: u32, bits: u32) -> u64 {
        let stored = if ONE {
            let (kept, path) = (string >> (64 - MIX_BITS), string << MIX_BITS << depth);
            (kept << (64 - MIX_BITS)) | (path >> MIX_BITS)
        } else {
            string << depth
        };
        stored >> (u64::BITS - bits)
    }
}
