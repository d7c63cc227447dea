//! The layouts by name, and their properties.

use core::fmt;

use crate::error::BuildError;
use crate::params::math;

/// How fingerprints lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The paper's layout: every key has two buckets, each of 1, 2, 4 or 8 slots.
    Bucketed {
        /// Slots per bucket.
        bucket_size: u32,
    },
    /// The paper's buckets of four, sorted and coded (its section 5.2): one bit less per
    /// fingerprint, with slower operations.
    SemiSorted,
    /// Two windows of two slots that begin at any slot: half the comparisons, so half the false
    /// positives of buckets of four at the same width.
    GapWindows,
    /// Buckets of one 64-bit word, with as many slots as fit: 5 of 12 bits, 4 of 16. Threads can
    /// read and replace them whole.
    Words,
}

impl Layout {
    /// The name used in messages and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bucketed { .. } => "bucketed",
            Self::SemiSorted => "semi-sorted",
            Self::GapWindows => "gap-windows",
            Self::Words => "words",
        }
    }

    /// Slots that a lookup of a fingerprint of this size compares.
    #[must_use]
    pub const fn probed_slots(self, fingerprint_bits: u32) -> u32 {
        match self {
            Self::Bucketed { bucket_size } => bucket_size.saturating_mul(2),
            Self::SemiSorted => 8,
            Self::GapWindows => 4,
            Self::Words => 2 * word_lanes(fingerprint_bits),
        }
    }

    /// The share of slots that a filter with fingerprints of this size is built to fill. Inserts
    /// up to it practically never fail.
    ///
    /// With long fingerprints these are the thresholds of the paper's section 5.1, a little less
    /// for one slot per bucket, where any small cycle is fatal. Short fingerprints leave so few
    /// alternates that groups of keys get stuck early; those values are a margin below the least
    /// load at the first refusal that was measured with 10^5 to 10^8 keys; those of words are too,
    /// with 10^6 keys.
    #[must_use]
    pub const fn load(self, fingerprint_bits: u32) -> f64 {
        match (self, fingerprint_bits) {
            (Self::Bucketed { bucket_size: 1 }, ..12) => 0.10,
            (Self::Bucketed { bucket_size: 1 }, ..16) => 0.35,
            (Self::Bucketed { bucket_size: 1 }, _) => 0.42,
            (Self::Bucketed { bucket_size: 2 }, ..5) => 0.10,
            (Self::Bucketed { bucket_size: 2 }, 5) => 0.25,
            (Self::Bucketed { bucket_size: 2 }, 6) => 0.55,
            (Self::Bucketed { bucket_size: 2 }, 7) => 0.79,
            (Self::Bucketed { bucket_size: 2 }, 8) => 0.82,
            (Self::Bucketed { bucket_size: 2 }, _) => 0.84,
            (Self::Bucketed { bucket_size: 8 }, ..5) => 0.93,
            (Self::Bucketed { bucket_size: 8 }, 5) => 0.95,
            (Self::Bucketed { bucket_size: 8 }, 6) => 0.965,
            (Self::Bucketed { bucket_size: 8 }, _) => 0.98,
            (Self::Bucketed { .. } | Self::SemiSorted, ..5) => 0.75,
            (Self::Bucketed { .. } | Self::SemiSorted, 5) => 0.88,
            (Self::Bucketed { .. } | Self::SemiSorted, 6) => 0.92,
            (Self::Bucketed { .. } | Self::SemiSorted, 7) => 0.94,
            (Self::Bucketed { .. } | Self::SemiSorted, _) => 0.95,
            (Self::GapWindows, ..6) => 0.20,
            (Self::GapWindows, 6) => 0.50,
            (Self::GapWindows, 7) => 0.92,
            (Self::GapWindows, 8) => 0.94,
            (Self::GapWindows, _) => 0.95,
            (Self::Words, ..9) => 0.98,
            (Self::Words, 9..=10) => 0.97,
            (Self::Words, 11..=12) => 0.96,
            (Self::Words, 13..=16) => 0.95,
            (Self::Words, 17..=21) => 0.92,
            (Self::Words, _) => 0.85,
        }
    }

    /// Small tables vary more: slots beyond `capacity / load` that keep small tables from
    /// failing. With them at most one table in 10,000 of any size refuses a key below capacity
    /// (measured); with one slot per bucket it is one in 100, and only emptier tables would help.
    pub(super) const fn spare_slots(self) -> u64 {
        match self {
            Self::Bucketed { bucket_size: 1 | 8 } | Self::Words => 32,
            Self::Bucketed { bucket_size: 2 } => 48,
            Self::Bucketed { .. } | Self::SemiSorted => 16,
            Self::GapWindows => 16,
        }
    }

    /// Slots from one place to the next.
    pub(crate) const fn slots_per_place(self, fingerprint_bits: u32) -> u64 {
        match self {
            Self::Words => word_lanes(fingerprint_bits) as u64,
            Self::Bucketed { bucket_size } => bucket_size as u64,
            Self::SemiSorted => 4,
            Self::GapWindows => 1,
        }
    }

    /// Slots behind the last place of a segment.
    pub(super) const fn overhang(self, slot_bits: u32) -> u64 {
        match self {
            Self::Bucketed { .. } | Self::SemiSorted | Self::Words => 0,
            Self::GapWindows => widest_gap(slot_bits) as u64,
        }
    }

    /// Bits of `slots` slots of a segment.
    pub(super) const fn bits(self, slots: u64, slot_bits: u32) -> u64 {
        match self {
            Self::Bucketed { .. } | Self::GapWindows => slots * slot_bits as u64,
            Self::SemiSorted => slots / 4 * semi_sorted_bits(slot_bits) as u64,
            Self::Words => slots / word_lanes(slot_bits) as u64 * 64,
        }
    }

    /// The number of different contents of a slot: the reciprocal of the probability that an
    /// occupied slot matches a lookup.
    pub(super) fn distinct_contents(self, fingerprint_bits: u32) -> f64 {
        // 0 marks an empty slot.
        match self {
            Self::Bucketed { .. } | Self::SemiSorted | Self::Words => {
                math::exp2(fingerprint_bits.into()) - 1.0
            }
            Self::GapWindows => math::exp2(fingerprint_bits.into()) - 2.0,
        }
    }

    /// The smallest fingerprint that the layout supports.
    pub(crate) const fn least_fingerprint_bits(self) -> u32 {
        match self {
            Self::Bucketed { .. } | Self::GapWindows => 4,
            // A bucket of 16 slots of 4 bits would have more room than distinct fingerprints.
            Self::SemiSorted | Self::Words => 5,
        }
    }

    pub(super) fn check(self, fingerprint_bits: u32, value_bits: u32) -> Result<(), BuildError> {
        if !(4..=32).contains(&fingerprint_bits) {
            return Err(BuildError::FingerprintBits(fingerprint_bits));
        }
        if value_bits > 64 {
            return Err(BuildError::ValueBits(value_bits));
        }
        let no = |what| Err(BuildError::Layout { layout: self.name(), what });
        match self {
            Self::Bucketed { bucket_size: 1 | 2 | 4 | 8 } => Ok(()),
            Self::Bucketed { bucket_size } => Err(BuildError::BucketSize(bucket_size)),
            Self::SemiSorted | Self::GapWindows | Self::Words if value_bits > 0 => {
                no("values: choose the bucketed layout")
            }
            Self::SemiSorted | Self::Words if fingerprint_bits < self.least_fingerprint_bits() => {
                no("fingerprints of 4 bits: choose 5 to 32")
            }
            Self::SemiSorted | Self::GapWindows | Self::Words => Ok(()),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bucketed { bucket_size } => write!(f, "bucketed, {bucket_size} slots per bucket"),
            Self::SemiSorted => write!(f, "semi-sorted, 4 slots per bucket"),
            Self::GapWindows => write!(f, "gap windows"),
            Self::Words => write!(f, "one word per bucket"),
        }
    }
}

