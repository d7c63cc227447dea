//! One segment: buckets of four slots, and how a slot gets into the emptier of its two buckets.
//!
//! A bucket is four fingerprints, then, in a small table, four numbers of `low_bits` bits (the low
//! bits of each occupant's place), then four values.

use super::codec::Codec;
use super::grid::{Grid, MIX_BITS, Mix};
use crate::layout::bits::{fill, read, write};
use crate::layout::four_lanes::{FourLanes, SLOTS};

/// How to read a segment's bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a, const N: usize> {
    pub(super) codec: &'a Codec<N>,
    pub(super) form: Form,
    pub(super) bucket_bits: u64,
}

/// How a segment is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) grid: Grid,
    /// Bits of a slot's value.
    pub(crate) value_bits: u32,
}

/// The content of a slot. A fingerprint of 0 means that the slot is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) fingerprint: u64,
    /// The place, in full.
    pub(super) place: u64,
    pub(super) value: u64,
}

/// A fingerprint of a segment, and where it may lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) places: [u64; 2],
    /// The second can be the first.
    pub(super) buckets: [u64; 2],
    pub(super) fingerprint: u64,
}

/// Where a slot is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) bucket: u64,
    pub(super) lane: u32,
}

impl Position {
    /// The position of keys that have no slot.
    pub(super) const STASH: Self = Self { bucket: u64::MAX, lane: u32::MAX };
}

/// Bits of a bucket with fingerprints of `width` bits.
#[inline(always)]
pub(super) fn bucket_bits(width: u32, form: Form) -> u64 {
    u64::from(SLOTS * (width + form.grid.low_bits() + form.value_bits))
}

/// Bytes behind the last bucket.
pub(super) const PADDING: u64 = 16;

/// Bytes of a segment, a multiple of 8, with room for a word at any bucket.
pub(super) fn segment_bytes(width: u32, form: Form) -> usize {
    let bits = form.grid.buckets() * bucket_bits(width, form);
    usize::try_from(bits.div_ceil(64) * 8 + PADDING).expect("at most 2^13 buckets of 53 bytes")
}

impl Form {
    /// Bytes of such a segment with fingerprints of this many bits.
    pub(crate) fn segment_bytes(self, bits: u32) -> usize {
        segment_bytes(bits + 1, self)
    }
}

impl<'a, const N: usize> Segment<'a, N> {
    pub(super) fn new(codec: &'a Codec<N>, form: Form) -> Self {
        Self { codec, form, bucket_bits: bucket_bits(codec.width, form) }
    }

    pub(super) fn zeroed(&self) -> Box<[u8]> {
        vec![0; segment_bytes(self.codec.width, self.form)].into_boxed_slice()
    }

    /// The bytes of a segment of fewer buckets with this one's length.
    pub(super) fn lengthened(&self, bytes: &[u8]) -> Box<[u8]> {
        let length = segment_bytes(self.codec.width, self.form);
        let mut longer = Vec::with_capacity(length);
        longer.extend_from_slice(bytes);
        longer.resize(length, 0);
        longer.into_boxed_slice()
    }

    /// The bit at which a bucket begins.
    #[inline(always)]
    pub(super) fn bit(&self, bucket: u64) -> u64 {
        bucket * self.bucket_bits
    }

    #[inline(always)]
    pub(super) fn load(&self, bytes: &[u8], bucket: u64) -> FourLanes<N> {
        self.codec.load(bytes, self.bit(bucket))
    }

    #[inline(always)]
    fn fingerprint_bit(&self, at: Position) -> u64 {
        self.bit(at.bucket) + u64::from(at.lane * self.codec.width)
    }

    #[inline(always)]
    fn place_bit(&self, at: Position) -> u64 {
        let low_bits = self.form.grid.low_bits();
        self.bit(at.bucket) + u64::from(SLOTS * self.codec.width + at.lane * low_bits)
    }

    #[inline(always)]
    fn value_bit(&self, at: Position) -> u64 {
        let before = self.codec.width + self.form.grid.low_bits();
        self.bit(at.bucket) + u64::from(SLOTS * before + at.lane * self.form.value_bits)
    }

