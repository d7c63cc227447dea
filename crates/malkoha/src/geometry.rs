//! The shape of a table: layout, widths, segments; and the bytes that it takes.

use std::fmt;

use crate::error::BuildError;
use crate::params::{self, float};

/// The most keys a filter can be built for.
pub const MAX_CAPACITY: u64 = 1 << 36;

/// Slots a segment aims at: small enough that a segment lies in a core's own cache, large enough
/// that the fullest of a million segments is only a percent fuller than the average one.
const SEGMENT_SLOTS: u64 = 1 << 17;

/// Bytes after the last segment, so that a word may be loaded at any slot.
pub(crate) const TAIL_BYTES: u64 = 16;

/// How fingerprints lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// The paper's: every key has two buckets, each of 1, 2, 4 or 8 slots.
    Bucketed {
        /// Slots a bucket.
        bucket_size: u32,
    },
}

impl Layout {
    /// The name used in messages and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bucketed { .. } => "bucketed",
        }
    }

    /// Slots a lookup compares.
    #[must_use]
    pub const fn probed_slots(self) -> u32 {
        match self {
            Self::Bucketed { bucket_size } => 2 * bucket_size,
        }
    }

    /// The share of slots that a filter is built to fill. Inserts up to it practically never fail.
    #[must_use]
    pub const fn load(self) -> f64 {
        match self {
            // One slot a bucket: the threshold is at 1/2 and any small cycle above it is fatal.
            Self::Bucketed { bucket_size: 1 } => 0.45,
            Self::Bucketed { bucket_size } => params::cuckoo_load_threshold(bucket_size),
        }
    }

    /// Keys hashed to one table differ in how many fall on one place; few slots average that out
    /// badly. This many slots more than `capacity / load` make up for it.
    const fn spare_slots(self) -> u64 {
        match self {
            Self::Bucketed { bucket_size: _ } => 0,
        }
    }

    /// Slots from one place to the next.
    pub(crate) const fn slots_per_place(self) -> u64 {
        match self {
            Self::Bucketed { bucket_size } => bucket_size as u64,
        }
    }

    fn check(self) -> Result<(), BuildError> {
        match self {
            Self::Bucketed { bucket_size: 1 | 2 | 4 | 8 } => Ok(()),
            Self::Bucketed { bucket_size } => Err(BuildError::BucketSize(bucket_size)),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bucketed { bucket_size } => write!(f, "bucketed, {bucket_size} slots a bucket"),
        }
    }
}

/// The shape of a table: `segments` equal segments of `places` places of slots.
///
/// Both places of a key lie in one segment. Nothing here need be a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Geometry {
    /// How fingerprints lie in memory.
    pub layout: Layout,
    /// Bits a fingerprint, 4 to 32.
    pub fingerprint_bits: u32,
    /// Bits a value beside each fingerprint: 0 in a set, up to 64 in a map.
    pub value_bits: u32,
    /// Number of segments.
    pub segments: u32,
    /// Places (buckets) a segment.
    pub places: u32,
}

impl Geometry {
    /// The geometry for `capacity` keys.
    pub(crate) fn for_capacity(
        capacity: u64,
        layout: Layout,
        fingerprint_bits: u32,
        value_bits: u32,
    ) -> Result<Self, BuildError> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        layout.check()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 2^36 / 0.45"
        )]
        let filled = (float(capacity) / layout.load()).ceil() as u64;
        let slots = filled + layout.spare_slots();
        let segments = slots.div_ceil(SEGMENT_SLOTS);
        let places = slots.div_ceil(segments * layout.slots_per_place());
        let narrow = |n: u64| u32::try_from(n).map_err(|_| BuildError::Capacity(capacity));
        let (segments, places) = (narrow(segments)?, narrow(places)?);
        Self { layout, fingerprint_bits, value_bits, segments, places }.checked()
    }

    /// This geometry, if it is one that this library supports.
    pub(crate) fn checked(self) -> Result<Self, BuildError> {
        self.layout.check()?;
        if !(4..=32).contains(&self.fingerprint_bits) {
            return Err(BuildError::FingerprintBits(self.fingerprint_bits));
        }
        if self.value_bits > 64 {
            return Err(BuildError::ValueBits(self.value_bits));
        }
        if self.segments == 0 || self.places == 0 {
            return Err(BuildError::Capacity(0));
        }
        self.table_bytes().ok_or(BuildError::Memory { bytes: u64::MAX })?;
        Ok(self)
    }

    /// Bits a slot: a fingerprint and a value.
    #[must_use]
    pub const fn slot_bits(&self) -> u32 {
        self.fingerprint_bits + self.value_bits
    }

    /// Slots in the whole table.
    #[must_use]
    pub fn slots(&self) -> u64 {
        u64::from(self.segments) * self.segment_slots()
    }

    fn segment_slots(&self) -> u64 {
        u64::from(self.places) * self.layout.slots_per_place()
    }

    /// Bytes a segment, a multiple of 8.
    pub(crate) fn segment_bytes(&self) -> u64 {
        // At most 2^35 slots of 96 bits.
        (self.segment_slots() * u64::from(self.slot_bits())).div_ceil(64) * 8
    }

    /// Bytes of all segments and the tail; `None` where that overflows.
    pub(crate) fn table_bytes(&self) -> Option<u64> {
        self.segment_bytes().checked_mul(self.segments.into())?.checked_add(TAIL_BYTES)
    }

    /// The false-positive rate when this share of the slots is occupied (paper, eq. 5).
    #[must_use]
    pub fn fpr_at(&self, load: f64) -> f64 {
        params::cuckoo_fpr(self.fingerprint_bits, self.layout.probed_slots(), load)
    }

    /// The expected number of keys, of `keys`, that find no place because their fingerprints are
    /// too short (paper, eq. 3).
    #[must_use]
    pub fn expected_failures(&self, keys: u64) -> f64 {
        let buckets = u64::from(self.segments) * u64::from(self.places);
        let Layout::Bucketed { bucket_size } = self.layout;
        params::expected_overfull_groups(keys, buckets, bucket_size, self.fingerprint_bits)
    }
}
