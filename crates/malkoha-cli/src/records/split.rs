//! Cutting bytes into lines.

use anyhow::Result;
use memchr::memchr_iter;

/// Lines that are looked up together. Enough to keep many cache misses in flight, few enough that
/// the lines themselves stay in the fastest caches.
pub(crate) const BATCH: usize = 1024;

/// Passes on the lines of `bytes`, without terminators, in batches of at most [`BATCH`].
///
/// A last line without a terminator is a line; an empty line is one too.
pub(crate) fn split<'a>(
    bytes: &'a [u8],
    separator: u8,
    mut each: impl FnMut(&[&'a [u8]]) -> Result<()>,
) -> Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    let mut start = 0;
    for_each_end(bytes, separator, |end| {
        batch.push(&bytes[start..end]);
        start = end + 1;
        if batch.len() == BATCH {
            each(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    if start < bytes.len() {
        batch.push(&bytes[start..]);
    }
    if batch.is_empty() { Ok(()) } else { each(&batch) }
}

/// Calls `each` with where separators are.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn for_each_end(
    bytes: &[u8],
    separator: u8,
    mut each: impl FnMut(usize) -> Result<()>,
) -> Result<()> {
    // Lines are short, so finding many ends at once is faster than one after the other.
    let (chunks, rest) = bytes.as_chunks::<64>();
    for (number, chunk) in chunks.iter().enumerate() {
        let mut ends = places(chunk, separator);
        while ends != 0 {
            each(64 * number + ends.trailing_zeros() as usize)?;
            ends &= ends - 1;
        }
    }
    let before = bytes.len() - rest.len();
    memchr_iter(separator, rest).try_for_each(|end| each(before + end))
}

#[cfg(not(target_arch = "x86_64"))]
fn for_each_end(bytes: &[u8], separator: u8, each: impl FnMut(usize) -> Result<()>) -> Result<()> {
    memchr_iter(separator, bytes).try_for_each(each)
}

/// A bit for each byte that is this one.
#[inline(always)]
pub(super) fn places(chunk: &[u8; 64], byte: u8) -> u64 {
    // SAFETY: every x86-64 has SSE2.
    #[cfg(target_arch = "x86_64")]
    return unsafe { places_sse2(chunk, byte) };
    #[cfg(not(target_arch = "x86_64"))]
    chunk.iter().rev().fold(0, |bits, &it| bits << 1 | u64::from(it == byte))
}

/// How many of the first `len` bytes of a text are this one. It is fastest where more bytes follow.
#[inline(always)]
pub(super) fn count(text: &[u8], len: usize, byte: u8) -> usize {
    let (mut count, mut rest, mut left) = (0, text, len);
    while let Some((chunk, more)) = rest.split_first_chunk() {
        let found = places(chunk, byte);
        if left < 64 {
            return count + (found & !(u64::MAX << left)).count_ones() as usize;
        }
        count += found.count_ones() as usize;
        (rest, left) = (more, left - 64);
    }
    count + rest[..left].iter().filter(|&&it| it == byte).count()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn places_sse2(chunk: &[u8; 64], byte: u8) -> u64 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};

    let (words, _) = chunk.as_chunks::<8>();
    let word = |i: usize| i64::from_le_bytes(words[i]);
    let wanted = _mm_set1_epi8(byte.cast_signed());
    let of_quarter = |i: usize| {
        let quarter = _mm_set_epi64x(word(2 * i + 1), word(2 * i));
        let mask = _mm_movemask_epi8(_mm_cmpeq_epi8(quarter, wanted));
        u64::from(mask.cast_unsigned()) << (16 * i)
    };
    of_quarter(0) | of_quarter(1) | of_quarter(2) | of_quarter(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<&[u8]> {
        let mut lines = Vec::new();
        split(bytes, b'\n', |batch| {
            lines.extend_from_slice(batch);
            Ok(())
        })
        .unwrap();
        lines
    }

    /// Separators at every distance, wherever those that are looked for at once end.
    #[test]
    fn lines_of_any_length() {
        for len in 0..200 {
            let text = [vec![b'x'; len], vec![b'\n'], vec![0x8a; 199 - len], b"\n\nx".to_vec()];
            let expected = [&text[0][..], &text[2], b"", b"x"];
            assert_eq!(lines(&text.concat()), expected);
        }
    }

    #[test]
    fn bytes_are_counted_up_to_any_length() {
        let text: Vec<u8> = (0..200).map(|at| b"x,,y,"[at * at % 5]).collect();
        for (from, len) in (0..200).flat_map(|from| (0..=200 - from).map(move |len| (from, len))) {
            let expected = text[from..from + len].iter().filter(|&&byte| byte == b',').count();
            assert_eq!(count(&text[from..], len, b','), expected);
        }
    }
}
