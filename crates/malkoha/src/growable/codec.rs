//! Four fingerprints in a word: bit strings of different lengths, compared all at once.
//!
//! A fingerprint of `bits + 1` bits holds the next bits of a key's string from its highest bit on,
//! then a 1 that marks their end, then zeros. A split takes the highest bit away and shifts the
//! rest up. 0 is an empty slot. The occupied lanes of a bucket come first.

use super::grid::MIX_BITS;
use super::segment::Form;
use super::shape::Shape;
use crate::layout::bucket_pair::BucketPair;
use crate::layout::four_lanes::{FourLanes, LaneWords, SLOTS};

/// The constants of buckets of `N` words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codec<const N: usize> {
    pub(super) bits: u32,
    /// Bits per lane: a fingerprint and its mark.
    pub(super) width: u32,
    /// The lowest bit of each lane of a word.
    ones: u64,
    /// And the highest.
    highs: u64,
}

/// The lowest bit of each lane.
const fn ones(width: u32, lanes: u32) -> u64 {
    let (mut ones, mut lane) = (0, 0);
    while lane < lanes {
        ones |= 1 << (lane * width);
        lane += 1;
    }
    ones
}

impl<const N: usize> Codec<N> {
    /// For fingerprints of `bits` bits, of which four fit in `N` words.
    pub(super) const fn new(bits: u32) -> Self {
        let (width, ones) = (bits + 1, ones(bits + 1, FourLanes::<N>::LANES));
        Self { bits, width, ones, highs: ones << (width - 1) }
    }

    /// Whether a word of lanes [lies in 8 bytes](FourLanes::are_short): all but the longest do.
    #[inline(always)]
    pub(super) fn is_short(&self) -> bool {
        FourLanes::<N>::are_short(self.width)
    }

    /// The bucket that begins at this bit.
    #[inline(always)]
    pub(super) fn load(&self, bytes: &[u8], bit: u64) -> FourLanes<N> {
        FourLanes::load(bytes, bit, self.width)
    }

    /// The lowest bit of each lane.
    #[inline(always)]
    fn ones<V: LaneWords>(&self) -> V {
        V::all(self.ones)
    }

    /// The highest bit of each lane.
    #[inline(always)]
    fn highs<V: LaneWords>(&self) -> V {
        V::all(self.highs)
    }

    /// Lanes, 0 where the fingerprint begins `wanted`, one in each lane of the other word.
    #[inline(always)]
    fn misses<V: LaneWords>(&self, bucket: V, wanted: V) -> V {
        // Each lane minus 1, but without a borrow: the highest bit is set first, and stays
        // set unless the lane is empty. In a fingerprint the highest bit is never the mark.
        let less = (bucket | self.highs()).minus(self.ones());
        // Ones up to the mark of each lane's end, where nothing need agree.
        let beyond = (bucket ^ less) & !self.highs::<V>();
        ((bucket ^ wanted) & !beyond) | (!less & self.highs())
    }

    /// Has the highest bit of some lane if and only if one of the fingerprints begins `wanted`.
    #[inline(always)]
    fn hits<V: LaneWords>(&self, bucket: V, wanted: V) -> V {
        let misses = self.misses(bucket, wanted);
        misses.minus(self.ones()) & !misses
    }

    /// Whether one of two buckets has a fingerprint that begins the one in all lanes of `wanted`.
    #[inline(always)]
    pub(super) fn contains(
        &self,
        first: FourLanes<N>,
        second: FourLanes<N>,
        wanted: FourLanes<N>,
    ) -> bool {
        let found = self.hits(first, wanted) | self.hits(second, wanted);
        // Both buckets always: a branch between them would be mispredicted half the time.
        found & self.highs() != FourLanes::ZERO
    }

    /// The same for two buckets of a segment, by their first bits, in a lookup that
    /// [comes alone](crate::layout::bucket_pair).
    ///
    /// # Safety
    ///
    /// These are first bits of buckets of the segment with this codec, whose lanes
    /// [are short](Self::is_short), and there are 16 bytes behind the last bucket.
    #[inline(always)]
    pub(super) unsafe fn contains_alone(
        &self,
        segment: *const u8,
        buckets: [u64; 2],
        wanted: u64,
    ) -> bool {
        let (wanted, mut found) =
            (BucketPair::all(self.ones.wrapping_mul(wanted)), BucketPair::all(0));
        // SAFETY: as the caller promises.
        unsafe {
            FourLanes::<N>::each_both(segment, buckets, self.width, |words| {
                found = found | self.hits(words, wanted);
            });
        }
        found.either() & self.highs != 0
    }

