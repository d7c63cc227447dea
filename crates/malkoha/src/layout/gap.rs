//! Gap windows: each key has two windows of two slots, a small key-dependent gap apart.
//!
//! With windows that begin at every slot and gaps that differ, a key shares slots with far more
//! keys than in aligned buckets, so four probed slots fill as far as eight bucketed ones, and
//! half as many comparisons mean half the false positives.
//!
//! A slot holds the fingerprint and one bit, `end`, which says whether the slot is the end or the
//! start of the window that put it there. The bit is compared too, so it is not lost to accuracy;
//! and it tells where the window began, so that the fingerprint can move on.

use crate::addressing::{Addressing, Aim, Probe, spread};
use crate::geometry::{Geometry, Layout, widest_gap};
use crate::layout::bits::{Word, load_at, split};
use crate::layout::bucket_pair::have_lane;
use crate::layout::traits::{NEVER, Placement, Relocate, TableLayout};

#[derive(Clone, Copy, Debug)]
pub(crate) struct GapWindows<W> {
    addressing: Addressing,
    segment_bytes: u64,
    slot_bits: u32,
    /// The widest gap.
    gaps: u64,
    /// The highest bit of a slot.
    high: W,
    /// All bits of a slot.
    slot_mask: W,
}

/// An odd constant that is not the one of the alternate place: gaps and targets are independent.
const GAP_SPREAD: u64 = 0x85eb_ca77;

impl<W: Word> GapWindows<W> {
    /// `None` if a window of this geometry can straddle two words.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        debug_assert!(geometry.layout == Layout::GapWindows && geometry.value_bits == 0);
        let slot_bits = geometry.fingerprint_bits;
        let gaps = widest_gap(slot_bits);
        ((gaps + 1) * slot_bits + 7 <= W::BITS).then(|| Self {
            addressing: Addressing::new(geometry.segments, geometry.places, slot_bits - 1),
            segment_bytes: geometry.segment_bytes(),
            slot_bits,
            gaps: gaps.into(),
            high: W::from_u64(1) << (slot_bits - 1),
            slot_mask: W::ones(slot_bits),
        })
    }

    /// The gap of a fingerprint, `1..=gaps`.
    #[inline(always)]
    fn gap(&self, fingerprint: u64) -> u64 {
        1 + spread(fingerprint, GAP_SPREAD, self.gaps)
    }

    #[inline(always)]
    fn slot(&self, bytes: &[u8], base: usize, slot: u64) -> u64 {
        let (at, shift) = split(base, self.offset(slot));
        (u64::load(bytes, at) >> shift) & self.slot_mask.low()
    }

    /// A slot has at most 32 bits, so it lies in a word of 64.
    #[inline(always)]
    fn set(&self, bytes: &mut [u8], base: usize, slot: u64, stored: u64) {
        let (at, shift) = split(base, self.offset(slot));
        let rest = u64::load(bytes, at) & !(self.slot_mask.low() << shift);
        (rest | stored << shift).store(bytes, at);
    }

    /// Fills the empty slot that begins `offset` bits behind the beginning of a window, or leaves
    /// one as it is with nothing.
    ///
    /// # Safety
    ///
    /// `bytes` has a word, which the window lies in, from the byte of its first bit on.
    #[inline(always)]
    unsafe fn occupy(bytes: &mut [u8], window: u64, offset: u32, stored: u64) {
        let (at, shift) = split(0, window);
        // SAFETY: as the caller promises.
        unsafe {
            let word = W::load_unchecked(bytes, at) | (W::from_u64(stored) << (shift + offset));
            word.store_unchecked(bytes, at);
        }
    }

    /// The distance in bits from a window's start to its end.
    #[inline(always)]
    fn gap_bits(&self, fingerprint: u64) -> u32 {
        // At most 8 slots of 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let gap = self.gap(fingerprint) as u32;
        gap * self.slot_bits
    }

    /// A window as a word of two lanes, its start and its end: what a key would have stored there,
    /// and `below` and `highs` for [`Word::either_has_zero_lane`].
    #[inline(always)]
    fn window(&self, fingerprint: u64) -> (W, [W; 2]) {
        let end = W::from_u64(1) << self.gap_bits(fingerprint);
        let ones = end | W::from_u64(1);
        // The start's content in both lanes, and the `end` bit in the second.
        let key = W::from_u64(fingerprint << 1).wrapping_mul(ones) | end;
        (key, [end, ones.wrapping_mul(self.high)])
    }

    /// The slot of the window is chosen without a branch.
    ///
    /// # Safety
    ///
    /// As for [`occupy`](Self::occupy).
    #[inline(always)]
    unsafe fn try_place_in(&self, bytes: &mut [u8], window: u64, fingerprint: u64) -> Placement {
        let (gap_bits, stored) = (self.gap_bits(fingerprint), fingerprint << 1);
        // SAFETY: as the caller promises.
        let word: W = unsafe { load_at(bytes, window) };
        let [start, end] = [word, word >> gap_bits].map(|slot| (slot & self.slot_mask).low());
        let is_copy = (start == stored) | (end == stored | 1);
        let is_full = (start != 0) & (end != 0);
        if !(is_copy | is_full) {
            let at_end = u32::from(start != 0);
            // SAFETY: as above.
            unsafe { Self::occupy(bytes, window, at_end * gap_bits, stored | u64::from(at_end)) };
        }
        Placement::of(is_copy, is_full)
    }

    /// The candidate slots of a key, and what it stores in each.
    #[inline(always)]
    fn slots(&self, probe: &Probe) -> [(u64, u64); 4] {
        let gap = self.gap(probe.fingerprint);
        let stored = probe.fingerprint << 1;
        [
            (probe.first, stored),
            (probe.first + gap, stored | 1),
            (probe.second, stored),
            (probe.second + gap, stored | 1),
        ]
    }

    /// Where the window begins that the content of `slot` belongs to, and the fingerprint.
    #[inline(always)]
    fn start(&self, slot: u64, stored: u64) -> (u64, u64) {
        let (fingerprint, at_start) = (stored >> 1, stored & 1 == 0);
        let start = if at_start { slot } else { slot.saturating_sub(self.gap(fingerprint)) };
        // Clamped to the segment: only a damaged table has a window outside it.
        (start.min(self.addressing.places() - 1), fingerprint)
    }

    /// The other candidate slots of the key in `slot`, and what it would store in each: the other
    /// end of its window, and the start and end of its other window.
    #[inline(always)]
    fn other_slots(&self, slot: u64, stored: u64) -> [(u64, u64); 3] {
        let (start, fingerprint) = self.start(slot, stored);
        let (at_start, gap) = (stored & 1 == 0, self.gap(fingerprint));
        let other = self.addressing.alternate(start, fingerprint);
        [
            (if at_start { start + gap } else { start }, stored ^ 1),
            (other, fingerprint << 1),
            (other + gap, (fingerprint << 1) | 1),
        ]
    }
}

