//! Buckets of four slots whose fingerprints are bit strings of different lengths.
//!
//! A slot of `bits + 1` bits holds the next bits of a key's string from its highest bit on, then
//! a 1 that marks their end, then zeros. A split takes the highest bit away and shifts the rest up.
//! 0 is an empty slot. The occupied lanes of a bucket come first.
//!
//! Behind the four fingerprints of a bucket lie, in a narrowed table, four numbers of `narrowing`
//! bits: the low bits of each occupant's place.

use super::shape::{LANES, Shape};
use crate::addressing::{Addressing, Aim, Probe};
use crate::layout::TableLayout;
use crate::layout::bits::{Word, read, split, write};

/// The constants of the buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets<W> {
    pub(super) shape: Shape,
    width: u32,
    bucket_bits: u64,
    /// Its places are buckets.
    one_segment: Addressing,
    ones: W,
    highs: W,
}

/// The buckets of one segment: `path` is a_1..a_depth of its keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a, W> {
    pub(super) buckets: &'a Buckets<W>,
    pub(super) depth: u32,
    pub(super) path: u64,
}

/// An occupied slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) fingerprint: u64,
    /// The place, in full.
    pub(super) place: u64,
}

impl<W: Word> Buckets<W> {
    /// `None` if a bucket's fingerprints can straddle two words.
    pub(super) fn new(shape: &Shape) -> Option<Self> {
        let width = shape.bits + 1;
        // Buckets begin at half bytes.
        (LANES * width + 4 <= W::BITS).then(|| {
            let ones =
                (0..LANES).fold(W::ZERO, |word, lane| word | (W::from_u64(1) << (lane * width)));
            Self {
                shape: *shape,
                width,
                bucket_bits: u64::from(LANES * shape.slot_bits()),
                one_segment: Addressing::new(1, shape.places >> shape.narrowing, shape.bits),
                ones,
                highs: ones << (width - 1),
            }
        })
    }

    /// The bit at which a place's bucket begins.
    #[inline(always)]
    pub(super) fn bit(&self, place: u64) -> u64 {
        (place >> self.shape.narrowing) * self.bucket_bits
    }

    /// Whether one of the buckets at these bits has a fingerprint that begins `wanted`.
    #[inline(always)]
    pub(super) fn contains(&self, bytes: &[u8], first: u64, second: u64, wanted: u64) -> bool {
        let wanted = self.ones.wrapping_mul(W::from_u64(wanted));
        let misses = |bit| {
            let (at, shift) = split(0, bit);
            let bucket = W::load(bytes, at) >> shift;
            // Each lane minus 1, but without a borrow: the highest bit is set meanwhile, and stays
            // set unless the lane is empty. In a fingerprint the highest bit is never the mark.
            let less = (bucket | self.highs).wrapping_sub(self.ones);
            // Ones up to the mark of each lane's end, where nothing need agree.
            let beyond = (bucket ^ less) & !self.highs;
            ((bucket ^ wanted) & !beyond) | (!less & self.highs)
        };
        let has_zero_lane = |word: W| word.wrapping_sub(self.ones) & !word & self.highs;
        // Both buckets always: a branch between them would be mispredicted half the time.
        (has_zero_lane(misses(first)) | has_zero_lane(misses(second))) != W::ZERO
    }

    #[inline(always)]
    fn lane_bit(&self, bucket: u64, lane: u32) -> u64 {
        bucket * self.bucket_bits + u64::from(lane * self.width)
    }

    fn place_bit(&self, bucket: u64, lane: u32) -> u64 {
        self.lane_bit(bucket, LANES) + u64::from(lane * self.shape.narrowing)
    }

    #[inline(always)]
    fn fingerprint(&self, bytes: &[u8], bucket: u64, lane: u32) -> u64 {
        read(bytes, 0, self.lane_bit(bucket, lane), self.width)
    }

    #[inline(always)]
    fn slot(&self, bytes: &[u8], bucket: u64, lane: u32) -> Slot {
        let narrowing = self.shape.narrowing;
        let mut place = bucket << narrowing;
        if narrowing > 0 {
            place |= read(bytes, 0, self.place_bit(bucket, lane), narrowing);
            // Only a damaged table has a place that is none.
            place = place.min(u64::from(self.shape.places) - 1);
        }
        Slot { fingerprint: self.fingerprint(bytes, bucket, lane), place }
    }

