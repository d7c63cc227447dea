//! The two words that a lookup loads, compared together.
//!
//! What waits for memory waits in the schedulers of a processor, and once these are full, it begins
//! no further lookup of a loop. Vector units have schedulers of their own. So a lookup that comes
//! alone compares its words in a vector register, and the schedulers of the integer units are left
//! to the hashes of the lookups behind it. Only x86-64 is compiled so, and only without AVX2, with
//! which the compiler vectorises the loop as a whole. The lanes of maps, where it does not, are
//! compared so in batches too.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))]
mod sse2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))]
use sse2 as words;

#[cfg(any(
    test,
    not(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))
))]
mod portable;
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "sse2",
    not(target_feature = "avx2")
)))]
use portable as words;

use core::ops::{BitAnd, BitOr, BitXor, Not};

use crate::layout::bits::{Word, index, load_at, split};

/// Two words. Each operation treats both alike.
#[derive(Clone, Copy)]
pub(crate) struct Both(words::Words);

impl Both {
    /// Those that begin at two bits, or at two bytes if `WHOLE_BYTES`.
    ///
    /// # Safety
    ///
    /// 8 bytes can be read from each byte on in which one begins.
    #[inline(always)]
    pub(crate) unsafe fn read<const WHOLE_BYTES: bool>(bytes: *const u8, starts: [u64; 2]) -> Self {
        let at = starts.map(|start| if WHOLE_BYTES { (index(start), 0) } else { split(0, start) });
        // SAFETY: as the caller promises.
        let words = at.map(|(at, _)| unsafe { u64::read(bytes.add(at)) });
        if WHOLE_BYTES {
            return Self::of(words);
        }
        Self(words::shifted_down(words, at.map(|(_, shift)| shift)))
    }

    #[inline(always)]
    pub(crate) fn of(words: [u64; 2]) -> Self {
        Self(words::of(words))
    }

    /// Both this one.
    #[inline(always)]
    pub(crate) fn all(word: u64) -> Self {
        Self::of([word; 2])
    }

    /// The difference of each two words.
    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self(words::minus(self.0, other.0))
    }

    /// Whether one of the words has a lane equal to that of `wanted`. `below` and `highs` are those
    /// of [`Word::either_has_zero_lane`], which does the same word by word.
    #[inline(always)]
    pub(crate) fn have_lane(self, wanted: u64, [below, highs]: [u64; 2]) -> bool {
        let difference = self ^ Self::all(wanted);
        let nonzero = Self::all(below).minus(difference) | difference;
        (!nonzero).either() & highs != 0
    }

    /// The bits that one of the words has.
    #[inline(always)]
    pub(crate) fn either(self) -> u64 {
        let [first, second] = words::each(self.0);
        first | second
    }
}

impl BitAnd for Both {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(words::and(self.0, other.0))
    }
}

impl BitOr for Both {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(words::or(self.0, other.0))
    }
}

impl BitXor for Both {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(words::xor(self.0, other.0))
    }
}

impl Not for Both {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self ^ Self::all(u64::MAX)
    }
}

/// What to look for in the four lanes of a bucket. Lane number `i` lies in the word that begins
/// `at[i]` bytes after the bucket's first byte, under `masks[i]`. No mask has the highest bit.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) at: [u64; 4],
    pub(super) masks: [u64; 4],
    pub(super) lanes: [u64; 4],
}

/// Which lanes of each of two buckets, which begin at these bytes, are the wanted ones, as bits.
///
/// # Safety
///
/// `bytes` has a whole word from each byte on in which the word of a lane begins.
#[inline(always)]
pub(super) unsafe fn equal_lanes(bytes: &[u8], buckets: [u64; 2], wanted: &Wanted) -> [u32; 2] {
    debug_assert!(buckets.iter().all(|bucket| {
        wanted.at.iter().all(|at| index(bucket + at) + size_of::<u64>() <= bytes.len())
    }));
    // SAFETY: as the caller promises.
    unsafe { words::equal_lanes(bytes.as_ptr(), buckets, wanted) }
}

