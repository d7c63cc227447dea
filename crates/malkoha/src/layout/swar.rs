//! The paper's buckets where a whole bucket fits one machine word: all lanes at once.
//!
//! The occupied lanes of a bucket come first, so it has room exactly if its last lane is empty. A
//! new fingerprint enters at lane 0 and shifts the others up. One that leaves shifts those above it
//! down.

use crate::addressing::{Addressing, Aim, Probe, index};
use crate::geometry::{Geometry, Layout, word_lanes};
use crate::layout::bits::{LaneFormat, Word, split};
use crate::layout::bucket_pair::have_lane;
use crate::layout::traits::{Placement, Relocate, TableLayout, relocate_between_buckets};

/// With `WHOLE_BYTES`, buckets begin at whole bytes, and a load needs no shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swar<W, const WHOLE_BYTES: bool> {
    addressing: Addressing,
    segment_bytes: u64,
    pub(super) lanes: LaneFormat<W>,
    /// From the start of one bucket to that of the next, in the units of [`Relocate::UNITS`].
    stride: u32,
    /// All bits of the last lane.
    pub(super) last_lane: W,
}

impl<W: Word, const WHOLE_BYTES: bool> Swar<W, WHOLE_BYTES> {
    /// `None` if a bucket of this geometry can straddle two words, or is not a whole number of
    /// bytes as promised. The value of a slot, if there are any, lies above its fingerprint:
    /// [`ExpiringBuckets`](super::expiring::ExpiringBuckets) have them, table layouts do not.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        let lane_bits = geometry.slot_bits();
        let (bucket_size, stride_bits) = match geometry.layout {
            Layout::Bucketed { bucket_size } => (bucket_size, lane_bits * bucket_size),
            Layout::Words => (word_lanes(lane_bits), u64::BITS),
            _ => return None,
        };
        let bucket_bits = lane_bits * bucket_size;
        // A bucket begins at a multiple of gcd(8, stride_bits) in its first byte.
        let furthest_shift = 8 - (1 << stride_bits.trailing_zeros().min(3));
        let broken_promise = WHOLE_BYTES && furthest_shift != 0;
        if bucket_bits + furthest_shift > W::BITS || broken_promise {
            return None;
        }
        let Geometry { segments, places, fingerprint_bits, .. } = *geometry;
        Some(Self {
            addressing: Addressing::new(segments, places, fingerprint_bits),
            segment_bytes: geometry.segment_bytes(),
            lanes: LaneFormat::new(bucket_size, lane_bits),
            stride: if WHOLE_BYTES { stride_bits / 8 } else { stride_bits },
            last_lane: W::ones(lane_bits) << (bucket_bits - lane_bits),
        })
    }

    /// The byte, and the bit in it, where the bucket of an aim begins.
    #[inline(always)]
    fn position(&self, start: u64) -> (usize, u32) {
        if WHOLE_BYTES { (index(start), 0) } else { split(0, start) }
    }

    #[inline(always)]
    fn locate(&self, base: usize, place: u64) -> (usize, u32) {
        let start = self.offset(place);
        if WHOLE_BYTES { (base + index(start), 0) } else { split(base, start) }
    }

    /// The bucket at `place`; bits above the bucket are arbitrary.
    #[inline(always)]
    pub(super) fn load(&self, bytes: &[u8], base: usize, place: u64) -> W {
        let (at, shift) = self.locate(base, place);
        W::load(bytes, at) >> shift
    }

    #[inline(always)]
    pub(crate) fn store(&self, bytes: &mut [u8], base: usize, place: u64, bucket: W) {
        let (at, shift) = self.locate(base, place);
        let rest = W::load(bytes, at) & !(self.lanes.mask << shift);
        (rest | (bucket << shift)).store(bytes, at);
    }

    /// The bucket after `fingerprint` has entered at lane 0.
    #[inline(always)]
    pub(super) fn pushed(&self, bucket: W, fingerprint: u64) -> W {
        ((bucket << self.lanes.bits) | W::from_u64(fingerprint)) & self.lanes.mask
    }

    /// The bucket without the lane whose lowest bit is `lowest`; the lanes above it have moved
    /// down.
    #[inline(always)]
    pub(super) fn closed(&self, bucket: W, lowest: W) -> W {
        let below = lowest.wrapping_sub(W::from_u64(1));
        (bucket & below) | ((bucket >> self.lanes.bits) & !below)
    }

    /// # Safety
    ///
    /// `bytes` has a whole word from the byte on in which the bucket begins.
    #[inline(always)]
    unsafe fn try_place_in(&self, bytes: &mut [u8], start: u64, fingerprint: u64) -> Placement {
        let (at, shift) = self.position(start);
        // SAFETY: as the caller promises.
        let word = unsafe { W::load_unchecked(bytes, at) };
        let bucket = word >> shift;
        let copy = self.lanes.matches(bucket, fingerprint);
        if copy | (bucket & self.last_lane) != W::ZERO {
            return if copy == W::ZERO { Placement::Full } else { Placement::Copy };
        }
        let change = (bucket ^ self.pushed(bucket, fingerprint)) & self.lanes.mask;
        // SAFETY: as above.
        unsafe { (word ^ (change << shift)).store_unchecked(bytes, at) };
        Placement::Taken
    }

    /// Empties the lowest lane that `found` has the highest bit of; `false` if there is none.
    #[inline(always)]
    fn empty(&self, bytes: &mut [u8], base: usize, place: u64, bucket: W, found: W) -> bool {
        if found == W::ZERO {
            return false;
        }
        let highest = found & W::ZERO.wrapping_sub(found);
        let lowest = highest >> (self.lanes.bits - 1);
        self.store(bytes, base, place, self.closed(bucket & self.lanes.mask, lowest));
        true
    }
}

