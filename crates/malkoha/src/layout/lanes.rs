//! The paper's buckets lane by lane: any width, with or without a value in each slot.
//!
//! Without values it lays out the same bytes as `Swar`.

use crate::addressing::{Addressing, Aim, Probe};
use crate::arch::prefetch;
use crate::geometry::Geometry;
use crate::layout::bits::{Word, load_at, read, split, write};
use crate::layout::bucket_pair::{Wanted, equal_lanes};
use crate::layout::traits::{Placement, Relocate, TableLayout, relocate_between_buckets};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    addressing: Addressing,
    segment_bytes: u64,
    bucket_size: u64,
    fingerprint_bits: u32,
    /// All bits of a fingerprint.
    mask: u64,
    value_bits: u32,
    /// Fingerprint and value, which is above it.
    slot_bits: u32,
}

/// The usual number of slots of a bucket: loops over this many have no branches.
const USUAL: u64 = 4;

/// The content of a slot; empty if the fingerprint is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    fingerprint: u64,
    value: u64,
}

impl Slot {
    const EMPTY: Self = Self { fingerprint: 0, value: 0 };
}

/// Where a slot lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    base: usize,
    place: u64,
    lane: u64,
}

/// The slots among a key's candidates that hold its fingerprint.
#[derive(Clone, Debug)]
pub(crate) struct Matches {
    base: usize,
    places: [u64; 2],
    /// At most 8 lanes per bucket: the second bucket's bits lie above the first's.
    lanes: u32,
}

impl Iterator for Matches {
    type Item = Position;

    #[inline(always)]
    fn next(&mut self) -> Option<Position> {
        if self.lanes == 0 {
            return None;
        }
        let bit = self.lanes.trailing_zeros();
        self.lanes &= self.lanes - 1;
        let place = self.places[(bit >> 3) as usize];
        Some(Position { base: self.base, place, lane: u64::from(bit & 7) })
    }
}

impl Matches {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes == 0
    }
}

