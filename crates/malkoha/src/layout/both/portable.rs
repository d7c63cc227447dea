//! Two words, each by itself.

pub(super) type Words = [u64; 2];

#[inline(always)]
fn zip(a: Words, b: Words, of: impl Fn(u64, u64) -> u64) -> Words {
    [of(a[0], b[0]), of(a[1], b[1])]
}

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

#[inline(always)]
pub(super) fn and(a: Words, b: Words) -> Words {
    zip(a, b, |a, b| a & b)
}

#[inline(always)]
pub(super) fn or(a: Words, b: Words) -> Words {
    zip(a, b, |a, b| a | b)
}

#[inline(always)]
pub(super) fn xor(a: Words, b: Words) -> Words {
    zip(a, b, |a, b| a ^ b)
}

#[inline(always)]
pub(super) fn minus(a: Words, b: Words) -> Words {
    zip(a, b, u64::wrapping_sub)
}

/// Bit 4 i + 1 where the first word of number i is 0, bit 4 i + 3 where the second is.
#[inline(always)]
pub(super) fn zeros(four: [Words; 4]) -> u32 {
    let bits = |words: Words| u32::from(words[0] == 0) << 1 | u32::from(words[1] == 0) << 3;
    bits(four[0]) | bits(four[1]) << 4 | bits(four[2]) << 8 | bits(four[3]) << 12
}