    #[inline(always)]
    fn set(&self, bytes: &mut [u8], bucket: u64, lane: u32, slot: Slot) {
        write(bytes, 0, self.lane_bit(bucket, lane), self.width, slot.fingerprint);
        let narrowing = self.shape.narrowing;
        if narrowing > 0 {
            let low = slot.place & ((1 << narrowing) - 1);
            write(bytes, 0, self.place_bit(bucket, lane), narrowing, low);
        }
    }

    /// The occupied slots of a bucket.
    #[inline(always)]
    pub(super) fn occupants(&self, bytes: &[u8], bucket: u64) -> impl Iterator<Item = Slot> {
        (0..LANES)
            .map(move |lane| self.slot(bytes, bucket, lane))
            .take_while(|slot| slot.fingerprint != 0)
    }

    /// Puts `slot` into its bucket; answers whether there was room.
    #[inline]
    pub(super) fn push(&self, bytes: &mut [u8], slot: Slot) -> bool {
        let bucket = slot.place >> self.shape.narrowing;
        let free = (0..LANES).find(|&lane| self.fingerprint(bytes, bucket, lane) == 0);
        if let Some(lane) = free {
            self.set(bytes, bucket, lane, slot);
        }
        free.is_some()
    }

    /// Splits a bucket: what the next bit sends to child 1 goes to `upper`, the rest stays. All
    /// lose that bit. Answers how many went.
    #[inline(always)]
    pub(super) fn split(&self, lower: &mut [u8], upper: &mut [u8], bucket: u64) -> u32 {
        let (at, shift) = split(0, bucket * self.bucket_bits);
        let word = W::load(lower, at);
        let (mask, lane_mask) = (W::ones(LANES * self.width), u64::MAX >> (64 - self.width));
        let (mut children, mut lens) = ([W::ZERO; 2], [0; 2]);
        for lane in 0..LANES {
            let fingerprint = (word >> (shift + lane * self.width)).low() & lane_mask;
            if fingerprint == 0 {
                break;
            }
            // 0 or 1.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let child = (fingerprint >> self.shape.bits) as usize;
            let rest = W::from_u64((fingerprint << 1) & lane_mask);
            children[child] = children[child] | (rest << (lens[child] * self.width));
            lens[child] += 1;
        }
        ((word & !(mask << shift)) | (children[0] << shift)).store(lower, at);
        let above = W::load(upper, at) & !(mask << shift);
        (above | (children[1] << shift)).store(upper, at);
        lens[1]
    }

    /// Empties a lane; the last occupied one takes its place.
    fn remove_lane(&self, bytes: &mut [u8], bucket: u64, lane: u32) {
        let occupied = (0..LANES).take_while(|&lane| self.fingerprint(bytes, bucket, lane) != 0);
        let last = occupied.last().unwrap_or(lane).max(lane);
        let moved = self.slot(bytes, bucket, last);
        self.set(bytes, bucket, lane, moved);
        self.set(bytes, bucket, last, Slot { fingerprint: 0, place: 0 });
    }

    /// Bits of a fingerprint's string: where its mark is.
    #[inline(always)]
    pub(super) fn length(&self, fingerprint: u64) -> u32 {
        // A slot of a damaged file may have no string at all.
        self.shape.bits.saturating_sub(fingerprint.trailing_zeros())
    }

    /// The fingerprint that the key already has in its buckets, and how many copies of it.
    ///
    /// There is one at most: a key takes a fingerprint that matches it if there is one, so none is
    /// the beginning of another.
    #[inline]
    pub(super) fn find(&self, bytes: &[u8], probe: &Probe) -> Option<(u64, u32)> {
        let mut found = None;
        self.for_each_match(bytes, probe, |fingerprint, _, _| {
            let (longest, copies) = found.get_or_insert((fingerprint, 0));
            if self.length(fingerprint) > self.length(*longest) {
                (*longest, *copies) = (fingerprint, 0);
            }
            *copies += u32::from(*longest == fingerprint);
        });
        found
    }

    /// Removes one slot with exactly this fingerprint.
    pub(super) fn remove(&self, bytes: &mut [u8], probe: &Probe, fingerprint: u64) -> bool {
        let mut at = None;
        self.for_each_match(bytes, probe, |found, bucket, lane| {
            if found == fingerprint {
                at = Some((bucket, lane));
            }
        });
        if let Some((bucket, lane)) = at {
            self.remove_lane(bytes, bucket, lane);
        }
        at.is_some()
    }