impl<W: Word> Relocate for GapWindows<W> {
    type Candidates = [u64; 4];

    #[inline(always)]
    fn segment_bytes(&self) -> u64 {
        self.segment_bytes
    }

    #[inline(always)]
    fn offset(&self, place: u64) -> u64 {
        place * u64::from(self.slot_bits)
    }

    fn candidates(&self, probe: &Probe) -> [u64; 4] {
        self.slots(probe).map(|(slot, _)| slot)
    }

    #[inline]
    fn places(&self) -> u64 {
        self.addressing.places() + self.gaps
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], place: u64) -> bool {
        // SAFETY: the place is a slot of this table, and behind the last one there are tail bytes
        // for the rest of the word.
        let word: W = unsafe { load_at(bytes, self.offset(place)) };
        word & self.slot_mask == W::ZERO
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], place: u64, mut each: impl FnMut(u64)) {
        for (slot, _) in self.other_slots(place, self.slot(bytes, 0, place)) {
            each(slot);
        }
    }

    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, _to: u64) {
        let (to, stored) = self.other_slots(place, self.slot(bytes, base, place))[choice];
        self.set(bytes, base, place, 0);
        self.set(bytes, base, to, stored);
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, _value: u64) {
        let (slot, stored) = self.slots(probe)[candidate];
        self.set(bytes, self.base(probe.segment), slot, stored);
    }
}

