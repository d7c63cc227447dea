//! The two words that a lookup loads, compared together.
//!
//! Instructions that wait for memory fill the schedulers of a processor, and once these are full,
//! it begins no further lookup of a loop. Vector units have schedulers of their own. So a lookup
//! that comes alone compares its words in a vector register, which leaves the schedulers of the
//! integer units to the hashes of the lookups behind it. Only builds for x86-64 without AVX2 do so,
//! because with AVX2 the compiler vectorises the loop as a whole. It never vectorises the lanes of
//! maps, so these are compared in registers in batches too.

use crate::addressing::index;
use crate::layout::bits::{Word, load_at, split};
use crate::layout::four_lanes::{FourLanes, LaneWords};

pub(crate) use pair::BucketPair;

impl BucketPair {
    /// The words that begin at two bits, or at two bytes if `WHOLE_BYTES`.
    ///
    /// # Safety
    ///
    /// 8 bytes can be read from each byte on in which one begins.
    #[inline(always)]
    pub(crate) unsafe fn read_two<const WHOLE_BYTES: bool>(
        bytes: *const u8,
        starts: [u64; 2],
    ) -> Self {
        let at = starts.map(|start| if WHOLE_BYTES { (index(start), 0) } else { split(0, start) });
        // SAFETY: as the caller promises.
        let words = at.map(|(at, _)| unsafe { u64::read(bytes.add(at)) });
        if WHOLE_BYTES {
            return Self::of(words);
        }
        Self::shifted(words, at.map(|(_, shift)| shift))
    }

    /// Whether one of the words has a lane equal to that of `wanted`. `below` and `highs` are those
    /// of [`Word::either_has_zero_lane`], which does the same word by word.
    #[inline(always)]
    pub(crate) fn have_lane(self, wanted: u64, [below, highs]: [u64; 2]) -> bool {
        let difference = self ^ Self::all(wanted);
        let nonzero = Self::all(below).minus(difference) | difference;
        (!nonzero).either() & highs != 0
    }

    /// The bits that are set in one of the words, or in both.
    #[inline(always)]
    pub(crate) fn either(self) -> u64 {
        let [first, second] = self.both();
        first | second
    }
}

/// Two words in a register of SSE2.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))]
mod pair {
    use core::arch::x86_64::*;
    use core::ops::{BitAnd, BitOr, BitXor, Not};

    use super::Wanted;
    use crate::addressing::index;
    use crate::layout::bits::Word;
    use crate::layout::four_lanes::LaneWords;

    /// Two words.
    #[derive(Clone, Copy)]
    pub(crate) struct BucketPair(__m128i);

    impl BucketPair {
        #[inline(always)]
        pub(crate) fn of([first, second]: [u64; 2]) -> Self {
            // SAFETY: the processor has SSE2, because the program is compiled for it.
            Self(unsafe { _mm_set_epi64x(second.cast_signed(), first.cast_signed()) })
        }

        #[inline(always)]
        pub(super) fn both(self) -> [u64; 2] {
            // SAFETY: as above.
            let high = unsafe { _mm_unpackhi_epi64(self.0, self.0) };
            // SAFETY: as above.
            [self.0, high].map(|words| unsafe { _mm_cvtsi128_si64(words) }.cast_unsigned())
        }

        /// Each shifted by its own number of bits.
        #[inline(always)]
        pub(super) fn shifted(words: [u64; 2], by: [u32; 2]) -> Self {
            // SAFETY: as above.
            let shifted = |i: usize| unsafe {
                let word = _mm_cvtsi64_si128(words[i].cast_signed());
                _mm_srl_epi64(word, _mm_cvtsi32_si128(by[i].cast_signed()))
            };
            // SAFETY: as above.
            Self(unsafe { _mm_unpacklo_epi64(shifted(0), shifted(1)) })
        }
    }