impl Lanes {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let fingerprint_bits = geometry.fingerprint_bits;
        Self {
            addressing: Addressing::new(geometry.segments, geometry.places, fingerprint_bits),
            segment_bytes: geometry.segment_bytes(),
            bucket_size: geometry.layout.slots_per_place(geometry.fingerprint_bits),
            fingerprint_bits,
            mask: u64::ones(fingerprint_bits),
            value_bits: geometry.value_bits,
            slot_bits: fingerprint_bits + geometry.value_bits,
        }
    }

    #[inline(always)]
    fn slot_bit(&self, place: u64, lane: u64) -> u64 {
        (place * self.bucket_size + lane) * u64::from(self.slot_bits)
    }

    #[inline(always)]
    fn fingerprint(&self, bytes: &[u8], base: usize, place: u64, lane: u64) -> u64 {
        let (at, shift) = split(base, self.slot_bit(place, lane));
        (u64::load(bytes, at) >> shift) & self.mask
    }

    #[inline(always)]
    fn value(&self, bytes: &[u8], base: usize, place: u64, lane: u64) -> u64 {
        if self.value_bits == 0 {
            return 0;
        }
        let bit = self.slot_bit(place, lane) + u64::from(self.fingerprint_bits);
        read(bytes, base, bit, self.value_bits)
    }

    #[inline(always)]
    fn slot(&self, bytes: &[u8], base: usize, place: u64, lane: u64) -> Slot {
        if self.slot_bits > u64::BITS {
            let fingerprint = self.fingerprint(bytes, base, place, lane);
            return Slot { fingerprint, value: self.value(bytes, base, place, lane) };
        }
        let slot = read(bytes, base, self.slot_bit(place, lane), self.slot_bits);
        Slot { fingerprint: slot & self.mask, value: slot >> self.fingerprint_bits }
    }

    #[inline(always)]
    fn set(&self, bytes: &mut [u8], base: usize, place: u64, lane: u64, slot: Slot) {
        let bit = self.slot_bit(place, lane);
        if self.slot_bits > u64::BITS {
            write(bytes, base, bit, self.fingerprint_bits, slot.fingerprint);
            let bit = bit + u64::from(self.fingerprint_bits);
            return write(bytes, base, bit, self.value_bits, slot.value);
        }
        let slot = slot.fingerprint | slot.value << self.fingerprint_bits;
        write(bytes, base, bit, self.slot_bits, slot);
    }

    /// Enters `slot` at lane 0 of a bucket with room and shifts the others up.
    fn push(&self, bytes: &mut [u8], base: usize, place: u64, mut slot: Slot) {
        for lane in 0..self.bucket_size {
            let out = self.slot(bytes, base, place, lane);
            self.set(bytes, base, place, lane, slot);
            if out.fingerprint == 0 {
                break;
            }
            slot = out;
        }
    }

    /// The lanes of both buckets that hold the fingerprint, as bits.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for, and `aim` is the layout's.
    #[inline(always)]
    unsafe fn matches_of(&self, bytes: &[u8], aim: &Aim) -> [u32; 2] {
        let buckets = [aim.first, aim.second];
        if self.bucket_size == USUAL && self.slot_bits.is_multiple_of(2) {
            // All buckets begin at whole bytes, so equal lanes of the two lie at the same bits of
            // their words: the fingerprint is moved there once, and no word is.
            let bits = [0, 1, 2, 3].map(|lane| lane * u64::from(self.slot_bits));
            let wanted = Wanted {
                at: bits.map(|bit| bit >> 3),
                masks: bits.map(|bit| self.mask << (bit & 7)),
                lanes: bits.map(|bit| aim.fingerprint << (bit & 7)),
            };
            // SAFETY: the lanes are of buckets of this table, as the caller says, and behind the
            // last there are tail bytes for the rest of the word.
            return unsafe { equal_lanes(bytes, buckets.map(|bit| bit >> 3), &wanted) };
        }
        buckets.map(|bucket| {
            let lane = |lane: u64| {
                // SAFETY: as above.
                let word: u64 =
                    unsafe { load_at(bytes, bucket + lane * u64::from(self.slot_bits)) };
                u32::from(word & self.mask == aim.fingerprint) << lane
            };
            if self.bucket_size == USUAL {
                lane(0) | lane(1) | lane(2) | lane(3)
            } else {
                (0..self.bucket_size).fold(0, |found, number| found | lane(number))
            }
        })
    }

    /// The lanes of `place` that hold `fingerprint`, as bits.
    #[inline(always)]
    fn matches(&self, bytes: &[u8], base: usize, place: u64, fingerprint: u64) -> u32 {
        (0..self.bucket_size).fold(0, |found, lane| {
            let equal = self.fingerprint(bytes, base, place, lane) == fingerprint;
            found | u32::from(equal) << lane
        })
    }

    /// The candidate slots of these lanes of both buckets.
    #[inline(always)]
    fn in_both(&self, probe: &Probe, [first, second]: [u32; 2]) -> Matches {
        let second = if probe.first == probe.second { 0 } else { second };
        let places = [probe.first, probe.second];
        Matches { base: self.base(probe.segment), places, lanes: first | second << 8 }
    }

    /// The candidate slots that hold the probe's fingerprint.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for.
    #[inline(always)]
    pub(crate) unsafe fn candidates_in(&self, bytes: &[u8], probe: &Probe) -> Matches {
        // SAFETY: the aim is this layout's, and the caller vouches for the table.
        self.in_both(probe, unsafe { self.matches_of(bytes, &self.aim(probe)) })
    }

    /// [`candidates_in`](Self::candidates_in) in any bytes.
    #[inline(always)]
    pub(crate) fn found(&self, bytes: &[u8], probe: &Probe) -> Matches {
        let base = self.base(probe.segment);
        let lanes = |place| self.matches(bytes, base, place, probe.fingerprint);
        self.in_both(probe, [lanes(probe.first), lanes(probe.second)])
    }

    /// The value in a slot.
    #[inline(always)]
    pub(crate) fn value_in(&self, bytes: &[u8], at: Position) -> u64 {
        self.value(bytes, at.base, at.place, at.lane)
    }

    /// The first candidate slot that holds the probe's fingerprint and this value.
    #[inline(always)]
    pub(crate) fn position(&self, bytes: &[u8], probe: &Probe, value: u64) -> Option<Position> {
        self.found(bytes, probe).find(|&at| self.value_in(bytes, at) == value)
    }

    /// Empties one slot.
    fn remove_at(&self, bytes: &mut [u8], at: Position) {
        for lane in at.lane + 1..self.bucket_size {
            let next = self.slot(bytes, at.base, at.place, lane);
            self.set(bytes, at.base, at.place, lane - 1, next);
        }
        self.set(bytes, at.base, at.place, self.bucket_size - 1, Slot::EMPTY);
    }

    /// Replaces the value in one slot.
    pub(crate) fn set_value(&self, bytes: &mut [u8], at: Position, value: u64) {
        let fingerprint = self.fingerprint(bytes, at.base, at.place, at.lane);
        self.set(bytes, at.base, at.place, at.lane, Slot { fingerprint, value });
    }
}

impl Relocate for Lanes {
    relocate_between_buckets!();