    /// Whether one of the buckets that begin at these bits has a fingerprint that begins the
    /// wanted one.
    ///
    /// # Safety
    ///
    /// Each pair is a segment's first byte and the first bit of one of its buckets. `SHORT` says
    /// whether its lanes [are short](Self::is_short).
    #[inline(always)]
    pub(super) unsafe fn contains_at<const SHORT: bool>(
        &self,
        [first, second]: [(*const u8, u64); 2],
        wanted: u64,
    ) -> bool {
        // SAFETY: a segment has 16 bytes behind its buckets, so as many can be read at each lane.
        let [first, second] = unsafe {
            [
                FourLanes::read::<SHORT>(first.0, first.1, self.width),
                FourLanes::read::<SHORT>(second.0, second.1, self.width),
            ]
        };
        self.contains(first, second, self.broadcast(wanted))
    }

    /// The highest bit of each lane that is 0.
    #[inline(always)]
    fn zero_lanes(&self, word: FourLanes<N>) -> FourLanes<N> {
        // No borrow leaves a lane, so that each is judged by itself.
        let lows = self.highs::<FourLanes<N>>().minus(self.ones());
        !((word & lows).plus(lows) | word) & self.highs()
    }

    /// The lanes of a bucket whose fingerprints begin `wanted`, as the highest bit of each.
    #[inline(always)]
    pub(super) fn matches(&self, bucket: FourLanes<N>, wanted: u64) -> FourLanes<N> {
        let wanted = self.broadcast(wanted);
        self.zero_lanes(self.misses(bucket, wanted))
    }

    /// The lane of the lowest bit of what [`matches`](Self::matches) found.
    #[inline(always)]
    pub(super) fn lane_of(&self, found: FourLanes<N>) -> u32 {
        found.first(self.width)
    }

    /// The lanes of a bucket whose fingerprints begin `wanted` or are begun by it, as the highest
    /// bit of each.
    pub(super) fn related(&self, bucket: FourLanes<N>, wanted: u64) -> FourLanes<N> {
        // Bits beyond the end of the wanted one need not agree either.
        let beyond = self.broadcast(wanted ^ wanted.wrapping_sub(1));
        self.zero_lanes(self.misses(bucket, self.broadcast(wanted)) & !beyond)
    }

    /// Occupied lanes.
    #[inline(always)]
    pub(super) fn len(&self, bucket: FourLanes<N>) -> u32 {
        SLOTS - self.zero_lanes(bucket).shifted_down(self.width - 1).sum(self.ones, self.width)
    }

    /// One fingerprint in every lane.
    #[inline(always)]
    pub(super) fn broadcast(&self, fingerprint: u64) -> FourLanes<N> {
        self.ones::<FourLanes<N>>().times(fingerprint)
    }

    /// Occupied lanes whose next bit of the path is 1, or that have no path bit left.
    #[inline(always)]
    pub(super) fn upper(&self, bucket: FourLanes<N>) -> u32 {
        (bucket & self.highs::<FourLanes<N>>().shifted_down(MIX_BITS)).count_ones()
    }

    /// The bits of a fingerprint that a split takes from, and the mark.
    #[inline(always)]
    fn path(&self) -> u64 {
        (2 << (self.bits - MIX_BITS)) - 1
    }

    /// Whether a fingerprint has no bit of its path left.
    #[inline(always)]
    pub(super) fn is_exhausted(&self, fingerprint: u64) -> bool {
        fingerprint & self.path() == 1 << (self.bits - MIX_BITS)
    }

    /// The half that a split puts a fingerprint into, which is not exhausted, and what it leaves of
    /// it.
    #[inline(always)]
    pub(super) fn split(&self, fingerprint: u64) -> (usize, u64) {
        let half = (fingerprint >> (self.bits - MIX_BITS)) & 1;
        let rest = (fingerprint & !self.path()) | ((fingerprint << 1) & self.path());
        (usize::from(half == 1), rest)
    }

    /// A fingerprint of one half of a split with its bit back. One of full length loses its last
    /// bit: the mark takes its place.
    #[inline(always)]
    pub(super) fn whole(&self, half: usize, fingerprint: u64) -> u64 {
        let path = fingerprint & self.path();
        let path = (path >> 1) | (half as u64) << (self.bits - MIX_BITS) | (path & 1);
        (fingerprint & !self.path()) | path
    }

