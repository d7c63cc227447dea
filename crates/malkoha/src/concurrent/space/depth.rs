//! How deep a table in parts lies: at the root, or below a part of another one.
//!
//! When a part cannot be split any more, because no bit of its fingerprints is left that chooses
//! parts, and is full, a table is opened *below* it, for further keys of that part. A fingerprint
//! there is what was still compared of the one above, and then fresh bits of the hash. So it says
//! all that the one above says, the alternate place among it: keys that are equal below are equal
//! above.

use std::fmt::Debug;

use crate::concurrent::target::Target;
use crate::geometry::{Geometry, Layout};
use crate::params;

/// Levels of tables, one below the other. Each takes six bits or more of a hash of 64 to choose
/// parts, so keys that differ do not get so deep.
const MOST_LEVELS: u32 = 16;
/// As much lower is the rate of each level: a quarter of the one above.
const BITS_A_LEVEL: u32 = 2;
/// Bits to be compared, at most: one of a word's half is left, which chooses parts.
const MOST_COMPARED: u32 = 31;
/// Multiplier of the word that fresh bits are taken from.
const FRESH: u64 = 0x9fb2_1c65_1e98_df25;

/// What differs between levels.
pub(crate) trait Depth: Copy + Debug + Send + Sync + 'static {
    /// Locks and versions.
    const STRIPES: u64;

    /// What the alternate place depends on: the fingerprint at the root.
    fn known(&self, fingerprint: u64) -> u64;

    /// The same as a value that tells all.
    fn level(&self, low_bits: u32) -> Deep;
}

/// The table that a filter begins with.
#[derive(Clone, Copy, Debug)]
pub struct Root;

impl Depth for Root {
    // Enough that threads seldom meet in one, and few enough to stay in a core's own cache.
    const STRIPES: u64 = if cfg!(any(loom, shuttle)) { 2 } else { 512 };

    #[inline(always)]
    fn known(&self, fingerprint: u64) -> u64 {
        fingerprint
    }

    fn level(&self, low_bits: u32) -> Deep {
        Deep { level: 0, drawn: 0, fresh: 0, above: 0, wanted: low_bits }
    }
}

/// A table below a part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deep {
    level: u32,
    /// Fresh bits of a fingerprint, with those of the levels above.
    drawn: u32,
    /// Fresh bits of this level.
    fresh: u32,
    /// The bits of a root's fingerprint that the way here tells.
    above: u64,
    /// Bits to be compared in the end, at least.
    wanted: u32,
}

impl Depth for Deep {
    // There may be many such tables.
    const STRIPES: u64 = if cfg!(any(loom, shuttle)) { 2 } else { 8 };

    #[inline(always)]
    fn known(&self, fingerprint: u64) -> u64 {
        fingerprint >> self.drawn.min(63) | self.above
    }

    fn level(&self, _: u32) -> Deep {
        *self
    }
}

impl Deep {
    /// The false-positive rate of a root and of all levels that can be below it, where a root's
    /// fingerprints have so many bits to compare, in so many slots of such a load.
    pub(super) fn all_levels(low_bits: u32, probed_slots: u32, load: f64) -> f64 {
        let bits = |level: u32| (low_bits + BITS_A_LEVEL * level).min(MOST_COMPARED);
        // Buckets below have as many slots or fewer.
        let level = |level| params::cuckoo_fpr(bits(level), probed_slots, load);
        (0..MOST_LEVELS).map(level).sum()
    }

    /// The level below a part of this one, of which so many bits of a fingerprint are left to
    /// compare; `name` is the bits before these. Its fingerprints have `bits` bits. `None`: there
    /// is none.
    pub(super) fn below(&self, name: u64, low_bits: u32, bits: u32) -> Option<Self> {
        if self.level + 1 == MOST_LEVELS || !(low_bits + 1..=32).contains(&bits) {
            return None;
        }
        let fresh = bits - low_bits;
        let above = self.known(name << low_bits);
        let (level, drawn) = (self.level + 1, self.drawn + fresh);
        let wanted = (self.wanted + BITS_A_LEVEL).min(MOST_COMPARED);
        Some(Self { level, drawn, fresh, above, wanted })
    }

    /// The bits of fingerprints below a part of this level, and how often the table there can be
    /// split.
    pub(super) fn shape_below(&self, geometry: &Geometry, low_bits: u32) -> (Geometry, u32) {
        let wanted = (self.wanted + BITS_A_LEVEL).min(MOST_COMPARED);
        // Its directory takes half as much as a part.
        let doublings = geometry.places.ilog2().saturating_sub(4).clamp(1, 16).min(32 - wanted);
        let enough = (wanted + doublings).max(low_bits + 1).max(geometry.fingerprint_bits);
        // As many as go into a word all the same.
        let fingerprint_bits = (64 / (64 / enough.min(32))).min(32);
        let layout = Layout::Words;
        (Geometry { layout, fingerprint_bits, segments: 1, ..*geometry }, doublings)
    }

    /// Where a key that belongs here is, of which the level above says where it is there.
    pub(super) fn target(&self, above: &Target) -> Target {
        let hash = above.hash;
        let word = (hash ^ hash >> 32).wrapping_mul(FRESH);
        // None are left of a word that is used up.
        let fresh = word.checked_shl(self.drawn - self.fresh).unwrap_or(0) >> (64 - self.fresh);
        // The bits of the part's name are cut off by whoever uses this.
        let mut target = *above;
        target.probe.segment = 0;
        target.probe.fingerprint = above.fingerprint << self.fresh | fresh;
        target
    }
}
