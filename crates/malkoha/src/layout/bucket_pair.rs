//! The two words that a lookup loads, compared together.
//!
//! Instructions that wait for memory fill the schedulers of a processor, and once these are full,
//! it begins no further lookup of a loop. Vector units have schedulers of their own. So a lookup
//! that comes alone compares its words in a vector register, which leaves the schedulers of the
//! integer units to the hashes of the lookups behind it. Only builds for x86-64 without AVX2 do so,
//! because with AVX2 the compiler vectorises the loop as a whole. It never vectorises the lanes of
//! maps, so these are compared in registers in batches too.

use core::ops::{BitAnd, BitOr, BitXor, Not};

use crate::layout::bits::{Word, index, load_at, split};

/// Two words. Each operation treats both alike.
#[derive(Clone, Copy)]
pub(crate) struct BucketPair(words::Words);

impl BucketPair {
    /// The words that begin at two bits, or at two bytes if `WHOLE_BYTES`.
    ///
    /// # Safety
    ///
    /// 8 bytes can be read from each byte on in which one begins.
    #[inline(always)]
    pub(crate) unsafe fn read<const WHOLE_BYTES: bool>(bytes: *const u8, starts: [u64; 2]) -> Self {
        let at = starts.map(|start| if WHOLE_BYTES { (index(start), 0) } else { split(0, start) });
        // SAFETY: as the caller promises.
        let words = at.map(|(at, _)| unsafe { u64::read(bytes.add(at)) });
        if WHOLE_BYTES {
            return Self::of(words);
        }
        Self(words::shifted_down(words, at.map(|(_, shift)| shift)))
    }

    #[inline(always)]
    pub(crate) fn of(words: [u64; 2]) -> Self {
        Self(words::of(words))
    }

    /// This word twice.
    #[inline(always)]
    pub(crate) fn all(word: u64) -> Self {
        Self::of([word; 2])
    }

    /// The difference of each two words.
    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self(words::minus(self.0, other.0))
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
        let [first, second] = words::each(self.0);
        first | second
    }
}

macro_rules! operators {
    ($($operator:ident::$method:ident = $words:ident),*) => {$(
        impl $operator for BucketPair {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(words::$words(self.0, other.0))
            }
        }
    )*};
}
operators!(BitAnd::bitand = and, BitOr::bitor = or, BitXor::bitxor = xor);

impl Not for BucketPair {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self ^ Self::all(u64::MAX)
    }
}

/// Two words in a register of SSE2.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))]
mod words {
    use core::arch::x86_64::*;

    use crate::layout::bits::{Word, index};
    use crate::layout::bucket_pair::Wanted;

    pub(super) type Words = __m128i;

    #[inline(always)]
    pub(super) fn of([first, second]: [u64; 2]) -> Words {
        // SAFETY: the processor has SSE2, because the program is compiled for it.
        unsafe { _mm_set_epi64x(second.cast_signed(), first.cast_signed()) }
    }

    #[inline(always)]
    pub(super) fn each(words: Words) -> [u64; 2] {
        // SAFETY: as above.
        let high = unsafe { _mm_unpackhi_epi64(words, words) };
        // SAFETY: as above.
        [words, high].map(|words| unsafe { _mm_cvtsi128_si64(words) }.cast_unsigned())
    }

    /// Each shifted by its own number of bits.
    #[inline(always)]
    pub(super) fn shifted_down(words: [u64; 2], by: [u32; 2]) -> Words {
        // SAFETY: as above.
        let shifted = |i: usize| unsafe {
            let word = _mm_cvtsi64_si128(words[i].cast_signed());
            _mm_srl_epi64(word, _mm_cvtsi32_si128(by[i].cast_signed()))
        };
        // SAFETY: as above.
        unsafe { _mm_unpacklo_epi64(shifted(0), shifted(1)) }
    }

    macro_rules! instructions {
        ($($name:ident = $instruction:ident),*) => {$(
            #[inline(always)]
            pub(super) fn $name(a: Words, b: Words) -> Words {
                // SAFETY: as above.
                unsafe { $instruction(a, b) }
            }
        )*};
    }
    instructions!(
        and = _mm_and_si128,
        or = _mm_or_si128,
        xor = _mm_xor_si128,
        minus = _mm_sub_epi64
    );

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
            let words = of(buckets.map(read));
            let difference = and(xor(words, of([lanes[lane]; 2])), of([masks[lane]; 2]));
            // Negative if the lane is not equal, because no mask has the highest bit. So is the
            // upper half of the word then.
            // SAFETY: as above.
            unsafe { _mm_castsi128_ps(minus(_mm_setzero_si128(), difference)) }
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
mod words {
    use crate::layout::bits::{Word, index};
    use crate::layout::bucket_pair::Wanted;

    pub(super) type Words = [u64; 2];

    #[inline(always)]
    pub(super) fn of(words: [u64; 2]) -> Words {
        words
    }

    #[inline(always)]
    pub(super) fn each(words: Words) -> [u64; 2] {
        words
    }

    /// Each shifted by its own number of bits.
    #[inline(always)]
    pub(super) fn shifted_down(words: [u64; 2], by: [u32; 2]) -> Words {
        [words[0] >> by[0], words[1] >> by[1]]
    }

    macro_rules! word_by_word {
        ($($name:ident = $of:expr),*) => {$(
            #[inline(always)]
            pub(super) fn $name(a: Words, b: Words) -> Words {
                [$of(a[0], b[0]), $of(a[1], b[1])]
            }
        )*};
    }
    word_by_word!(
        and = core::ops::BitAnd::bitand,
        or = core::ops::BitOr::bitor,
        xor = core::ops::BitXor::bitxor,
        minus = u64::wrapping_sub
    );

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

/// The fingerprint that is looked for, in the four lanes of a bucket. Lane number `i` lies in the
/// word that begins `at[i]` bytes after the bucket's first byte, under `masks[i]`. No mask has the
/// highest bit.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) at: [u64; 4],
    pub(super) masks: [u64; 4],
    pub(super) lanes: [u64; 4],
}

/// Which lanes of each of two buckets, which begin at these bytes, are the wanted ones, as bits.
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
    unsafe { words::equal_lanes(bytes.as_ptr(), buckets, wanted) }
}

/// [`BucketPair::have_lane`] of words in a table, which begin where those of [`BucketPair::read`]
/// do, for words of any width. `ALONE` says that no loop over lookups is to be vectorised.
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
        let words = unsafe { BucketPair::read::<WHOLE_BYTES>(bytes.as_ptr(), starts) };
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