    /// The slots whose place is one of the key's and whose string begins the key's.
    #[inline(always)]
    fn for_each_match(&self, bytes: &[u8], probe: &Probe, mut each: impl FnMut(u64, u64, u32)) {
        let places = [probe.first, probe.second];
        let shift = self.shape.narrowing;
        let buckets = places.map(|place| place >> shift);
        let distinct = if buckets[0] == buckets[1] { 1 } else { 2 };
        for &bucket in &buckets[..distinct] {
            for lane in 0..LANES {
                let slot = self.slot(bytes, bucket, lane);
                if slot.fingerprint == 0 {
                    break;
                }
                // Everything up to the mark is beyond the string.
                let beyond = slot.fingerprint ^ (slot.fingerprint - 1);
                let agrees = (slot.fingerprint ^ probe.fingerprint) & !beyond == 0;
                if agrees && (shift == 0 || places.contains(&slot.place)) {
                    each(slot.fingerprint, bucket, lane);
                }
            }
        }
    }
}

impl<W: Word> Segment<'_, W> {
    /// The other place of an occupant: its first `bits` bits are the path and what follows it.
    #[inline]
    fn alternate(&self, slot: Slot) -> u64 {
        let shape = &self.buckets.shape;
        let prefix =
            (self.path << (shape.bits - self.depth)) | (slot.fingerprint >> (self.depth + 1));
        shape.alternate(slot.place, prefix)
    }
}

/// What the search for room needs. Probes have full places and count segments from this one.
impl<W: Word> TableLayout for Segment<'_, W> {
    type Candidates = [u64; 2];

    fn probe(&self, hash: u64) -> Probe {
        let key = self.buckets.shape.key(hash);
        let fingerprint = self.buckets.shape.fingerprint(key.string, self.depth);
        Probe { segment: 0, first: key.first, second: key.second, fingerprint }
    }

    fn addressing(&self) -> &Addressing {
        &self.buckets.one_segment
    }

    fn segment_bytes(&self) -> u64 {
        self.buckets.shape.segment_bytes()
    }

    #[inline]
    fn bit(&self, bucket: u64) -> u64 {
        bucket * self.buckets.bucket_bits
    }

    fn aim(&self, probe: &Probe) -> Aim {
        let [first, second] = [probe.first, probe.second].map(|place| self.buckets.bit(place));
        Aim { first, second, fingerprint: probe.fingerprint }
    }

    unsafe fn contains(&self, bytes: &[u8], aim: &Aim) -> bool {
        self.buckets.contains(bytes, aim.first, aim.second, aim.fingerprint)
    }

    fn count(&self, bytes: &[u8], probe: &Probe) -> u32 {
        self.buckets.find(bytes, probe).map_or(0, |(_, copies)| copies)
    }

    #[inline]
    fn try_insert(&self, bytes: &mut [u8], probe: &Probe, _value: u64) -> bool {
        let fingerprint = probe.fingerprint;
        [probe.first, probe.second]
            .into_iter()
            .any(|place| self.buckets.push(bytes, Slot { fingerprint, place }))
    }

    fn remove(&self, bytes: &mut [u8], probe: &Probe) -> bool {
        self.buckets.remove(bytes, probe, probe.fingerprint)
    }

    fn candidates(&self, probe: &Probe) -> [u64; 2] {
        [probe.first, probe.second].map(|place| place >> self.buckets.shape.narrowing)
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], _base: usize, place: u64) -> bool {
        self.buckets.fingerprint(bytes, place, LANES - 1) == 0
    }

    #[inline]
    fn for_each_target(&self, bytes: &[u8], _base: usize, bucket: u64, mut each: impl FnMut(u64)) {
        for lane in 0..LANES {
            let slot = self.buckets.slot(bytes, bucket, lane);
            each(self.alternate(slot) >> self.buckets.shape.narrowing);
        }
    }

    fn relocate(&self, bytes: &mut [u8], _base: usize, place: u64, choice: usize, _to: u64) {
        // At most 4 lanes.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let lane = choice as u32;
        let mut slot = self.buckets.slot(bytes, place, lane);
        self.buckets.remove_lane(bytes, place, lane);
        slot.place = self.alternate(slot);
        let moved = self.buckets.push(bytes, slot);
        debug_assert!(moved, "the search found room");
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, _value: u64) {
        let place = [probe.first, probe.second][candidate];
        let put = self.buckets.push(bytes, Slot { fingerprint: probe.fingerprint, place });
        debug_assert!(put, "the search found room");
    }

    fn occupied(&self, bytes: &[u8], _base: usize) -> u64 {
        (0..self.places()).map(|bucket| self.buckets.occupants(bytes, bucket).count() as u64).sum()
    }
}
