//! The occupants of a segment: going through them, removing them, and moving them to make room.

use super::grid::{Grid, Mix};
use super::segment::{Position, Segment, Slot, Spot, segment_bytes};
use crate::addressing::Probe;
use crate::arch::prefetch;
use crate::layout::bits::{load_at, write};
use crate::layout::four_lanes::{FourLanes, SLOTS};
use crate::layout::{self, Relocate, Search};

impl<const N: usize> Segment<'_, N> {
    /// Empties all slots of a bucket.
    pub(super) fn clear(&self, bytes: &mut [u8], bucket: u64) {
        let (mut bit, end) = (self.bit(bucket), self.bit(bucket + 1));
        while bit < end {
            // As many as a write of one word takes.
            let bits = (end - bit).min(57);
            write(bytes, 0, bit, bits as u32, 0);
            bit += bits;
        }
    }

    /// Calls `each` with all occupied slots, bucket by bucket, and what they say about places.
    #[inline(always)]
    pub(super) fn for_each_occupant(
        &self,
        bytes: &[u8],
        mut each: impl FnMut(Position, Slot, Mix),
    ) {
        (0..self.form.grid.buckets()).for_each(|bucket| self.for_each_in(bytes, bucket, &mut each));
    }

    /// The same for one bucket.
    #[inline(always)]
    pub(super) fn for_each_in(
        &self,
        bytes: &[u8],
        bucket: u64,
        mut each: impl FnMut(Position, Slot, Mix),
    ) {
        let (word, stretch) = (self.load(bytes, bucket), self.form.grid.stretch(bucket));
        for lane in 0..SLOTS {
            let (at, fingerprint) = (Position { bucket, lane }, self.codec.lane(word, lane));
            if fingerprint == 0 {
                break;
            }
            let mix = self.mix(fingerprint);
            let place = self.place(bytes, stretch, at, mix);
            each(at, Slot { fingerprint, place, value: self.value(bytes, at) }, mix);
        }
    }

    /// A slot of these buckets that holds one of several equal fingerprints.
    pub(super) fn second_copy(&self, bytes: &[u8], buckets: [u64; 2]) -> Option<(Position, Slot)> {
        let mut found = None;
        for bucket in buckets {
            self.for_each_in(bytes, bucket, |at, slot, _| {
                let mut equals = 0;
                self.for_each_match(bytes, &self.spot(slot.place, slot.fingerprint), |at| {
                    equals += u32::from(self.fingerprint(bytes, at) == slot.fingerprint);
                });
                if equals > 1 && found.is_none() {
                    found = Some((at, slot));
                }
            });
        }
        found
    }

    /// Empties a slot; the last occupied one of its bucket takes its place.
    pub(super) fn remove_at(&self, bytes: &mut [u8], at: Position) {
        let len = self.codec.len(self.load(bytes, at.bucket));
        self.move_last_to(bytes, at, len.saturating_sub(1).max(at.lane));
    }

    /// Lets the last occupant of a bucket, in this lane, take another's slot.
    #[inline(always)]
    pub(super) fn move_last_to(&self, bytes: &mut [u8], at: Position, last: u32) {
        let last = Position { lane: last, ..at };
        let moved = Slot {
            fingerprint: self.fingerprint(bytes, last),
            place: self.low_place(bytes, last),
            value: self.value(bytes, last),
        };
        self.set(bytes, at, moved);
        self.set(bytes, last, Slot::default());
    }

    /// Calls `each` for the slots at these places whose string begins the wanted one.
    #[inline(always)]
    pub(super) fn for_each_match(&self, bytes: &[u8], wanted: &Spot, each: impl FnMut(Position)) {
        let matches = |bucket| self.codec.matches(bucket, wanted.fingerprint);
        self.for_each_of(bytes, wanted, matches, each);
    }

    /// Calls `each` for the slots at these places whose lane's highest bit
    /// `choose` sets.
    #[inline(always)]
    pub(super) fn for_each_of(
        &self,
        bytes: &[u8],
        &Spot { places, buckets, .. }: &Spot,
        choose: impl Fn(FourLanes<N>) -> FourLanes<N>,
        mut each: impl FnMut(Position),
    ) {
        let mut left = buckets.map(|bucket| choose(self.load(bytes, bucket)));
        if buckets[0] == buckets[1] {
            left[1] = FourLanes::ZERO;
        }
        let low = (1 << self.form.grid.low_bits()) - 1;
        while (left[0] | left[1]) != FourLanes::ZERO {
            // No branch: it would be unpredictable, because a key's slot is equally often in either
            // bucket.
            let number = usize::from(left[0] == FourLanes::ZERO);
            let (bucket, found) = (buckets[number], left[number]);
            left[number] = found.but_first();
            let at = Position { bucket, lane: self.codec.lane_of(found) };
            // The one of the places that this bucket stands for.
            let low_place = self.low_place(bytes, at);
            let meant = |i: usize| buckets[i] == bucket && places[i] & low == low_place;
            if low == 0 || meant(0) || meant(1) {
                each(at);
            }
        }
    }

    /// Requests the lines that [`displace`](Self::displace) will look at, if both buckets are full.
    #[inline(always)]
    pub(super) fn request_exits(&self, bytes: &[u8], buckets: [u64; 2]) {
        let is_full = |bucket| self.fingerprint(bytes, Position { bucket, lane: SLOTS - 1 }) != 0;
        if !(self.form.grid.is_grouped() && is_full(buckets[0]) && is_full(buckets[1])) {
            return;
        }
        for bucket in buckets {
            self.for_each_target(bytes, bucket, |to| prefetch(bytes, self.bit(to) >> 3));
        }
    }

    /// Inserts a slot, moving others if necessary; looks at `kicks` places beyond its own.
    #[inline]
    pub(super) fn insert(
        &self,
        bytes: &mut [u8],
        search: &mut Search,
        spot: &Spot,
        value: u64,
        kicks: u32,
    ) -> bool {
        let &Spot { places: [first, second], fingerprint, .. } = spot;
        let probe = Probe { segment: 0, first, second, fingerprint };
        self.push_to_one(bytes, spot, value)
            || self.displace(bytes, spot, value)
            || kicks > 0 && layout::insert_with_moves(self, bytes, search, &probe, value, kicks)
    }

    /// [`Relocate::for_each_target`] in a small table. Apart, because what it needs would take the
    /// registers of the usual case.
    #[cold]
    #[inline(never)]
    fn targets_in_small(&self, bytes: &[u8], bucket: u64) -> [u64; SLOTS as usize] {
        let (word, stretch) = (self.load(bytes, bucket), self.form.grid.stretch(bucket));
        let mut targets = [0; SLOTS as usize];
        for (lane, target) in (0..).zip(&mut targets) {
            let mix = self.mix(self.codec.lane(word, lane));
            let place = self.place(bytes, stretch, Position { bucket, lane }, mix);
            *target = self.form.grid.bucket(mix.alternate(place), mix);
        }
        targets
    }
}

