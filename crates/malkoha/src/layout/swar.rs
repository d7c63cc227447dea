//! The paper's buckets where a whole bucket fits one machine word: all lanes at once.
//!
//! The occupied lanes of a bucket come first, so it has room exactly if its last lane is empty. A
//! new fingerprint enters at lane 0 and shifts the others up. One that leaves shifts those above it
//! down.

use crate::addressing::{Addressing, Aim, Probe};
use crate::geometry::{Geometry, Layout, word_lanes};
use crate::layout::bits::{Word, index, split};
use crate::layout::bucket_pair::have_lane;
use crate::layout::traits::{Placement, Room, TableLayout};

/// With `WHOLE_BYTES`, buckets begin at whole bytes, and a load needs no shift.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Swar<W, const WHOLE_BYTES: bool> {
    addressing: Addressing,
    segment_bytes: u64,
    lane_bits: u32,
    /// From the start of one bucket to that of the next, in the units of [`Room::UNITS`].
    stride: u32,
    /// A 1 in every lane; times a fingerprint, the fingerprint in every lane.
    ones: W,
    /// The highest bit of every lane.
    highs: W,
    /// All bits of the bucket.
    mask: W,
    /// Those of its last lane.
    last_lane: W,
}

impl<W: Word, const WHOLE_BYTES: bool> Swar<W, WHOLE_BYTES> {
    /// `None` if a bucket of this geometry can straddle two words, carries values, or is not a
    /// whole number of bytes as promised.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        let lane_bits = geometry.fingerprint_bits;
        let (bucket_size, stride_bits) = match geometry.layout {
            Layout::Bucketed { bucket_size } => (bucket_size, lane_bits * bucket_size),
            Layout::Words => (word_lanes(lane_bits), u64::BITS),
            _ => return None,
        };
        let bucket_bits = lane_bits * bucket_size;
        // A bucket begins at a multiple of gcd(8, stride_bits) in its first byte.
        let furthest_shift = 8 - (1 << stride_bits.trailing_zeros().min(3));
        let broken_promise = WHOLE_BYTES && furthest_shift != 0;
        if geometry.value_bits != 0 || bucket_bits + furthest_shift > W::BITS || broken_promise {
            return None;
        }
        let ones = (0..bucket_size)
            .fold(W::ZERO, |word, lane| word | (W::from_u64(1) << (lane * lane_bits)));
        Some(Self {
            addressing: Addressing::new(geometry.segments, geometry.places, lane_bits),
            segment_bytes: geometry.segment_bytes(),
            lane_bits,
            stride: if WHOLE_BYTES { stride_bits / 8 } else { stride_bits },
            ones,
            highs: ones << (lane_bits - 1),
            mask: W::ones(bucket_bits),
            last_lane: W::ones(lane_bits) << (bucket_bits - lane_bits),
        })
    }

    /// The byte and the bit in it at which a bucket begins that an aim points to.
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
    fn load(&self, bytes: &[u8], base: usize, place: u64) -> W {
        let (at, shift) = self.locate(base, place);
        W::load(bytes, at) >> shift
    }

    #[inline(always)]
    fn store(&self, bytes: &mut [u8], base: usize, place: u64, bucket: W) {
        let (at, shift) = self.locate(base, place);
        let rest = W::load(bytes, at) & !(self.mask << shift);
        (rest | (bucket << shift)).store(bytes, at);
    }

    /// The bucket after `fingerprint` has entered at lane 0.
    #[inline(always)]
    fn pushed(&self, bucket: W, fingerprint: u64) -> W {
        ((bucket << self.lane_bits) | W::from_u64(fingerprint)) & self.mask
    }

    /// The bucket without the lane whose lowest bit is `lowest`; the lanes above it have moved
    /// down.
    #[inline(always)]
    fn closed(&self, bucket: W, lowest: W) -> W {
        let below = lowest.wrapping_sub(W::from_u64(1));
        (bucket & below) | ((bucket >> self.lane_bits) & !below)
    }

    #[inline(always)]
    fn lane_shift(&self, lane: usize) -> u32 {
        // At most 8 lanes.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let lane = lane as u32;
        lane * self.lane_bits
    }

    #[inline(always)]
    fn lane(&self, bucket: W, lane: usize) -> u64 {
        (bucket >> self.lane_shift(lane)).low() & u64::ones(self.lane_bits)
    }

    /// Whether the fingerprint is in one of its buckets.
    ///
    /// # Safety
    ///
    /// `bytes` has a whole word from each byte on in which one begins.
    #[inline(always)]
    unsafe fn is_in_either<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool {
        let wanted = self.ones.wrapping_mul(W::from_u64(aim.fingerprint));
        let lanes = [self.ones.wrapping_sub(W::from_u64(1)), self.highs];
        // SAFETY: as the caller promises.
        unsafe { have_lane::<W, WHOLE_BYTES, ALONE>(bytes, [aim.first, aim.second], wanted, lanes) }
    }

    /// Nonzero if and only if some lane holds `fingerprint`; the lowest set bit is then the
    /// highest bit of the lowest such lane.
    #[inline(always)]
    fn matches(&self, bucket: W, fingerprint: u64) -> W {
        self.difference(bucket, fingerprint).has_zero_lane(self.ones, self.highs)
    }

    /// The lanes that hold `fingerprint` are 0.
    #[inline(always)]
    fn difference(&self, bucket: W, fingerprint: u64) -> W {
        bucket ^ self.ones.wrapping_mul(W::from_u64(fingerprint))
    }

    /// How many lanes hold `fingerprint`: unlike `matches`, without borrows between lanes.
    #[inline]
    fn count_in(&self, bucket: W, fingerprint: u64) -> u32 {
        let difference = self.difference(bucket, fingerprint) & self.mask;
        let lows = self.mask ^ self.highs;
        difference.zero_lanes(lows, self.highs).count_ones()
    }

    #[inline(always)]
    fn try_place_in(
        &self,
        bytes: &mut [u8],
        base: usize,
        place: u64,
        fingerprint: u64,
    ) -> Placement {
        let bucket = self.load(bytes, base, place);
        if self.matches(bucket, fingerprint) != W::ZERO {
            return Placement::Copy;
        }
        if bucket & self.last_lane != W::ZERO {
            return Placement::Full;
        }
        self.store(bytes, base, place, self.pushed(bucket, fingerprint));
        Placement::Taken
    }

    /// Empties the lowest lane that `found` has the highest bit of; `false` if there is none.
    #[inline(always)]
    fn empty(&self, bytes: &mut [u8], base: usize, (place, bucket, found): (u64, W, W)) -> bool {
        if found == W::ZERO {
            return false;
        }
        let highest = found & W::ZERO.wrapping_sub(found);
        let lowest = highest >> (self.lane_bits - 1);
        self.store(bytes, base, place, self.closed(bucket & self.mask, lowest));
        true
    }
}