impl<W: Word, const WHOLE_BYTES: bool> Relocate for Swar<W, WHOLE_BYTES> {
    relocate_between_buckets!();

    const UNITS: u32 = if WHOLE_BYTES { 0 } else { 3 };

    #[inline(always)]
    fn offset(&self, place: u64) -> u64 {
        place * u64::from(self.stride)
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], place: u64) -> bool {
        let (at, shift) = self.locate(0, place);
        // SAFETY: the place is a bucket of this table, and behind the last one there are tail
        // bytes for the rest of the word.
        let bucket = unsafe { W::load_unchecked(bytes, at) } >> shift;
        bucket & self.last_lane == W::ZERO
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], place: u64, mut each: impl FnMut(u64)) {
        let mut bucket = self.load(bytes, 0, place) & self.lanes.mask;
        for _ in 0..self.lanes.number {
            let fingerprint = self.lanes.lane(bucket, 0);
            each(self.addressing.alternate(place, fingerprint));
            bucket = bucket >> self.lanes.bits;
        }
    }

    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64) {
        let bucket = self.load(bytes, base, place) & self.lanes.mask;
        // At most 16 lanes.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let lane = choice as u32;
        let fingerprint = self.lanes.lane(bucket, lane);
        let lowest = W::from_u64(1) << (lane * self.lanes.bits);
        self.store(bytes, base, place, self.closed(bucket, lowest));
        let target = self.load(bytes, base, to);
        self.store(bytes, base, to, self.pushed(target, fingerprint));
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, _value: u64) {
        let (base, place) = (self.base(probe.segment), self.candidates(probe)[candidate]);
        let bucket = self.load(bytes, base, place);
        self.store(bytes, base, place, self.pushed(bucket, probe.fingerprint));
    }
}

impl<W: Word, const WHOLE_BYTES: bool> TableLayout for Swar<W, WHOLE_BYTES> {
    const CROWDED: [u64; 2] = [2, 3];

    #[inline(always)]
    fn addressing(&self) -> &Addressing {
        &self.addressing
    }

    #[inline(always)]
    unsafe fn contains<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool {
        let wanted = self.lanes.all(aim.fingerprint);
        let lanes = [self.lanes.ones.wrapping_sub(W::from_u64(1)), self.lanes.highs];
        // SAFETY: an aim is the start of a bucket of this table, and behind the last bucket there
        // are tail bytes for the rest of the word.
        unsafe { have_lane::<W, WHOLE_BYTES, ALONE>(bytes, [aim.first, aim.second], wanted, lanes) }
    }

