//! Where a slot is put: into the emptier of its two buckets, or where moves make room.

use super::grid::Grid;
use super::segment::{Position, Segment, Slot, Spot, segment_bytes};
use crate::addressing::Probe;
use crate::arch::prefetch;
use crate::layout::bits::load_at;
use crate::layout::words::{SLOTS, Words};
use crate::layout::{self, Relocate, Search};

impl<const N: usize> Segment<'_, N> {
    /// Puts `slot` into a bucket that has room.
    #[inline]
    pub(super) fn push(&self, bytes: &mut [u8], bucket: u64, slot: Slot) {
        // Usually all lanes but the last are occupied, so that one look is enough.
        let is_occupied =
            |&lane: &u32| self.fingerprint(bytes, Position { bucket, lane: lane - 1 }) != 0;
        let lane = (1..SLOTS).rev().find(is_occupied).unwrap_or(0);
        self.set(bytes, Position { bucket, lane }, slot);
    }

    /// Puts a fingerprint into the emptier of its buckets; returns whether there was room. Keeping
    /// both equally full makes searches rarer.
    #[inline(always)]
    pub(super) fn push_to_one(&self, bytes: &mut [u8], spot: &Spot, value: u64) -> bool {
        let words = spot.buckets.map(|bucket| self.load(bytes, bucket));
        self.push_to_emptier(bytes, words, spot, value)
    }

    /// [`push_to_one`](Self::push_to_one), given the content of the buckets.
    #[inline(always)]
    fn push_to_emptier(
        &self,
        bytes: &mut [u8],
        words: [Words<N>; 2],
        spot: &Spot,
        value: u64,
    ) -> bool {
        let lens = words.map(|word| self.codec.len(word));
        let second = usize::from(lens[1] < lens[0]);
        let (bucket, lane) = (spot.buckets[second], lens[second]);
        if lane < SLOTS {
            let (place, fingerprint) = (spot.places[second], spot.fingerprint);
            self.set(bytes, Position { bucket, lane }, Slot { fingerprint, place, value });
        }
        lane < SLOTS
    }

    /// [`push_to_one`](Self::push_to_one), or after one move, unless a slot might be a copy.
    ///
    /// # Safety
    ///
    /// `bytes` are the segment's, which has these buckets.
    #[inline(always)]
    pub(super) unsafe fn push_new(&self, bytes: &mut [u8], spot: &Spot, value: u64) -> bool {
        let (codec, start) = (self.codec, bytes.as_ptr());
        let bits = [self.bit(spot.buckets[0]), self.bit(spot.buckets[1])];
        // SAFETY: a segment has 16 bytes behind its buckets, so as many can be read at each lane.
        let words: [Words<N>; 2] = unsafe {
            if codec.is_short() {
                [
                    Words::read::<true>(start, bits[0], codec.width),
                    Words::read::<true>(start, bits[1], codec.width),
                ]
            } else {
                [
                    Words::read::<false>(start, bits[0], codec.width),
                    Words::read::<false>(start, bits[1], codec.width),
                ]
            }
        };
        if codec.contains(words[0], words[1], codec.broadcast(spot.fingerprint)) {
            return false;
        }
        self.push_to_emptier(bytes, words, spot, value) || self.displace(bytes, spot, value)
    }

    /// Puts a slot into one of its full buckets, if one occupant can make room by a move into its
    /// other bucket. That is enough for seven searches in eight, and takes less than a third of
    /// their instructions. Only for segments whose buckets are in groups.
    #[inline]
    pub(super) fn displace(
        &self,
        bytes: &mut [u8],
        &Spot { places, buckets, fingerprint }: &Spot,
        value: u64,
    ) -> bool {
        let (grid, width) = (self.form.grid, self.codec.width);
        if !grid.is_grouped() {
            return false;
        }
        for (bucket, place) in buckets.into_iter().zip(places) {
            let halves = self.load(bytes, bucket).halves(width);
            let stretch = grid.stretch_in_group(bucket);
            for lane in 0..SLOTS {
                let half = halves[(lane / 2) as usize] >> (lane % 2 * width);
                let moved = half & (u64::MAX >> (u64::BITS - width));
                let mix = self.mix(moved);
                let other = mix.alternate(Grid::place_in_group(stretch, mix));
                let to = grid.bucket_in_group(other, mix);
                if self.fingerprint(bytes, Position { bucket: to, lane: SLOTS - 1 }) == 0 {
                    let at = Position { bucket, lane };
                    let moved =
                        Slot { fingerprint: moved, place: other, value: self.value(bytes, at) };
                    self.push(bytes, to, moved);
                    self.set(bytes, at, Slot { fingerprint, place, value });
                    return true;
                }
            }
        }
        false
    }

    /// Requests the lines that [`displace`](Self::displace) will look at, if both buckets are full.
    #[inline(always)]
    pub(super) fn request_exits(&self, bytes: &[u8], buckets: [u64; 2]) {
        let is_full = |bucket| self.fingerprint(bytes, Position { bucket, lane: SLOTS - 1 }) != 0;
        if !(self.form.grid.is_grouped() && is_full(buckets[0]) && is_full(buckets[1])) {
            return;
        }
        for bucket in buckets {
            self.for_each_target(bytes, 0, bucket, |to| prefetch(bytes, self.bit(to) >> 3));
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
    unsafe fn has_room(&self, bytes: &[u8], _base: usize, bucket: u64) -> bool {
        let last = self.offset(bucket) + u64::from((SLOTS - 1) * self.codec.width);
        // SAFETY: the caller vouches for the bucket, and a segment has 16 bytes behind its buckets,
        // so a word can be loaded at each lane.
        let last: u64 = unsafe { load_at(bytes, last) };
        last << (u64::BITS - self.codec.width) == 0
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], _base: usize, bucket: u64, mut each: impl FnMut(u64)) {
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
