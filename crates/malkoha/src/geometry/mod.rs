//! The shape of a table: layout, widths, segments; and the bytes that it takes.

mod layout;

pub use layout::Layout;
pub(crate) use layout::{CODE_BITS, semi_sorted_bits, widest_gap, word_lanes};

use crate::error::BuildError;
use crate::params::{self, float, math};

/// The most keys a filter can be built for.
pub const MAX_CAPACITY: u64 = 1 << 36;

/// The most slots of a segment: few enough that a segment fits a core's own cache, and enough that
/// the fullest of thousands of segments is less than a percent fuller than the average.
const SEGMENT_SLOTS: u64 = 1 << 18;
/// The highest permitted limit on the places that an insert looks at. It bounds time and memory.
pub(crate) const MAX_KICKS_LIMIT: u32 = 65_535;

/// Bytes after each segment's slots, so that a word can be loaded and stored at any slot without
/// touching the next segment: segments are independent memory, also for threads.
const TAIL_BYTES: u64 = 16;

/// The shape of a table: `segments` equal segments of `places` places of slots.
///
/// Both places of a key lie in one segment. Nothing here need be a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Geometry {
    /// How fingerprints lie in memory.
    pub layout: Layout,
    /// Bits per fingerprint, 4 to 32.
    pub fingerprint_bits: u32,
    /// Bits per value: 0 in a set, up to 64 in a map.
    pub value_bits: u32,
    /// Number of segments.
    pub segments: u32,
    /// Places (buckets) per segment.
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
        layout.check(fingerprint_bits, value_bits)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 2^36 / 0.1"
        )]
        let filled = math::ceil(float(capacity) / layout.load(fingerprint_bits)) as u64;
        let slots = filled + layout.spare_slots();
        let segments = slots.div_ceil(SEGMENT_SLOTS);
        let overhang = layout.overhang(fingerprint_bits);
        let segment_slots = slots.div_ceil(segments).saturating_sub(overhang).max(1);
        let places = segment_slots.div_ceil(layout.slots_per_place(fingerprint_bits));
        let narrow = |n: u64| u32::try_from(n).map_err(|_| BuildError::Capacity(capacity));
        let (segments, places) = (narrow(segments)?, narrow(places)?);
        Self { layout, fingerprint_bits, value_bits, segments, places }.checked()
    }

    /// This geometry, if the library supports it.
    pub(crate) fn checked(self) -> Result<Self, BuildError> {
        self.layout.check(self.fingerprint_bits, self.value_bits)?;
        if self.segments == 0 || self.places == 0 {
            return Err(BuildError::Capacity(0));
        }
        self.table_bytes().ok_or(BuildError::Memory { bytes: u64::MAX })?;
        Ok(self)
    }

    /// Bits per slot: a fingerprint and a value.
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
        let overhang = self.layout.overhang(self.fingerprint_bits);
        u64::from(self.places) * self.layout.slots_per_place(self.fingerprint_bits) + overhang
    }

    /// Bytes per segment, a multiple of 8, its tail included.
    pub(crate) fn segment_bytes(&self) -> u64 {
        // No overflow: at most 2^35 slots of 96 bits.
        self.layout.bits(self.segment_slots(), self.slot_bits()).div_ceil(64) * 8 + TAIL_BYTES
    }

    /// Bytes of all segments; `None` where that is 2^60 or more, so that bits can be counted too.
    pub(crate) fn table_bytes(&self) -> Option<u64> {
        let bytes = self.segment_bytes().checked_mul(self.segments.into())?;
        (bytes < 1 << 60).then_some(bytes)
    }

    /// The false-positive rate when this share of the slots is occupied: paper, eq. 5, with the
    /// number of contents that a slot can really have for its 2^f.
    #[must_use]
    pub fn fpr_at(&self, load: f64) -> f64 {
        let contents = self.layout.distinct_contents(self.fingerprint_bits);
        let occupied = f64::from(self.layout.probed_slots(self.fingerprint_bits)) * load;
        -math::exp_m1(occupied * math::ln_1p(-1.0 / contents))
    }

    /// The expected number of keys, of `keys`, that find no place because their fingerprints are
    /// too short (paper, eq. 3).
    #[must_use]
    pub fn expected_failures(&self, keys: u64) -> f64 {
        let places = u64::from(self.segments) * u64::from(self.places);
        // A pair of windows and a fingerprint have four slots, as two buckets of two.
        let bucket_size = self.layout.probed_slots(self.fingerprint_bits) / 2;
        params::expected_overfull_groups(keys, places, bucket_size, self.fingerprint_bits)
    }
}
