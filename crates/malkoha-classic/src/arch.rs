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

/// The position in `word` of its set bit number `n`, counted from 0. There is such a bit.
#[inline(always)]
pub(crate) fn select(word: u64, n: u32) -> u32 {
    #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
    {
        // SAFETY: compiled only into programs for processors that have BMI2.
        unsafe { std::arch::x86_64::_pdep_u64(1 << n, word) }.trailing_zeros()
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "bmi2")))]
    {
        select_portable(word, n)
    }
}

/// [`select`] by arithmetic: how many bits are set in the bytes up to each byte, then bit by bit.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "bmi2"))))]
#[inline(always)]
fn select_portable(word: u64, n: u32) -> u32 {
    const BYTES: u64 = 0x0101_0101_0101_0101;
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    let fours = (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333);
    let up_to = ((fours + (fours >> 4)) & 0x0f0f_0f0f_0f0f_0f0f).wrapping_mul(BYTES);
    // The high bit of each byte that has at most n set bits up to and with itself.
    let high = BYTES << 7;
    let below = (((u64::from(n) * BYTES) | high) - up_to) & high;
    let byte = below.count_ones() * 8;
    let before = (up_to << 8 >> byte & 0xff) as u32;
    let mut rest = word >> byte;
    for _ in before..n {
        rest &= rest - 1;
    }
    byte + rest.trailing_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn select_finds_the_nth_set_bit(word: u64, n in 0_u32..64) {
            prop_assume!(n < word.count_ones());
            let slow = (0..64).filter(|&bit| word >> bit & 1 != 0).nth(n as usize).unwrap();
            prop_assert_eq!(select(word, n), slow);
            prop_assert_eq!(select_portable(word, n), slow);
        }
    }
}
