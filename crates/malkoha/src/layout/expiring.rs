//! Buckets of four slots with an age in each, a bucket in one machine word: the bytes of a map's
//! lanes, with all fingerprints of a bucket compared at once.
//!
//! The age of a slot is a *label*: the lowest bits of the epoch in which its key was seen.
//! [`Times`](crate::expiry::Times) knows what it means.

use crate::geometry::{Geometry, Layout};
use crate::layout::Swar;
use crate::layout::bits::Word;

/// Slots per bucket.
pub(crate) const LANES: u32 = 4;
/// The most bits of a slot's fingerprint and age together: four slots fit 128 bits at any half
/// byte.
pub(crate) const MOST_BITS: u32 = 30;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpiringBuckets<W> {
    pub(crate) words: Swar<W, false>,
    fingerprint_bits: u32,
    /// All bits of every lane but the highest.
    lows: W,
    /// The fingerprint of every lane.
    fingerprints: W,
}

impl<W: Word> ExpiringBuckets<W> {
    /// `None` if a bucket of this geometry can straddle two words, or has no ages.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        let is_aged = geometry.layout == Layout::Bucketed { bucket_size: LANES }
            && geometry.value_bits > 0
            && geometry.slot_bits() <= MOST_BITS;
        let words = Swar::<W, false>::new(geometry).filter(|_| is_aged)?;
        let (lanes, fingerprint_bits) = (words.lanes, geometry.fingerprint_bits);
        let (lows, fingerprints) =
            (lanes.mask ^ lanes.highs, lanes.ones.wrapping_mul(W::ones(fingerprint_bits)));
        Some(Self { words, fingerprint_bits, lows, fingerprints })
    }

    /// The bucket at `place`.
    #[inline(always)]
    pub(crate) fn load(&self, bytes: &[u8], base: usize, place: u64) -> W {
        self.words.load(bytes, base, place) & self.words.lanes.mask
    }

    /// The highest bit of every lane with this fingerprint.
    #[inline(always)]
    pub(crate) fn matches(&self, bucket: W, fingerprint: u64) -> W {
        let difference = bucket ^ self.words.lanes.all(fingerprint);
        // A lane's highest bit belongs to its age, so nothing is carried out of a lane.
        !(difference & self.fingerprints).wrapping_add(self.lows) & self.words.lanes.highs
    }

    /// The highest bit of every lane with this label, possibly of empty lanes too.
    #[inline(always)]
    pub(crate) fn labelled(&self, bucket: W, label: u64) -> W {
        let difference = bucket ^ (self.words.lanes.all(label) << self.fingerprint_bits);
        let labels =
            (difference & !self.fingerprints & self.words.lanes.mask) >> self.fingerprint_bits;
        // A lane's highest bits belong to its fingerprint, and are 0 here.
        !labels.wrapping_add(self.lows) & self.words.lanes.highs
    }

    #[inline(always)]
    pub(crate) fn is_full(&self, bucket: W) -> bool {
        bucket & self.words.last_lane != W::ZERO
    }

    /// The lowest bit of the lane of the lowest bit in `found`.
    #[inline(always)]
    pub(crate) fn shift_of(&self, found: W) -> u32 {
        found.trailing_zeros() + 1 - self.words.lanes.bits
    }

    /// Fingerprint and label of the lane that begins at this bit; none in an empty one.
    #[inline(always)]
    pub(crate) fn slot(&self, bucket: W, shift: u32) -> Option<(u64, u64)> {
        let slot = (bucket >> shift).low() & u64::ones(self.words.lanes.bits);
        let fingerprint = slot & u64::ones(self.fingerprint_bits);
        (fingerprint != 0).then_some((fingerprint, slot >> self.fingerprint_bits))
    }

    /// The bits at which the lanes of a bucket begin.
    pub(crate) fn shifts(&self) -> impl DoubleEndedIterator<Item = u32> + use<W> {
        let bits = self.words.lanes.bits;
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
        self.words.pushed(bucket, fingerprint | (label << self.fingerprint_bits))
    }

    /// The bucket with another label in the lane that begins at this bit.
    #[inline(always)]
    pub(crate) fn relabelled(&self, bucket: W, shift: u32, label: u64) -> W {
        let at = shift + self.fingerprint_bits;
        let field = W::ones(self.words.lanes.bits - self.fingerprint_bits) << at;
        (bucket & !field) | (W::from_u64(label) << at)
    }

    /// The bucket after the lane that begins at this bit has left and those above it have moved
    /// down.
    #[inline(always)]
    pub(crate) fn closed(&self, bucket: W, shift: u32) -> W {
        self.words.closed(bucket, W::from_u64(1) << shift)
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
        self.words.store(bytes, base, from, self.closed(bucket, shift));
        let target = self.load(bytes, base, to);
        self.words.store(bytes, base, to, self.pushed(target, fingerprint, label));
    }
}

/// The buckets of a table of ages, in words that hold one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AgedBuckets {
    Narrow(ExpiringBuckets<u64>),
    Wide(ExpiringBuckets<u128>),
}
