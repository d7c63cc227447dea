//! Buckets of four slots with an age in each, a bucket in one machine word: the bytes of a map's
//! lanes, with all fingerprints of a bucket compared at once.
//!
//! The age of a slot is a *label*: the lowest bits of the epoch in which its key was seen.
//! [`Times`](crate::expiry::Times) knows what it means.

use crate::addressing::{Addressing, Probe};
use crate::arch::prefetch;
use crate::geometry::{Geometry, Layout};
use crate::layout::bits::{LaneFormat, Word, index, split};

/// Slots per bucket.
pub(crate) const LANES: u32 = 4;
/// The most bits of a slot's fingerprint and age together: four slots fit 128 bits at any half
/// byte.
pub(crate) const MOST_BITS: u32 = 30;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpiringBuckets<W> {
    addressing: Addressing,
    segment_bytes: u64,
    fingerprint_bits: u32,
    lanes: LaneFormat<W>,
    /// All bits of every lane but the highest.
    lows: W,
    /// The fingerprint of every lane.
    fingerprints: W,
}

impl<W: Word> ExpiringBuckets<W> {
    /// `None` if a bucket of this geometry can straddle two words, or has no ages.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        let (fingerprint_bits, lane_bits) = (geometry.fingerprint_bits, geometry.slot_bits());
        let is_aged = geometry.layout == Layout::Bucketed { bucket_size: LANES }
            && geometry.value_bits > 0
            && lane_bits <= MOST_BITS;
        // A bucket begins at any half byte if its slots have an odd number of bits.
        let furthest_shift = if lane_bits.is_multiple_of(2) { 0 } else { 4 };
        if !is_aged || LANES * lane_bits + furthest_shift > W::BITS {
            return None;
        }
        let lanes = LaneFormat::new(LANES, lane_bits);
        Some(Self {
            addressing: Addressing::new(geometry.segments, geometry.places, fingerprint_bits),
            segment_bytes: geometry.segment_bytes(),
            fingerprint_bits,
            lanes,
            lows: lanes.mask ^ lanes.highs,
            fingerprints: lanes.ones.wrapping_mul(W::ones(fingerprint_bits)),
        })
    }

    pub(crate) fn addressing(&self) -> &Addressing {
        &self.addressing
    }

    #[inline(always)]
    pub(crate) fn probe(&self, hash: u64) -> Probe {
        self.addressing.probe(hash)
    }

    #[inline(always)]
    pub(crate) fn base(&self, segment: u64) -> usize {
        index(segment * self.segment_bytes)
    }

    pub(crate) fn segment_bytes(&self) -> usize {
        index(self.segment_bytes)
    }

    #[inline(always)]
    fn locate(&self, base: usize, place: u64) -> (usize, u32) {
        split(base, place * u64::from(LANES * self.lanes.bits))
    }

    /// The byte in which a place begins.
    #[inline(always)]
    pub(crate) fn byte(&self, base: usize, place: u64) -> u64 {
        self.locate(base, place).0 as u64
    }

    /// Prefetches the lines of a key's buckets.
    #[inline(always)]
    pub(crate) fn prefetch(&self, bytes: &[u8], probe: &Probe) {
        let base = self.base(probe.segment);
        prefetch(bytes, self.byte(base, probe.first));
        prefetch(bytes, self.byte(base, probe.second));
    }

    /// The bucket at `place`.
    #[inline(always)]
    pub(crate) fn load(&self, bytes: &[u8], base: usize, place: u64) -> W {
        let (at, shift) = self.locate(base, place);
        (W::load(bytes, at) >> shift) & self.lanes.mask
    }

    #[inline(always)]
    pub(crate) fn store(&self, bytes: &mut [u8], base: usize, place: u64, bucket: W) {
        let (at, shift) = self.locate(base, place);
        let rest = W::load(bytes, at) & !(self.lanes.mask << shift);
        (rest | (bucket << shift)).store(bytes, at);
    }

    /// The highest bit of every lane with this fingerprint.
    #[inline(always)]
    pub(crate) fn matches(&self, bucket: W, fingerprint: u64) -> W {
        let difference = bucket ^ self.lanes.all(fingerprint);
        // A lane's highest bit belongs to its age, so nothing is carried out of a lane.
        !(difference & self.fingerprints).wrapping_add(self.lows) & self.lanes.highs
    }

    /// The highest bit of every lane with this label, possibly of empty lanes too.
    #[inline(always)]
    pub(crate) fn labelled(&self, bucket: W, label: u64) -> W {
        let difference = bucket ^ (self.lanes.all(label) << self.fingerprint_bits);
        let labels = (difference & !self.fingerprints & self.lanes.mask) >> self.fingerprint_bits;
        // A lane's highest bits belong to its fingerprint, and are 0 here.
        !labels.wrapping_add(self.lows) & self.lanes.highs
    }

    #[inline(always)]
    pub(crate) fn is_full(&self, bucket: W) -> bool {
        bucket >> ((LANES - 1) * self.lanes.bits) != W::ZERO
    }

    /// The lowest bit of the lane of the lowest bit in `found`.
    #[inline(always)]
    pub(crate) fn shift_of(&self, found: W) -> u32 {
        found.trailing_zeros() + 1 - self.lanes.bits
    }

    /// Fingerprint and label of the lane that begins at this bit; none in an empty one.
    #[inline(always)]
    pub(crate) fn slot(&self, bucket: W, shift: u32) -> Option<(u64, u64)> {
        let slot = (bucket >> shift).low() & u64::ones(self.lanes.bits);
        let fingerprint = slot & u64::ones(self.fingerprint_bits);
        (fingerprint != 0).then_some((fingerprint, slot >> self.fingerprint_bits))
    }

    /// The bits at which the lanes of a bucket begin.
    pub(crate) fn shifts(&self) -> impl DoubleEndedIterator<Item = u32> + use<W> {
        let bits = self.lanes.bits;
        (0..LANES).map(move |lane| lane * bits)
    }

    /// The occupied lanes of a bucket: where each begins, fingerprint and label.
    pub(crate) fn occupants(&self, bucket: W) -> impl DoubleEndedIterator<Item = (u32, u64, u64)> {
        let slot =
            move |at| self.slot(bucket, at).map(|(fingerprint, label)| (at, fingerprint, label));
        self.shifts().filter_map(slot)
    }

    /// A bucket that is not full after a slot has entered at lane 0.
    #[inline(always)]
    pub(crate) fn pushed(&self, bucket: W, fingerprint: u64, label: u64) -> W {
        let slot = fingerprint | (label << self.fingerprint_bits);
        ((bucket << self.lanes.bits) | W::from_u64(slot)) & self.lanes.mask
    }

    /// The bucket with another label in the lane that begins at this bit.
    #[inline(always)]
    pub(crate) fn relabelled(&self, bucket: W, shift: u32, label: u64) -> W {
        let at = shift + self.fingerprint_bits;
        let field = W::ones(self.lanes.bits - self.fingerprint_bits) << at;
        (bucket & !field) | (W::from_u64(label) << at)
    }

    /// The bucket after the lane that begins at this bit has left and those above it have moved
    /// down.
    #[inline(always)]
    pub(crate) fn closed(&self, bucket: W, shift: u32) -> W {
        let below = W::ones(shift);
        (bucket & below) | ((bucket >> self.lanes.bits) & !below)
    }

    /// Moves lane number `choice` of a full bucket to one with room.
    pub(crate) fn relocate(
        &self,
        bytes: &mut [u8],
        base: usize,
        from: u64,
        choice: usize,
        to: u64,
    ) {
        let bucket = self.load(bytes, base, from);
        let shift = self.shifts().nth(choice).unwrap_or(0);
        let Some((fingerprint, label)) = self.slot(bucket, shift) else { return };
        self.store(bytes, base, from, self.closed(bucket, shift));
        let target = self.load(bytes, base, to);
        self.store(bytes, base, to, self.pushed(target, fingerprint, label));
    }
}
