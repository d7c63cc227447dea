//! The loops of the limit: positions from the key by one multiplication each, so that the loads
//! and not the arithmetic are measured.

use super::Issue;
use crate::keys::scale;

/// Words of a 64-byte line.
pub(super) const LINE_WORDS: usize = 8;
/// Lines of a segment of 384 KiB: 2^18 slots of 12 bits.
const SEGMENT_LINES: usize = 6144;
const LARGEST_BATCH: usize = 512;

/// Positions of the words that a key's step loads, each below the table's length.
pub(super) trait Positions<const N: usize>: Fn(u64) -> [usize; N] + Copy {}
impl<const N: usize, T: Fn(u64) -> [usize; N] + Copy> Positions<N> for T {}

#[inline(always)]
fn word_of(random: u64, lines: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "below `lines`, a usize")]
    let line = scale(random, lines as u64) as usize;
    line * LINE_WORDS
}

pub(super) fn two(words: &[u64]) -> impl Positions<2> + use<> {
    let lines = words.len() / LINE_WORDS;
    // The two halves of a random key are independent of each other.
    move |key| [word_of(key, lines), word_of(key.rotate_left(32), lines)]
}

pub(super) fn near(words: &[u64]) -> impl Positions<2> + use<> {
    let lines = words.len() / LINE_WORDS;
    let segments = lines.div_ceil(SEGMENT_LINES);
    // Equal segments that cover the table except a rest of fewer lines than there are segments.
    let segment_lines = lines / segments;
    move |key| {
        #[expect(clippy::cast_possible_truncation, reason = "below `segments`, a usize")]
        let base = scale(key, segments as u64) as usize * segment_lines * LINE_WORDS;
        // Bits 63 to 52 choose the segment of a table of up to 750 MB; these are others.
        let (first, second) = (key << 14, key << 38);
        [base + word_of(first, segment_lines), base + word_of(second, segment_lines)]
    }
}

#[inline(always)]
fn load<const N: usize>(words: &[u64], positions: [usize; N]) -> u64 {
    positions.iter().fold(0, |sum: u64, &position| {
        debug_assert!(position < words.len());
        // SAFETY: `Positions` are below the table's length: `scale` is below its range, so a line
        // is below the number of lines, and a segment ends where or before the table ends.
        sum.wrapping_add(unsafe { *words.get_unchecked(position) })
    })
}

#[inline(always)]
fn prefetch<const N: usize>(words: &[u64], positions: [usize; N]) {
    for position in positions {
        let address = words.as_ptr().wrapping_add(position);
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch dereferences nothing, and SSE is part of x86-64.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
        }
        #[cfg(target_arch = "aarch64")]
        {
            // SAFETY: PRFM dereferences nothing and changes no register, flag or memory.
            unsafe {
                std::arch::asm!(
                    "prfm pldl1keep, [{address}]",
                    address = in(reg) address,
                    options(nostack, preserves_flags, readonly)
                );
            }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = address;
    }
}

/// Issues the loads of all keys in the requested way.
#[inline(always)]
pub(super) fn run<const N: usize>(
    words: &[u64],
    issue: Issue,
    keys: &[u64],
    at: impl Positions<N>,
) -> u64 {
    match issue {
        Issue::Loop => in_order(words, keys, at),
        Issue::Batch(size) => in_batches(words, keys, size, at),
        Issue::Ring(distance) => in_a_ring(words, keys, distance, at),
    }
}

#[inline(never)]
fn in_order<const N: usize>(words: &[u64], keys: &[u64], at: impl Positions<N>) -> u64 {
    keys.iter().fold(0, |sum: u64, &key| sum.wrapping_add(load(words, at(key))))
}

#[inline(never)]
fn in_batches<const N: usize>(
    words: &[u64],
    keys: &[u64],
    size: usize,
    at: impl Positions<N>,
) -> u64 {
    let mut positions = [[0; N]; LARGEST_BATCH];
    let positions = &mut positions[..size];
    let mut sum = 0_u64;
    for batch in keys.chunks(size) {
        for (position, &key) in positions.iter_mut().zip(batch) {
            *position = at(key);
            prefetch(words, *position);
        }
        for &position in &positions[..batch.len()] {
            sum = sum.wrapping_add(load(words, position));
        }
    }
    sum
}

#[inline(never)]
fn in_a_ring<const N: usize>(
    words: &[u64],
    keys: &[u64],
    distance: usize,
    at: impl Positions<N>,
) -> u64 {
    let ahead = keys.get(distance..).unwrap_or(&[]);
    for &key in keys.iter().take(distance) {
        prefetch(words, at(key));
    }
    let mut sum = 0_u64;
    for (&key, &later) in keys.iter().zip(ahead) {
        prefetch(words, at(later));
        sum = sum.wrapping_add(load(words, at(key)));
    }
    keys[ahead.len()..].iter().fold(sum, |sum, &key| sum.wrapping_add(load(words, at(key))))
}