impl<W: Word> TableLayout for GapWindows<W> {
    // With words of 128 bits, looking at both windows costs more than it gains.
    const CROWDED: [u64; 2] = if W::BITS == u64::BITS { [3, NEVER] } else { [NEVER; 2] };

    #[inline(always)]
    fn addressing(&self) -> &Addressing {
        &self.addressing
    }

    #[inline(always)]
    unsafe fn contains<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool {
        let (key, lanes) = self.window(aim.fingerprint);
        // SAFETY: an aim is the start of a window of this table, and behind the last window there
        // are tail bytes for the rest of the word.
        unsafe { have_lane::<W, false, ALONE>(bytes, [aim.first, aim.second], key, lanes) }
    }

    #[inline]
    fn count_at(&self, bytes: &[u8], base: usize, place: u64, fingerprint: u64) -> u32 {
        let end = place + self.gap(fingerprint);
        let holds = |slot, stored| u32::from(self.slot(bytes, base, slot) == stored);
        holds(place, fingerprint << 1) + holds(end, fingerprint << 1 | 1)
    }

    #[inline(always)]
    fn remove(&self, bytes: &mut [u8], probe: &Probe, _value: u64) -> bool {
        let base = self.base(probe.segment);
        for (slot, stored) in self.slots(probe) {
            if self.slot(bytes, base, slot) == stored {
                self.set(bytes, base, slot, 0);
                return true;
            }
        }
        false
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

    /// The window with more free slots. A key that finds none changes no slot.
    #[inline(always)]
    unsafe fn try_place_emptier(
        &self,
        bytes: &mut [u8],
        aim: &Aim,
        _probe: impl FnOnce() -> Probe,
    ) -> Placement {
        let fingerprint = aim.fingerprint;
        let gap_bits = self.gap_bits(fingerprint);
        // SAFETY: a word has 16 bytes at most.
        let (first, second) = unsafe { (load_at(bytes, aim.first), load_at(bytes, aim.second)) };
        let is_free = |word: W| u32::from(word & self.slot_mask == W::ZERO);
        let free = |word: W| (is_free(word), is_free(word >> gap_bits));
        let (first_free, second_free) = (free(first), free(second));
        let is_second = second_free.0 + second_free.1 > first_free.0 + first_free.1;
        let window = if is_second { aim.second } else { aim.first };
        let (start, end) = if is_second { second_free } else { first_free };
        // The start of the window if it is free, else its end.
        let at_end = start ^ 1;
        let (key, [below, highs]) = self.window(fingerprint);
        let is_copy = (first ^ key).either_has_zero_lane(second ^ key, below, highs);
        let is_full = start | end == 0;
        let stored = if is_copy | is_full { 0 } else { fingerprint << 1 | u64::from(at_end) };
        // SAFETY: as above.
        unsafe { Self::occupy(bytes, window, at_end * gap_bits, stored) };
        Placement::of(is_copy, is_full)
    }

    /// Whether each slot is one that an insert could have written, with its window in the segment.
    /// Any other would turn into a slot that was not counted, once it is moved.
    fn is_ordered(&self, bytes: &[u8], segment: u64) -> bool {
        (0..self.places()).all(|slot| {
            let stored = self.slot(bytes, self.base(segment), slot);
            let (start, fingerprint) = self.start(slot, stored);
            let end = start + self.gap(fingerprint);
            stored == 0 || fingerprint != 0 && slot == if stored & 1 == 0 { start } else { end }
        })
    }

    fn occupants(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
    ) -> impl Iterator<Item = (Probe, u64)> {
        let stored = self.slot(bytes, self.base(segment), place);
        let (start, fingerprint) = self.start(place, stored);
        let occupant = || (self.addressing.occupant(segment, start, fingerprint), 0);
        (stored != 0).then(occupant).into_iter()
    }

    /// Its place is the slot itself.
    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, _value: u64) -> bool {
        self.set(bytes, self.base(probe.segment), place, 0);
        true
    }

    #[inline(always)]
    unsafe fn try_place_first(&self, bytes: &mut [u8], aim: &Aim) -> bool {
        // SAFETY: a word has 16 bytes at most.
        unsafe { self.try_place_in(bytes, aim.first, aim.fingerprint) == Placement::Taken }
    }
}
