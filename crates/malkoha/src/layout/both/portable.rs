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

/// Which of the first words are 0, as bits, and which of the second.
#[inline(always)]
pub(super) fn zeros(four: [Words; 4]) -> [u32; 2] {
    [0, 1].map(|which| {
        let bit = |i: usize| u32::from(four[i][which] == 0) << i;
        bit(0) | bit(1) | bit(2) | bit(3)
    })
}
