//! Instructions of the processor: all `unsafe` of this crate.

/// Asks for the cache line of `items[at]`. A hint: it never faults and changes nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T], at: usize) {
    malkoha::prefetch_from(items.as_ptr().wrapping_add(at).cast(), 0);
}

/// A way to search for a set bit.
pub(crate) trait Select: Copy {
    /// The position in `word` of its set bit number `n`, counted from 0; if it has no more than
    /// `n` set bits, the error is how many it has.
    fn select(self, word: u64, n: u32) -> Result<u32, u32>;
}

/// By arithmetic.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

impl Select for Portable {
    #[inline(always)]
    fn select(self, word: u64, n: u32) -> Result<u32, u32> {
        select_portable(word, n)
    }
}

/// By instructions that the processor has: only [`detected`](Self::detected) makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitInstructions(());

impl BitInstructions {
    /// `Some` if the processor has POPCNT, BMI1 and BMI2: Intel's since 2013, AMD's since 2015.
    /// Tables keep it, because detecting three features would cost as much as a lookup.
    pub(crate) fn detected() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("popcnt")
        {
            return Some(Self(()));
        }
        None
    }
}

#[cfg(target_arch = "x86_64")]
impl Select for BitInstructions {
    #[inline(always)]
    fn select(self, word: u64, n: u32) -> Result<u32, u32> {
        let only = 1_u64.checked_shl(n).unwrap_or(0);
        // SAFETY: a value of this type exists only if the processor has BMI2.
        let bit = unsafe { std::arch::x86_64::_pdep_u64(only, word) }.trailing_zeros();
        if bit < 64 { Ok(bit) } else { Err(word.count_ones()) }
    }
}

/// Methods that are compiled twice: for processors with bit instructions, and for all others. Each
/// line has the method's name, the name of the form with bit instructions, and the method that does
/// the work, which takes a [`Select`] before its other arguments.
macro_rules! by_bit_instructions {
    ($type:ident { $(
        $(#[$doc:meta])*
        fn $name:ident, $fast:ident, $by:ident(
            $receiver:ty $(, $argument:ident: $of:ty)*
        ) -> $result:ty;
    )* }) => {
        impl $type { $(
            $(#[$doc])*
            #[inline]
            pub(super) fn $name(self: $receiver, $($argument: $of),*) -> $result {
                #[cfg(target_arch = "x86_64")]
                if let Some(bits) = self.bit_instructions {
                    // SAFETY: there is a value of this type only if the processor has them.
                    return unsafe { self.$fast(bits, $($argument),*) };
                }
                self.$by($crate::arch::Portable, $($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "popcnt,bmi1,bmi2")]
            fn $fast(
                self: $receiver,
                bits: $crate::arch::BitInstructions,
                $($argument: $of),*
            ) -> $result {
                self.$by(bits, $($argument),*)
            }
        )* }
    };
}
pub(crate) use by_bit_instructions;

/// The lowest bit of each byte.
const BYTES: u64 = 0x0101_0101_0101_0101;

/// Counts bits up to each byte, then up to each bit of the byte.
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

/// The number of set bits in each group of four bits.
#[inline(always)]
const fn fours(word: u64) -> u64 {
    let pairs = word - (word >> 1 & 0x5555_5555_5555_5555);
    (pairs & 0x3333_3333_3333_3333) + (pairs >> 2 & 0x3333_3333_3333_3333)
}