    #[inline]
    fn count_at(&self, bytes: &[u8], base: usize, place: u64, fingerprint: u64) -> u32 {
        self.lanes.count(self.load(bytes, base, place), fingerprint)
    }

    /// From the first bucket that has it, chosen without a branch: nobody can predict which one
    /// that is, and both lines are then requested at once.
    #[inline(always)]
    fn remove(&self, bytes: &mut [u8], probe: &Probe, _value: u64) -> bool {
        let base = self.base(probe.segment);
        let first = self.load(bytes, base, probe.first);
        let second = self.load(bytes, base, probe.second);
        let in_first = self.lanes.matches(first, probe.fingerprint);
        let in_second = self.lanes.matches(second, probe.fingerprint);
        let is_first = in_first != W::ZERO;
        let place = if is_first { probe.first } else { probe.second };
        let bucket = if is_first { first } else { second };
        let found = if is_first { in_first } else { in_second };
        self.empty(bytes, base, place, bucket, found)
    }

    /// Bucket by bucket: each file that is opened is counted.
    fn occupied(&self, bytes: &[u8], segment: u64) -> u64 {
        let base = self.base(segment);
        let occupied = |place| u64::from(self.lanes.number - self.count_at(bytes, base, place, 0));
        (0..self.places()).map(occupied).sum()
    }

    #[inline(always)]
    unsafe fn try_place(&self, bytes: &mut [u8], aim: &Aim, _: &Probe, _value: u64) -> Placement {
        // SAFETY: a word has 16 bytes at most.
        unsafe {
            match self.try_place_in(bytes, aim.first, aim.fingerprint) {
                Placement::Full => self.try_place_in(bytes, aim.second, aim.fingerprint),
                answer => answer,
            }
        }
    }

    /// The emptier bucket is the lesser number, since occupied lanes come first. A key that finds
    /// no room writes the bucket back unchanged.
    #[inline(always)]
    unsafe fn try_place_emptier(
        &self,
        bytes: &mut [u8],
        aim: &Aim,
        _probe: impl FnOnce() -> Probe,
    ) -> Placement {
        let [(first_at, first_shift), (second_at, second_shift)] =
            [self.position(aim.first), self.position(aim.second)];
        // SAFETY: a word has 16 bytes at most.
        let (first_word, second_word) =
            unsafe { (W::load_unchecked(bytes, first_at), W::load_unchecked(bytes, second_at)) };
        let first = (first_word >> first_shift) & self.lanes.mask;
        let second = (second_word >> second_shift) & self.lanes.mask;
        // SAFETY: `contains` loads the same two words.
        let is_copy = unsafe { self.contains::<true>(bytes, aim) };
        let is_second = second < first;
        let at = if is_second { second_at } else { first_at };
        let shift = if is_second { second_shift } else { first_shift };
        let word = if is_second { second_word } else { first_word };
        let bucket = if is_second { second } else { first };
        let is_full = bucket & self.last_lane != W::ZERO;
        let change = bucket ^ self.pushed(bucket, aim.fingerprint);
        let change = if is_copy | is_full { W::ZERO } else { change };
        // SAFETY: as above.
        unsafe { (word ^ (change << shift)).store_unchecked(bytes, at) };
        Placement::of(is_copy, is_full)
    }

    fn occupants(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
    ) -> impl Iterator<Item = (Probe, u64)> {
        let bucket = self.load(bytes, self.base(segment), place) & self.lanes.mask;
        self.lanes
            .fingerprints(bucket)
            .map(move |fingerprint| (self.addressing.occupant(segment, place, fingerprint), 0))
    }

    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, _value: u64) -> bool {
        let base = self.base(probe.segment);
        let bucket = self.load(bytes, base, place);
        let found = self.lanes.matches(bucket, probe.fingerprint);
        self.empty(bytes, base, place, bucket, found)
    }

    #[inline(always)]
    unsafe fn try_place_first(&self, bytes: &mut [u8], aim: &Aim) -> bool {
        // SAFETY: a word has 16 bytes at most.
        unsafe { self.try_place_in(bytes, aim.first, aim.fingerprint) == Placement::Taken }
    }
}
