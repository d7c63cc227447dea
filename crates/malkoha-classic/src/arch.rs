//! What only the processor can do: all `unsafe` of this crate.

/// Asks for the cache line of `items[at]`. A hint: it never faults and changes nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    let address = items.as_ptr().wrapping_add(at);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch dereferences nothing; the architecture allows any address, and SSE,
        // which has the instruction, is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    {
        // SAFETY: PRFM dereferences nothing, may be given any address, and changes no register,
        // flag or memory.
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

/// The position in `word` of its set bit number `n`, counted from 0; if it has no more than `n`, how
/// many it has.
#[inline(always)]
pub(crate) fn select(word: u64, n: u32) -> Result<u32, u32> {
    #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
    {
        let ones = word.count_ones();
        // SAFETY: compiled only into programs for processors that have BMI2.
        let bit = |n| unsafe { std::arch::x86_64::_pdep_u64(1 << n, word) }.trailing_zeros();
        if n < ones { Ok(bit(n)) } else { Err(ones) }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "bmi2")))]
    {
        select_portable(word, n)
    }
}

/// The lowest bit of each byte.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// [`select`] by arithmetic: bits counted up to each byte, then up to each bit of the byte.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "bmi2"))))]
#[inline(always)]
fn select_portable(word: u64, n: u32) -> Result<u32, u32> {
    let fours = fours(word);
    let up_to = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(BYTES);
    let ones = (up_to >> 56) as u32;
    if n >= ones {
        return Err(ones);
    }
    let byte = not_above(up_to, n) * 8;
    let before = (up_to << 8 >> byte & 0xff) as u32;
    // Bit i of the byte, alone in byte i: 0 or above, then 0 or 1.
    let spread = (word >> byte & 0xff).wrapping_mul(BYTES) & 0x8040_2010_0804_0201;
    let bits = (spread + 0x7f * BYTES) >> 7 & BYTES;
    Ok(byte + not_above(bits.wrapping_mul(BYTES), n - before))
}

/// How many of the eight bytes (each below 128) are not above `n` (below 128).
#[inline(always)]
const fn not_above(bytes: u64, n: u32) -> u32 {
    let high = BYTES << 7;
    let not_above = (((n as u64 * BYTES) | high) - bytes) & high;
    ((not_above >> 7).wrapping_mul(BYTES) >> 56) as u32
}

/// Set bits of each four.
#[inline(always)]
const fn fours(word: u64) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333)
}

/// Set bits of two words together: without an instruction for it, cheaper than of each.
#[inline(always)]
pub(crate) const fn count_both(one: u64, other: u64) -> u32 {
    if cfg!(any(target_arch = "aarch64", target_feature = "popcnt")) {
        return one.count_ones() + other.count_ones();
    }
    let fours = fours(one) + fours(other);
    let bytes = (fours & 0x0f0f_0f0f_0f0f_0f0f) + (fours >> 4 & 0x0f0f_0f0f_0f0f_0f0f);
    // 128 at most.
    (bytes.wrapping_mul(BYTES) >> 56) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn select_finds_the_nth_set_bit(word: u64, sparse: u64, n in 0_u32..64) {
            for word in [word, word & sparse, word | sparse] {
                let slow = (0..64).filter(|&bit| word >> bit & 1 != 0).nth(n as usize);
                let slow = slow.ok_or(word.count_ones());
                prop_assert_eq!(select(word, n), slow);
                prop_assert_eq!(select_portable(word, n), slow);
            }
        }

        #[test]
        fn bits_of_two_words(one: u64, other: u64) {
            prop_assert_eq!(count_both(one, other), one.count_ones() + other.count_ones());
            prop_assert_eq!(count_both(u64::MAX, u64::MAX), 128);
        }
    }
}