    /// The same as a fingerprint of another codec, which may have less or more room.
    pub(super) fn whole_in(&self, to: &Self, half: usize, fingerprint: u64) -> u64 {
        if self.bits < to.bits {
            to.whole(half, refitted(fingerprint, self.bits, to.bits))
        } else {
            refitted(self.whole(half, fingerprint), self.bits, to.bits)
        }
    }

    /// The content of a lane.
    #[inline(always)]
    pub(super) fn lane(&self, bucket: FourLanes<N>, lane: u32) -> u64 {
        bucket.lane(lane, self.width) & (u64::MAX >> (64 - self.width))
    }

    /// Bits of a fingerprint's string: where its mark is.
    #[inline(always)]
    pub(super) fn length(&self, fingerprint: u64) -> u32 {
        // A slot of a damaged file may have no string at all.
        self.bits.saturating_sub(fingerprint.trailing_zeros())
    }
}

/// A fingerprint of `from` bits in a slot of `to` bits: all of it, or the first bits.
#[inline(always)]
pub(super) fn refitted(fingerprint: u64, from: u32, to: u32) -> u64 {
    let (longer, shorter) = (to.saturating_sub(from), from.saturating_sub(to));
    // The mark of one that is cut goes to the end.
    let cut = fingerprint.trailing_zeros() < shorter;
    (fingerprint << longer >> shorter) | u64::from(cut)
}

/// How the buckets of a segment are compared: in a word of 64 bits if a bucket fits one wherever it
/// begins, or in two.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyCodec {
    pub(super) number: u32,
    /// Bits of a fingerprint.
    pub(super) bits: u32,
    is_wide: bool,
    /// Not to be used if it is wide.
    one: Codec<1>,
    two: Codec<2>,
}

/// How many there are: below [`WIDE`], codecs of one word by the bits of a fingerprint; from there
/// on one later, of two.
const COUNT: usize = 32;
const WIDE: u32 = 16;

static CODECS: [AnyCodec; COUNT] = {
    let mut codecs = [AnyCodec::numbered(0); COUNT];
    let mut number = 0;
    while number < COUNT {
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        let any_codec = AnyCodec::numbered(number as u32);
        codecs[number] = any_codec;
        number += 1;
    }
    codecs
};

/// Runs one expression with the codec for as many words as a bucket needs.
macro_rules! with_codec {
    ($any_codec:expr, $codec:ident => $body:expr) => {{
        let any_codec: &$crate::growable::codec::AnyCodec = $any_codec;
        match any_codec.narrow() {
            Some($codec) => $body,
            None => {
                let $codec = any_codec.wide();
                $body
            }
        }
    }};
}
pub(super) use with_codec;

impl AnyCodec {
    const fn numbered(number: u32) -> Self {
        let is_wide = number >= WIDE;
        let bits = if is_wide { number - 1 } else { number };
        Self {
            number,
            bits,
            is_wide,
            one: Codec::<1>::new(if is_wide { 0 } else { bits }),
            two: Codec::<2>::new(bits),
        }
    }

    /// Of a segment at this depth.
    pub(super) fn new(shape: &Shape, depth: u32, form: Form) -> &'static Self {
        let bits = shape.widths.at(depth);
        // A bucket has an even number of bits in addition to its fingerprints, unless it may begin
        // at half a byte.
        let at_half = (form.grid.low_bits() + form.value_bits) % 2;
        let fits = SLOTS * (bits + 1) + 4 * at_half <= u64::BITS;
        Self::of(if fits { bits } else { bits + 1 })
    }

    /// The one of this number.
    #[inline(always)]
    pub(super) fn of(number: u32) -> &'static Self {
        &CODECS[number as usize % COUNT]
    }

    #[inline(always)]
    pub(super) fn width(&self) -> u32 {
        self.bits + 1
    }

    /// The codec of one word, if that is enough.
    #[inline(always)]
    pub(super) fn narrow(&self) -> Option<&Codec<1>> {
        if self.is_wide { None } else { Some(&self.one) }
    }

    /// That of two, which always are.
    #[inline(always)]
    pub(super) fn wide(&self) -> &Codec<2> {
        &self.two
    }
}

#[cfg(test)]
mod tests;
