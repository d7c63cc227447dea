//! Four fingerprints in a word: bit strings of different lengths, compared all at once.
//!
//! A fingerprint of `bits + 1` bits holds the next bits of a key's string from its highest bit on,
//! then a 1 that marks their end, then zeros. A split takes the highest bit away and shifts the
//! rest up. 0 is an empty slot. The occupied lanes of a bucket come first.

use super::grid::MIX_BITS;
use super::shape::SLOTS;
use crate::layout::bucket_pair::{BucketPair, LaneWords, Words};

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
        let (width, ones) = (bits + 1, ones(bits + 1, Words::<N>::LANES));
        Self { bits, width, ones, highs: ones << (width - 1) }
    }

    /// Whether a word of lanes lies in 8 bytes, whatever the bit at which it begins.
    #[inline(always)]
    pub(super) fn is_short(&self) -> bool {
        Words::<N>::are_short(self.width)
    }

    /// The bucket that begins at this bit.
    #[inline(always)]
    pub(super) fn load(&self, bytes: &[u8], bit: u64) -> Words<N> {
        Words::load(bytes, bit, self.width)
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
        // Each lane minus 1, but without a borrow: the highest bit is set meanwhile, and stays
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
    pub(super) fn contains(&self, first: Words<N>, second: Words<N>, wanted: Words<N>) -> bool {
        let found = self.hits(first, wanted) | self.hits(second, wanted);
        // Both buckets always: a branch between them would be mispredicted half the time.
        found & self.highs() != Words::ZERO
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
            Words::<N>::each_both(segment, buckets, self.width, |words| {
                found = found | self.hits(words, wanted);
            });
        }
        found.either() & self.highs != 0
    }

    /// The highest bit of each lane that is 0.
    #[inline(always)]
    fn zero_lanes(&self, word: Words<N>) -> Words<N> {
        // No borrow leaves a lane, so that each is judged by itself.
        let lows = self.highs::<Words<N>>().minus(self.ones());
        !((word & lows).plus(lows) | word) & self.highs()
    }

    /// The lanes of a bucket whose fingerprints begin `wanted`, as the highest bit of each.
    #[inline(always)]
    pub(super) fn matches(&self, bucket: Words<N>, wanted: u64) -> Words<N> {
        let wanted = self.broadcast(wanted);
        self.zero_lanes(self.misses(bucket, wanted))
    }

    /// The lane of the lowest bit of what [`matches`](Self::matches) found.
    #[inline(always)]
    pub(super) fn lane_of(&self, found: Words<N>) -> u32 {
        found.first(self.width)
    }

    /// The lanes of a bucket whose fingerprints begin `wanted` or are begun by it, as the highest
    /// bit of each.
    pub(super) fn related(&self, bucket: Words<N>, wanted: u64) -> Words<N> {
        // Bits beyond the end of the wanted one need not agree either.
        let beyond = self.broadcast(wanted ^ wanted.wrapping_sub(1));
        self.zero_lanes(self.misses(bucket, self.broadcast(wanted)) & !beyond)
    }

    /// Occupied lanes.
    #[inline(always)]
    pub(super) fn len(&self, bucket: Words<N>) -> u32 {
        SLOTS - self.zero_lanes(bucket).shifted_down(self.width - 1).sum(self.ones, self.width)
    }

    /// One fingerprint in every lane.
    #[inline(always)]
    pub(super) fn broadcast(&self, fingerprint: u64) -> Words<N> {
        self.ones::<Words<N>>().times(fingerprint)
    }

    /// Occupied lanes whose next bit of the path is 1, or that have no path bit left.
    #[inline(always)]
    pub(super) fn upper(&self, bucket: Words<N>) -> u32 {
        (bucket & self.highs::<Words<N>>().shifted_down(MIX_BITS)).count_ones()
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
    pub(super) fn lane(&self, bucket: Words<N>, lane: u32) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::bits::write;
    use proptest::prelude::*;

    /// Against the same, lane by lane.
    fn agrees<const N: usize>(
        codec: &Codec<N>,
        lanes: [u64; 4],
        wanted: u64,
        partial: u64,
        len: usize,
    ) {
        let bits = codec.bits;
        let mask = (2 << bits) - 1;
        let lanes: Vec<u64> =
            (0..4).map(|i| if i < len { (lanes[i] & mask).max(1) } else { 0 }).collect();
        let wanted = wanted & mask | 1;
        // At any bit of a byte.
        let (mut bytes, begin) = ([0xff; 32], len as u64);
        for (i, &lane) in (0..).zip(&lanes) {
            write(&mut bytes, 0, begin + i * u64::from(codec.width), codec.width, lane);
        }
        let word = codec.load(&bytes, begin);
        for (i, &lane) in (0..).zip(&lanes) {
            assert_eq!(codec.lane(word, i), lane);
            let half = word.halves(codec.width)[i as usize / 2] >> (i % 2 * codec.width);
            assert_eq!(half & mask, lane);
        }
        let begins = |lane: u64| lane != 0 && (lane ^ wanted) & !(lane ^ (lane - 1)) == 0;
        let flagged = |mut found: Words<N>| {
            let mut flagged = [false; 4];
            while found != Words::ZERO {
                flagged[codec.lane_of(found) as usize] = true;
                found = found.but_first();
            }
            flagged
        };
        let found = flagged(codec.matches(word, wanted));
        assert_eq!(found.to_vec(), lanes.iter().map(|&lane| begins(lane)).collect::<Vec<_>>());
        let found = flagged(codec.related(word, partial));
        for (found, &lane) in found.into_iter().zip(&lanes) {
            let beyond = (lane ^ lane.wrapping_sub(1)) | (partial ^ (partial - 1));
            assert_eq!(found, lane != 0 && (lane ^ partial) & !beyond == 0, "{lane:x}");
        }
        let any = lanes.iter().any(|&lane| begins(lane));
        let everywhere = codec.broadcast(wanted);
        assert_eq!(codec.contains(word, Words::ZERO, everywhere), any);
        assert_eq!(codec.contains(Words::ZERO, word, everywhere), any);
        assert_eq!(codec.len(word) as usize, len);
        let upper = lanes.iter().filter(|&&lane| lane >> (bits - MIX_BITS) & 1 == 1).count();
        assert_eq!(codec.upper(word) as usize, upper);
    }

    proptest! {
        /// In slots of another width a fingerprint keeps all that there is room for.
        #[test]
        fn other_widths_keep_what_they_can(
            from in 8..=30_u32, to in 8..=30_u32, string: u64, cut: u32,
        ) {
            let known = from - cut % (from - 7);
            let first = |known: u32| string & !(u64::MAX >> known);
            // The first bits, the mark, and zeros up to `bits` and the mark of a full one.
            let stored = |known: u32, bits: u32| (first(known) | 1 << (63 - known)) >> (63 - bits);
            let kept = known.min(to);
            prop_assert_eq!(refitted(stored(known, from), from, to), stored(kept, to));
            // Put together with its sibling, one has a bit more behind those that stay.
            let [codec, other] = [from, to].map(Codec::<2>::new);
            for half in [0, 1] {
                let whole = codec.whole_in(&other, half, stored(known, from));
                prop_assert_eq!(other.length(whole), (known + 1).min(to));
                if known < to.min(from) {
                    let (found, rest) = other.split(whole);
                    prop_assert_eq!((found, rest), (half, stored(known, to)));
                }
            }
        }

        #[test]
        fn words_agree_with_lanes(
            bits in 8..=30_u32, lanes: [u64; 4], wanted: u64, len in 0..=4_usize, near in 0..4_usize,
            marks: [u8; 4], short in 0..30_u32,
        ) {
            // Shorter strings too, and one of which the wanted one is a continuation.
            let mut lanes = std::array::from_fn(|i| {
                let zeros = u32::from(marks[i]) % bits;
                lanes[i] >> zeros << zeros | 1 << zeros
            });
            let zeros = u32::from(marks[near]) % bits;
            lanes[near] = wanted >> zeros << zeros | 1 << zeros;
            // One that is shorter, too.
            let (mask, short) = ((2 << bits) - 1, short % bits);
            let partial = (wanted & mask) >> short << short | 1 << short;
            agrees(&Codec::<2>::new(bits), lanes, wanted, partial, len);
            // Beginning at any bit of a byte.
            if bits <= 13 {
                agrees(&Codec::<1>::new(bits), lanes, wanted, partial, len);
            }
        }
    }
}