    #[inline(always)]
    pub(super) fn fingerprint(&self, bytes: &[u8], at: Position) -> u64 {
        read(bytes, 0, self.fingerprint_bit(at), self.codec.width)
    }

    #[inline(always)]
    pub(super) fn set_fingerprint(&self, bytes: &mut [u8], at: Position, fingerprint: u64) {
        write(bytes, 0, self.fingerprint_bit(at), self.codec.width, fingerprint);
    }

    #[inline(always)]
    pub(super) fn value(&self, bytes: &[u8], at: Position) -> u64 {
        match self.form.value_bits {
            0 => 0,
            bits => read(bytes, 0, self.value_bit(at), bits),
        }
    }

    #[inline(always)]
    pub(super) fn set_value(&self, bytes: &mut [u8], at: Position, value: u64) {
        if self.form.value_bits > 0 {
            write(bytes, 0, self.value_bit(at), self.form.value_bits, value);
        }
    }

    /// The number of low bits of an occupant's place that its bucket does not determine.
    #[inline(always)]
    pub(super) fn low_place(&self, bytes: &[u8], at: Position) -> u64 {
        match self.form.grid.low_bits() {
            0 => 0,
            low_bits => read(bytes, 0, self.place_bit(at), low_bits),
        }
    }

    /// The mix of an occupant, whose bits its fingerprint begins with. Ignores bits above the
    /// fingerprint.
    #[inline(always)]
    pub(super) fn mix(&self, fingerprint: u64) -> Mix {
        Mix::of(fingerprint >> (self.codec.width - MIX_BITS))
    }

    /// The place, in full, of an occupant of the bucket whose stretch begins there.
    #[inline(always)]
    pub(super) fn place(&self, bytes: &[u8], stretch: u64, at: Position, mix: Mix) -> u64 {
        self.form.grid.place(stretch, mix) | self.low_place(bytes, at)
    }

    #[inline(always)]
    pub(super) fn set(&self, bytes: &mut [u8], at: Position, slot: Slot) {
        self.set_fingerprint(bytes, at, slot.fingerprint);
        let low_bits = self.form.grid.low_bits();
        if low_bits > 0 {
            write(bytes, 0, self.place_bit(at), low_bits, slot.place & ((1 << low_bits) - 1));
        }
        self.set_value(bytes, at, slot.value);
    }

    /// [`set`](Self::set) for an empty slot whose value is still zero. Its place need not be: in a
    /// hostile file, empty slots may have one.
    #[inline(always)]
    pub(super) fn fill(&self, bytes: &mut [u8], at: Position, slot: Slot) {
        fill(bytes, 0, self.fingerprint_bit(at), self.codec.width, slot.fingerprint);
        let (low_bits, value_bits) = (self.form.grid.low_bits(), self.form.value_bits);
        if low_bits > 0 {
            write(bytes, 0, self.place_bit(at), low_bits, slot.place & ((1 << low_bits) - 1));
        }
        if value_bits > 0 {
            fill(bytes, 0, self.value_bit(at), value_bits, slot.value);
        }
    }

    /// Where else a fingerprint may lie that can lie at this place.
    #[inline(always)]
    pub(super) fn spot(&self, place: u64, fingerprint: u64) -> Spot {
        let mix = self.mix(fingerprint);
        let places = [place, mix.alternate(place)];
        Spot { places, buckets: places.map(|place| self.form.grid.bucket(place, mix)), fingerprint }
    }

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
        words: [FourLanes<N>; 2],
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
        let words: [FourLanes<N>; 2] = unsafe {
            if codec.is_short() {
                [
                    FourLanes::read::<true>(start, bits[0], codec.width),
                    FourLanes::read::<true>(start, bits[1], codec.width),
                ]
            } else {
                [
                    FourLanes::read::<false>(start, bits[0], codec.width),
                    FourLanes::read::<false>(start, bits[1], codec.width),
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
}
