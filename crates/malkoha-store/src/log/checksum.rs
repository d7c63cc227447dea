//! CRC-32C of records. Most are short, and for these, setting up the crate's three streams would
//! cost more than the sum itself. All `unsafe` of the log is here.

/// The checksum of `bytes`, continued from earlier bytes whose checksum is `seed`.
#[inline(always)]
pub(super) fn checksum(seed: u32, bytes: &[u8]) -> u32 {
    /// From this length on, three parallel streams are faster.
    #[cfg(target_arch = "x86_64")]
    const LONG: usize = 512;
    #[cfg(target_arch = "x86_64")]
    if bytes.len() < LONG && is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instructions.
        return unsafe { short(seed, bytes) };
    }
    crc32c::crc32c_append(seed, bytes)
}

/// Four bytes, then words: a record's sum begins in the middle of its first word.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn short(seed: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};
    let (first, rest) = bytes.split_first_chunk().unwrap_or((&[0; 4], bytes));
    let begun = if rest.len() == bytes.len() {
        !seed
    } else {
        _mm_crc32_u32(!seed, u32::from_le_bytes(*first))
    };
    // Lines without a branch between their words.
    let (lines, rest) = rest.as_chunks::<64>();
    let (words, rest) = rest.as_chunks::<8>();
    let add = |sum, word: &[u8; 8]| _mm_crc32_u64(sum, u64::from_le_bytes(*word));
    let sum = lines.iter().fold(u64::from(begun), |sum, line| {
        let (words, _) = line.as_chunks::<8>();
        words.iter().fold(sum, add)
    });
    let sum = words.iter().fold(sum, add);
    // The instruction leaves the high half zero.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let sum = rest.iter().fold(sum as u32, |sum, &byte| _mm_crc32_u8(sum, byte));
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_crate_at_every_length() {
        let bytes: Vec<u8> =
            (0..600_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
        for seed in [0, 1, 0xdead_beef, u32::MAX] {
            for end in 0..bytes.len() {
                let bytes = &bytes[end / 3..end];
                assert_eq!(checksum(seed, bytes), crc32c::crc32c_append(seed, bytes), "{end}");
            }
        }
    }
}