/// Slots of a bucket of [`Layout::Words`]; none for fingerprints of no bits.
pub(crate) const fn word_lanes(fingerprint_bits: u32) -> u32 {
    match u64::BITS.checked_div(fingerprint_bits) {
        Some(lanes) => lanes,
        None => 0,
    }
}

/// Bits of the number of a sequence of nibbles in a semi-sorted bucket.
pub(crate) const CODE_BITS: u32 = 12;

/// Bits of a semi-sorted bucket of four fingerprints of this size.
pub(crate) const fn semi_sorted_bits(fingerprint_bits: u32) -> u32 {
    CODE_BITS + 4 * (fingerprint_bits - 4)
}

/// The widest gap. Wider ones fill no better.
const MAX_GAP: u32 = 7;
/// Slots up to this size have windows in 64-bit words, wider ones in 128-bit words.
const WIDEST_IN_64: u32 = 14;

/// The widest gap for slots of this many bits: what one word covers at any bit offset in its first
/// byte.
pub(crate) const fn widest_gap(slot_bits: u32) -> u32 {
    let word_bits = if slot_bits <= WIDEST_IN_64 { u64::BITS } else { u128::BITS };
    let gap = (word_bits - 7) / slot_bits - 1;
    if gap > MAX_GAP { MAX_GAP } else { gap }
}