    #[inline(always)]
    fn offset(&self, place: u64) -> u64 {
        self.slot_bit(place, 0)
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], place: u64) -> bool {
        self.fingerprint(bytes, 0, place, self.bucket_size - 1) == 0
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], place: u64, mut each: impl FnMut(u64)) {
        for lane in 0..self.bucket_size {
            let fingerprint = self.fingerprint(bytes, 0, place, lane);
            each(self.addressing.alternate(place, fingerprint));
        }
    }

    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64) {
        let from = Position { base, place, lane: choice as u64 };
        let slot = self.slot(bytes, base, place, from.lane);
        self.remove_at(bytes, from);
        self.push(bytes, base, to, slot);
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, value: u64) {
        let slot = Slot { fingerprint: probe.fingerprint, value };
        self.push(bytes, self.base(probe.segment), self.candidates(probe)[candidate], slot);
    }
}

impl TableLayout for Lanes {
    const CROWDED: [u64; 2] = [2, 3];

    #[inline(always)]
    fn has_values(&self) -> bool {
        self.value_bits > 0
    }

    /// Buckets often lie on two lines.
    #[inline(always)]
    fn prefetch(&self, bytes: &[u8], aim: &Aim) {
        let reach = self.bucket_size * u64::from(self.slot_bits) / 8;
        for byte in [aim.first >> 3, aim.second >> 3] {
            prefetch(bytes, byte);
            prefetch(bytes, byte + reach);
        }
    }

    #[inline(always)]
    fn addressing(&self) -> &Addressing {
        &self.addressing
    }

    #[inline(always)]
    unsafe fn contains<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool {
        // SAFETY: the caller's promise.
        let [first, second] = unsafe { self.matches_of(bytes, aim) };
        first | second != 0
    }

    #[inline]
    fn count_at(&self, bytes: &[u8], base: usize, place: u64, fingerprint: u64) -> u32 {
        self.matches(bytes, base, place, fingerprint).count_ones()
    }

    #[inline]
    unsafe fn try_place(
        &self,
        bytes: &mut [u8],
        _aim: &Aim,
        probe: &Probe,
        value: u64,
    ) -> Placement {
        let base = self.base(probe.segment);
        for place in [probe.first, probe.second] {
            if self.matches(bytes, base, place, probe.fingerprint) != 0 {
                return Placement::Copy;
            }
            if self.fingerprint(bytes, base, place, self.bucket_size - 1) == 0 {
                self.push(bytes, base, place, Slot { fingerprint: probe.fingerprint, value });
                return Placement::Taken;
            }
        }
        Placement::Full
    }

    /// The bucket whose lanes are the lesser number, the last lane first.
    unsafe fn try_place_emptier(
        &self,
        bytes: &mut [u8],
        _aim: &Aim,
        probe: impl FnOnce() -> Probe,
    ) -> Placement {
        let probe = probe();
        let (base, places) = (self.base(probe.segment), [probe.first, probe.second]);
        if places.iter().any(|&place| self.matches(bytes, base, place, probe.fingerprint) != 0) {
            return Placement::Copy;
        }
        let table = &*bytes;
        let lanes = |place| {
            (0..self.bucket_size).rev().map(move |lane| self.fingerprint(table, base, place, lane))
        };
        let place = if lanes(places[1]).lt(lanes(places[0])) { places[1] } else { places[0] };
        if self.fingerprint(bytes, base, place, self.bucket_size - 1) != 0 {
            return Placement::Full;
        }
        self.push(bytes, base, place, Slot { fingerprint: probe.fingerprint, value: 0 });
        Placement::Taken
    }

    fn occupants(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
    ) -> impl Iterator<Item = (Probe, u64)> {
        let base = self.base(segment);
        let slots = (0..self.bucket_size).map(move |lane| self.slot(bytes, base, place, lane));
        slots.filter(|slot| slot.fingerprint != 0).map(move |Slot { fingerprint, value }| {
            (self.addressing.occupant(segment, place, fingerprint), value)
        })
    }

    fn copies(&self, bytes: &[u8], probe: &Probe, value: u64) -> u32 {
        let found = self.found(bytes, probe);
        found.map(|at| u32::from(self.value_in(bytes, at) == value)).sum()
    }

    #[inline]
    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, value: u64) -> bool {
        let base = self.base(probe.segment);
        let lanes = self.matches(bytes, base, place, probe.fingerprint);
        let mut found = Matches { base, places: [place; 2], lanes };
        let copy = found.find(|&at| self.value_in(bytes, at) == value);
        if let Some(at) = copy {
            self.remove_at(bytes, at);
        }
        copy.is_some()
    }
}
