//! Two words in a register of SSE2, which every x86-64 with vector registers has. The module is
//! compiled only where the program is compiled for it.

use core::arch::x86_64::{
    __m128i, _mm_and_si128, _mm_castsi128_ps, _mm_cvtsi32_si128, _mm_cvtsi64_si128,
    _mm_cvtsi128_si64, _mm_movemask_ps, _mm_or_si128, _mm_set_epi64x, _mm_setzero_si128,
    _mm_shuffle_ps, _mm_srl_epi64, _mm_sub_epi64, _mm_unpackhi_epi64, _mm_unpacklo_epi64,
    _mm_xor_si128,
};

use super::Wanted;
use crate::layout::bits::{Word, index};

pub(super) type Words = __m128i;

#[inline(always)]
pub(super) fn of([first, second]: [u64; 2]) -> Words {
    // SAFETY: the processor has SSE2, as the program is compiled for it.
    unsafe { _mm_set_epi64x(second.cast_signed(), first.cast_signed()) }
}

#[inline(always)]
pub(super) fn each(words: Words) -> [u64; 2] {
    // SAFETY: as above.
    let each =
        unsafe { [_mm_cvtsi128_si64(words), _mm_cvtsi128_si64(_mm_unpackhi_epi64(words, words))] };
    each.map(i64::cast_unsigned)
}

/// Each shifted by its own number of bits.
#[inline(always)]
pub(super) fn shifted_down(words: [u64; 2], by: [u32; 2]) -> Words {
    let shifted = |word: u64, by: u32| {
        // SAFETY: as above.
        unsafe {
            let word = _mm_cvtsi64_si128(word.cast_signed());
            _mm_srl_epi64(word, _mm_cvtsi32_si128(by.cast_signed()))
        }
    };
    let [first, second] = [shifted(words[0], by[0]), shifted(words[1], by[1])];
    // SAFETY: as above.
    unsafe { _mm_unpacklo_epi64(first, second) }
}

#[inline(always)]
pub(super) fn and(a: Words, b: Words) -> Words {
    // SAFETY: as above.
    unsafe { _mm_and_si128(a, b) }
}

#[inline(always)]
pub(super) fn or(a: Words, b: Words) -> Words {
    // SAFETY: as above.
    unsafe { _mm_or_si128(a, b) }
}

#[inline(always)]
pub(super) fn xor(a: Words, b: Words) -> Words {
    // SAFETY: as above.
    unsafe { _mm_xor_si128(a, b) }
}

#[inline(always)]
pub(super) fn minus(a: Words, b: Words) -> Words {
    // SAFETY: as above.
    unsafe { _mm_sub_epi64(a, b) }
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
        let words =
            buckets.map(|bucket| unsafe { u64::read(bytes.add(index(bucket) + index(at[lane]))) });
        let difference = and(xor(of(words), of([lanes[lane]; 2])), of([masks[lane]; 2]));
        // Negative if the lane is not equal, because no mask has the highest bit. So is the upper
        // half of the word then.
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