/// Here places are buckets, except for those of a probe.
impl<const N: usize> Relocate for Segment<'_, N> {
    type Candidates = [u64; 2];

    const IS_CHEAP: bool = false;

    fn segment_bytes(&self) -> u64 {
        segment_bytes(self.codec.width, self.form) as u64
    }

    #[inline(always)]
    fn places(&self) -> u64 {
        self.form.grid.buckets()
    }

    #[inline]
    fn offset(&self, bucket: u64) -> u64 {
        bucket * self.bucket_bits
    }

    fn candidates(&self, probe: &Probe) -> [u64; 2] {
        self.spot(probe.first, probe.fingerprint).buckets
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], bucket: u64) -> bool {
        let last = self.offset(bucket) + u64::from((SLOTS - 1) * self.codec.width);
        // SAFETY: the caller vouches for the bucket, and a segment has 16 bytes behind its buckets,
        // so a word can be loaded at each lane.
        let last: u64 = unsafe { load_at(bytes, last) };
        last << (u64::BITS - self.codec.width) == 0
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], bucket: u64, mut each: impl FnMut(u64)) {
        let grid = self.form.grid;
        if !grid.is_grouped() {
            return self.targets_in_small(bytes, bucket).into_iter().for_each(each);
        }
        let (word, stretch) = (self.load(bytes, bucket), grid.stretch_in_group(bucket));
        for half in word.halves(self.codec.width) {
            for lane in 0..SLOTS / 2 {
                let mix = self.mix(half >> (lane * self.codec.width));
                let place = Grid::place_in_group(stretch, mix);
                each(grid.bucket_in_group(mix.alternate(place), mix));
            }
        }
    }

    fn relocate(&self, bytes: &mut [u8], _base: usize, bucket: u64, choice: usize, to: u64) {
        // At most 4 lanes.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let at = Position { bucket, lane: choice as u32 };
        let (fingerprint, value) = (self.fingerprint(bytes, at), self.value(bytes, at));
        // In most tables the bucket tells the place.
        let place = if self.form.grid.low_bits() > 0 {
            let mix = self.mix(fingerprint);
            mix.alternate(self.place(bytes, self.form.grid.stretch(bucket), at, mix))
        } else {
            0
        };
        // Searches lead through full buckets.
        self.move_last_to(bytes, at, SLOTS - 1);
        let slot = Slot { fingerprint, place, value };
        self.push(bytes, to, slot);
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, value: u64) {
        let place = [probe.first, probe.second][candidate];
        let slot = Slot { fingerprint: probe.fingerprint, place, value };
        self.push(bytes, self.candidates(probe)[candidate], slot);
    }
}
