//! Two words, each by itself.

use super::Wanted;
use crate::layout::bits::{Word, index};

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