    macro_rules! operators {
        ($($operator:ident::$method:ident = $instruction:ident),*) => {$(
            impl $operator for BucketPair {
                type Output = Self;

                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: as above.
                    Self(unsafe { $instruction(self.0, other.0) })
                }
            }
        )*};
    }
    operators!(BitAnd::bitand = _mm_and_si128, BitOr::bitor = _mm_or_si128);
    operators!(BitXor::bitxor = _mm_xor_si128);

    impl Not for BucketPair {
        type Output = Self;

        #[inline(always)]
        fn not(self) -> Self {
            self ^ Self::all(u64::MAX)
        }
    }

    impl LaneWords for BucketPair {
        #[inline(always)]
        fn all(word: u64) -> Self {
            Self::of([word; 2])
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            // SAFETY: as above.
            Self(unsafe { _mm_sub_epi64(self.0, other.0) })
        }
    }

    /// [`super::equal_lanes`].
    ///
    /// # Safety
    ///
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn equal_lanes(
        bytes: *const u8,
        buckets: [u64; 2],
        &Wanted { at, masks, lanes }: &Wanted,
    ) -> [u32; 2] {
        let nonzero = |lane: usize| {
            // SAFETY: as the caller promises.
            let read = |bucket| unsafe { u64::read(bytes.add(index(bucket) + index(at[lane]))) };
            let words = BucketPair::of(buckets.map(read));
            let difference = (words ^ LaneWords::all(lanes[lane])) & LaneWords::all(masks[lane]);
            // Negative if the lane is not equal, because no mask has the highest bit. So is the
            // upper half of the word then.
            // SAFETY: as above.
            unsafe { _mm_castsi128_ps(BucketPair::all(0).minus(difference).0) }
        };
        let [a, b, c, d] = [nonzero(0), nonzero(1), nonzero(2), nonzero(3)];
        // SAFETY: as above.
        unsafe {
            // The upper halves, two words after the other; then those of all first words.
            let (low, high) = (_mm_shuffle_ps::<0xdd>(a, b), _mm_shuffle_ps::<0xdd>(c, d));
            let each = [_mm_shuffle_ps::<0x88>(low, high), _mm_shuffle_ps::<0xdd>(low, high)];
            each.map(|halves| _mm_movemask_ps(halves).cast_unsigned() ^ 15)
        }
    }
}

/// Two words, each by itself.
#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2"))))]
mod pair {
    use super::Wanted;
    use crate::addressing::index;
    use crate::layout::bits::Word;
    use crate::layout::four_lanes::FourLanes;

    pub(crate) type BucketPair = FourLanes<2>;

    impl BucketPair {
        #[inline(always)]
        pub(crate) fn of(words: [u64; 2]) -> Self {
            Self(words)
        }

        #[inline(always)]
        pub(super) fn both(self) -> [u64; 2] {
            self.0
        }

        /// Each shifted by its own number of bits.
        #[inline(always)]
        pub(super) fn shifted(words: [u64; 2], by: [u32; 2]) -> Self {
            Self([words[0] >> by[0], words[1] >> by[1]])
        }
    }

    /// [`super::equal_lanes`].
    ///
    /// # Safety
    ///
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn equal_lanes(
        bytes: *const u8,
        buckets: [u64; 2],
        &Wanted { at, masks, lanes }: &Wanted,
    ) -> [u32; 2] {
        // One bucket after the other, because arrays of both words took twice the time.
        buckets.map(|bucket| {
            let lane = |lane: usize| {
                // SAFETY: as the caller promises.
                let word = unsafe { u64::read(bytes.add(index(bucket) + index(at[lane]))) };
                u32::from((word ^ lanes[lane]) & masks[lane] == 0) << lane
            };
            lane(0) | lane(1) | lane(2) | lane(3)
        })
    }
}

impl<const N: usize> FourLanes<N> {
    /// Calls `each` with the words of two buckets, the first ones together, then the second ones.
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read) of each bucket; their lanes are short.
    #[inline(always)]
    pub(crate) unsafe fn each_both(
        bytes: *const u8,
        bits: [u64; 2],
        width: u32,
        mut each: impl FnMut(BucketPair),
    ) {
        for i in 0..N {
            let bits = bits.map(|bit| Self::bit(bit, i, width));
            // SAFETY: as the caller promises.
            each(unsafe { BucketPair::read_two::<false>(bytes, bits) });
        }
    }
}

