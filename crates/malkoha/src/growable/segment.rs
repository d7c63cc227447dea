//! One segment: buckets of four slots, and how occupants move between them.
//!
//! A bucket is four fingerprints, then, in a small table, four numbers of `low_bits` bits (the low
//! bits of each occupant's place), then four values.

use super::codec::Codec;
use super::grid::{Grid, MIX_BITS, Mix};
use crate::layout::bits::{fill, read, write};
use crate::layout::words::{SLOTS, Words};

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
    pub(super) fn load(&self, bytes: &[u8], bucket: u64) -> Words<N> {
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
    fn low_place(&self, bytes: &[u8], at: Position) -> u64 {
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
    pub(super) fn for_each_occupant(&self, bytes: &[u8], mut each: impl FnMut(u64, Slot, Mix)) {
        for bucket in 0..self.form.grid.buckets() {
            self.for_each_in(bytes, bucket, |slot, mix| each(bucket, slot, mix));
        }
    }

    /// The same for one bucket.
    #[inline(always)]
    pub(super) fn for_each_in(&self, bytes: &[u8], bucket: u64, mut each: impl FnMut(Slot, Mix)) {
        let (word, stretch) = (self.load(bytes, bucket), self.form.grid.stretch(bucket));
        for lane in 0..SLOTS {
            let (at, fingerprint) = (Position { bucket, lane }, self.codec.lane(word, lane));
            if fingerprint == 0 {
                break;
            }
            let mix = self.mix(fingerprint);
            let place = self.place(bytes, stretch, at, mix);
            each(Slot { fingerprint, place, value: self.value(bytes, at) }, mix);
        }
    }

    /// Where else a fingerprint may lie that can lie at this place.
    #[inline(always)]
    pub(super) fn spot(&self, place: u64, fingerprint: u64) -> Spot {
        let mix = self.mix(fingerprint);
        let places = [place, mix.alternate(place)];
        Spot { places, buckets: places.map(|place| self.form.grid.bucket(place, mix)), fingerprint }
    }

    /// A slot of these buckets that holds one of several equal fingerprints.
    pub(super) fn second_copy(&self, bytes: &[u8], buckets: [u64; 2]) -> Option<(Position, Slot)> {
        let mut found = None;
        for bucket in buckets {
            let mut lane = 0;
            self.for_each_in(bytes, bucket, |slot, _| {
                let mut equals = 0;
                self.for_each_match(bytes, &self.spot(slot.place, slot.fingerprint), |at| {
                    equals += u32::from(self.fingerprint(bytes, at) == slot.fingerprint);
                });
                if equals > 1 && found.is_none() {
                    found = Some((Position { bucket, lane }, slot));
                }
                lane += 1;
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
        choose: impl Fn(Words<N>) -> Words<N>,
        mut each: impl FnMut(Position),
    ) {
        let mut left = buckets.map(|bucket| choose(self.load(bytes, bucket)));
        if buckets[0] == buckets[1] {
            left[1] = Words::ZERO;
        }
        let low = (1 << self.form.grid.low_bits()) - 1;
        while (left[0] | left[1]) != Words::ZERO {
            // No branch: it would be unpredictable, because a key's slot is equally often in either
            // bucket.
            let number = usize::from(left[0] == Words::ZERO);
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
}