/// [`Both::have_lane`] of words in a table, which begin where those of [`Both::read`] do, for words
/// of any width. `ALONE` says that no loop over lookups is to be vectorised.
///
/// # Safety
///
/// `bytes` has a whole word from each byte on in which one begins.
#[inline(always)]
pub(super) unsafe fn have_lane<W: Word, const WHOLE_BYTES: bool, const ALONE: bool>(
    bytes: &[u8],
    starts: [u64; 2],
    wanted: W,
    [below, highs]: [W; 2],
) -> bool {
    if ALONE && W::BITS == u64::BITS {
        debug_assert!(starts.iter().all(|&start| {
            index(if WHOLE_BYTES { start } else { start >> 3 }) + size_of::<u64>() <= bytes.len()
        }));
        // SAFETY: as the caller promises.
        let words = unsafe { Both::read::<WHOLE_BYTES>(bytes.as_ptr(), starts) };
        return words.have_lane(wanted.low(), [below.low(), highs.low()]);
    }
    // SAFETY: as the caller promises.
    let [first, second]: [W; 2] = starts.map(|start| unsafe {
        if WHOLE_BYTES { W::load_unchecked(bytes, index(start)) } else { load_at(bytes, start) }
    });
    // Both words always: a branch between them would be mispredicted half the time.
    (first ^ wanted).either_has_zero_lane(second ^ wanted, below, highs)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against words one by one.
        #[test]
        fn both_words_are_treated_alike(
            bytes: [u8; 24], starts in [0_u64..=128, 0_u64..=128], a: [u64; 2], b: [u64; 2]
        ) {
            // SAFETY: 8 bytes from byte 16 on at most, of 24.
            let read = unsafe { Both::read::<false>(bytes.as_ptr(), starts) };
            // SAFETY: as above.
            let words = starts.map(|start| unsafe { load_at::<u64>(&bytes, start) });
            prop_assert_eq!(words::each(read.0), words);
            let whole = starts.map(|start| start >> 3);
            // SAFETY: as above.
            let read = unsafe { Both::read::<true>(bytes.as_ptr(), whole) };
            // SAFETY: as above.
            let words = whole.map(|start| unsafe { load_at::<u64>(&bytes, start << 3) });
            prop_assert_eq!(words::each(read.0), words);
            let [x, y] = [a, b].map(Both::of);
            let each = |of: fn(u64, u64) -> u64| [of(a[0], b[0]), of(a[1], b[1])];
            prop_assert_eq!(words::each((x & y).0), each(|a, b| a & b));
            prop_assert_eq!(words::each((x | y).0), each(|a, b| a | b));
            prop_assert_eq!(words::each((x ^ y).0), each(|a, b| a ^ b));
            prop_assert_eq!(words::each((!x).0), a.map(|word| !word));
            prop_assert_eq!(words::each(x.minus(y).0), each(u64::wrapping_sub));
            prop_assert_eq!(x.either(), a[0] | a[1]);
            let by = starts.map(|start| u32::try_from(start).unwrap() & 63);
            prop_assert_eq!(words::each(words::shifted_down(a, by)), portable::shifted_down(a, by));
            let [x, y] = [a, b].map(portable::of);
            prop_assert_eq!(portable::each(x), a);
            prop_assert_eq!(portable::and(x, y), each(|a, b| a & b));
            prop_assert_eq!(portable::or(x, y), each(|a, b| a | b));
            prop_assert_eq!(portable::xor(x, y), each(|a, b| a ^ b));
            prop_assert_eq!(portable::minus(x, y), each(u64::wrapping_sub));
        }

        #[test]
        fn lanes_are_found(
            words: [u64; 2], bits in 4_u32..=32, which in 0..2_usize, pick: u32, other: u64
        ) {
            let lanes = 64 / bits;
            let ones = (0..lanes).fold(0, |ones, lane| ones | 1 << (lane * bits));
            let lane = |word: u64, lane: u32| word >> (lane * bits) & u64::ones(bits);
            let picked = lane(words[which], pick % lanes);
            for wanted in [picked, other & u64::ones(bits)] {
                let is_there =
                    words.iter().any(|&word| (0..lanes).any(|i| lane(word, i) == wanted));
                let found = Both::of(words)
                    .have_lane(ones.wrapping_mul(wanted), [ones - 1, ones << (bits - 1)]);
                prop_assert_eq!(found, is_there, "{} bits", bits);
            }
        }

        /// Lanes that are equal are as frequent as others.
        #[test]
        fn lanes_are_equal(
            bytes: [u8; 64], buckets in [0..24_u64, 0..24_u64], bits in 4_u32..=32,
            step in 1..9_u64, same: [[bool; 4]; 2], other: u64
        ) {
            let at = [0, 1, 2, 3].map(|lane| lane * step);
            let masks = [0, 2, 4, 6].map(|shift| u64::ones(bits) << shift);
            // SAFETY: 8 bytes from byte 23 + 24 on at most, of 64.
            let load = |bucket: u64, lane: u64| unsafe {
                u64::load_unchecked(&bytes, index(bucket + lane))
            };
            let lanes: [u64; 4] = std::array::from_fn(|i| {
                let there = load(buckets[usize::from(same[1][i])], at[i]);
                if same[0][i] { there & masks[i] } else { other & masks[i] }
            });
            let expected = buckets.map(|bucket| (0..4).fold(0, |found, i| {
                found | u32::from(load(bucket, at[i]) & masks[i] == lanes[i]) << i
            }));
            let wanted = Wanted { at, masks, lanes };
            // SAFETY: as above.
            let found = unsafe { equal_lanes(&bytes, buckets, &wanted) };
            prop_assert_eq!(found, expected);
            // SAFETY: as above.
            let found = unsafe { portable::equal_lanes(bytes.as_ptr(), buckets, &wanted) };
            prop_assert_eq!(found, expected);
        }
    }
}