/// The fingerprint that is looked for, in the four lanes of a bucket. Lane number `i` lies in the
/// word that begins `at[i]` bytes after the bucket's first byte, under `masks[i]`. No mask has the
/// highest bit.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) at: [u64; 4],
    pub(super) masks: [u64; 4],
    pub(super) lanes: [u64; 4],
}

/// The lanes of each of two buckets, which begin at these bytes, that are the wanted ones, as bits.
///
/// # Safety
///
/// `bytes` has a whole word from each byte on in which the word of a lane begins.
#[inline(always)]
pub(super) unsafe fn equal_lanes(bytes: &[u8], buckets: [u64; 2], wanted: &Wanted) -> [u32; 2] {
    debug_assert!(buckets.iter().all(|bucket| {
        wanted.at.iter().all(|at| index(bucket + at) + size_of::<u64>() <= bytes.len())
    }));
    // SAFETY: as the caller promises.
    unsafe { pair::equal_lanes(bytes.as_ptr(), buckets, wanted) }
}

/// [`BucketPair::have_lane`] of words in a table, of any width, which begin where those of
/// [`BucketPair::read_two`] do. `ALONE` says that no loop over lookups is to be vectorised.
///
/// # Safety
///
/// `bytes` has a whole word from each byte on in which one begins.
#[inline(always)]
pub(super) unsafe fn have_lane<W: Word, const WHOLE_BYTES: bool, const ALONE: bool>(
    bytes: &[u8],
    starts: [u64; 2],
    wanted: W,
    [below, highs]: [W; 2],
) -> bool {
    if ALONE && W::BITS == u64::BITS {
        debug_assert!(starts.iter().all(|&start| {
            index(if WHOLE_BYTES { start } else { start >> 3 }) + size_of::<u64>() <= bytes.len()
        }));
        // SAFETY: as the caller promises.
        let words = unsafe { BucketPair::read_two::<WHOLE_BYTES>(bytes.as_ptr(), starts) };
        return words.have_lane(wanted.low(), [below.low(), highs.low()]);
    }
    // SAFETY: as the caller promises.
    let [first, second]: [W; 2] = starts.map(|start| unsafe {
        if WHOLE_BYTES { W::load_unchecked(bytes, index(start)) } else { load_at(bytes, start) }
    });
    // Both words always: a branch between them would be mispredicted half the time.
    (first ^ wanted).either_has_zero_lane(second ^ wanted, below, highs)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Lanes that are equal are as frequent as others.
        #[test]
        fn lanes_are_equal(
            bytes: [u8; 64], buckets in [0..24_u64, 0..24_u64], bits in 4_u32..=32,
            step in 1..9_u64, same: [[bool; 4]; 2], other: u64
        ) {
            let at = [0, 1, 2, 3].map(|lane| lane * step);
            let masks = [0, 2, 4, 6].map(|shift| u64::ones(bits) << shift);
            // SAFETY: 8 bytes from byte 23 + 24 on at most, of 64.
            let load = |bucket: u64, lane: u64| unsafe {
                u64::load_unchecked(&bytes, index(bucket + lane))
            };
            let lanes: [u64; 4] = std::array::from_fn(|i| {
                let there = load(buckets[usize::from(same[1][i])], at[i]);
                if same[0][i] { there & masks[i] } else { other & masks[i] }
            });
            let expected = buckets.map(|bucket| (0..4).fold(0, |found, i| {
                found | u32::from(load(bucket, at[i]) & masks[i] == lanes[i]) << i
            }));
            let wanted = Wanted { at, masks, lanes };
            // SAFETY: as above.
            let found = unsafe { equal_lanes(&bytes, buckets, &wanted) };
            prop_assert_eq!(found, expected);
        }
    }
}