impl<W: Word, const WHOLE_BYTES: bool> Room for Swar<W, WHOLE_BYTES> {
    type Candidates = [u64; 2];

    #[inline(always)]
    fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    #[inline(always)]
    fn places(&self) -> u64 {
        self.addressing.places()
    }

    const UNITS: u32 = if WHOLE_BYTES { 0 } else { 3 };

    #[inline(always)]
    fn offset(&self, place: u64) -> u64 {
        place * u64::from(self.stride)
    }

    #[inline]
    fn try_insert(&self, bytes: &mut [u8], probe: &Probe, _value: u64) -> bool {
        let base = self.base(probe);
        let first = self.load(bytes, base, probe.first);
        let second = self.load(bytes, base, probe.second);
        let (place, bucket) = if first & self.last_lane == W::ZERO {
            (probe.first, first)
        } else if second & self.last_lane == W::ZERO {
            (probe.second, second)
        } else {
            return false;
        };
        self.store(bytes, base, place, self.pushed(bucket, probe.fingerprint));
        true
    }

    fn candidates(&self, probe: &Probe) -> [u64; 2] {
        [probe.first, probe.second]
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], base: usize, place: u64) -> bool {
        let (at, shift) = self.locate(base, place);
        // SAFETY: the place is a bucket of this table, and behind the last one there are tail
        // bytes for the rest of the word.
        let bucket = unsafe { W::load_unchecked(bytes, at) } >> shift;
        bucket & self.last_lane == W::ZERO
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], base: usize, place: u64, mut each: impl FnMut(u64)) {
        let mut bucket = self.load(bytes, base, place) & self.mask;
        for _ in 0..self.ones.count_ones() {
            let fingerprint = self.lane(bucket, 0);
            each(self.addressing.alternate(place, fingerprint));
            bucket = bucket >> self.lane_bits;
        }
    }

    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64) {
        let bucket = self.load(bytes, base, place) & self.mask;
        let fingerprint = self.lane(bucket, choice);
        let lowest = W::from_u64(1) << self.lane_shift(choice);
        self.store(bytes, base, place, self.closed(bucket, lowest));
        let target = self.load(bytes, base, to);
        self.store(bytes, base, to, self.pushed(target, fingerprint));
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, _value: u64) {
        let (base, place) = (self.base(probe), self.candidates(probe)[candidate]);
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
        // SAFETY: an aim is the start of a bucket of this table, and behind the last bucket there
        // are tail bytes for the rest of the word.
        unsafe { self.is_in_either::<ALONE>(bytes, aim) }
    }

    #[inline]
    fn count(&self, bytes: &[u8], probe: &Probe) -> u32 {
        let base = self.base(probe);
        let first = self.count_in(self.load(bytes, base, probe.first), probe.fingerprint);
        if probe.first == probe.second {
            return first;
        }
        first + self.count_in(self.load(bytes, base, probe.second), probe.fingerprint)
    }

    /// From the first bucket that has it, chosen without a branch: nobody can predict which one
    /// that is, and both lines are then requested at once.
    #[inline(always)]
    fn remove(&self, bytes: &mut [u8], probe: &Probe, _value: u64) -> bool {
        let base = self.base(probe);
        let first = self.load(bytes, base, probe.first);
        let second = self.load(bytes, base, probe.second);
        let in_first = self.matches(first, probe.fingerprint);
        let in_second = self.matches(second, probe.fingerprint);
        let is_first = in_first != W::ZERO;
        let place = if is_first { probe.first } else { probe.second };
        let bucket = if is_first { first } else { second };
        let found = if is_first { in_first } else { in_second };
        self.empty(bytes, base, (place, bucket, found))
    }

    fn occupied(&self, bytes: &[u8], base: usize) -> u64 {
        let lanes = u64::from(self.ones.count_ones());
        (0..self.addressing.places())
            .map(|place| lanes - u64::from(self.count_in(self.load(bytes, base, place), 0)))
            .sum()
    }

    #[inline(always)]
    fn try_place(&self, bytes: &mut [u8], probe: &Probe, _value: u64) -> Placement {
        let base = self.base(probe);
        match self.try_place_in(bytes, base, probe.first, probe.fingerprint) {
            Placement::Full => self.try_place_in(bytes, base, probe.second, probe.fingerprint),
            answer => answer,
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
        let first = (first_word >> first_shift) & self.mask;
        let second = (second_word >> second_shift) & self.mask;
        // SAFETY: as above.
        let is_copy = unsafe { self.is_in_either::<true>(bytes, aim) };
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

    fn for_each_occupant(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
        mut each: impl FnMut(Probe, u64),
    ) {
        let base = self.base(&Probe { segment, ..Probe::default() });
        let bucket = self.load(bytes, base, place) & self.mask;
        // At most 8 lanes.
        for lane in 0..self.ones.count_ones() as usize {
            let fingerprint = self.lane(bucket, lane);
            if fingerprint != 0 {
                each(self.addressing.occupant(segment, place, fingerprint), 0);
            }
        }
    }

    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, _value: u64) {
        let base = self.base(probe);
        let bucket = self.load(bytes, base, place);
        let found = self.matches(bucket, probe.fingerprint);
        self.empty(bytes, base, (place, bucket, found));
    }

    #[inline(always)]
    unsafe fn try_place_first(&self, bytes: &mut [u8], aim: &Aim) -> bool {
        let (at, shift) = self.position(aim.first);
        // SAFETY: a word has 16 bytes at most.
        let word = unsafe { W::load_unchecked(bytes, at) };
        let bucket = word >> shift;
        let is_refused = self.matches(bucket, aim.fingerprint) | (bucket & self.last_lane);
        if is_refused != W::ZERO {
            return false;
        }
        let change = (bucket ^ self.pushed(bucket, aim.fingerprint)) & self.mask;
        // SAFETY: as above.
        unsafe { (word ^ (change << shift)).store_unchecked(bytes, at) };
        true
    }
}
