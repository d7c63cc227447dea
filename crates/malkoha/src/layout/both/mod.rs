//! The two words that a lookup loads, compared together.
//!
//! What waits for memory waits in the schedulers of a processor, and once these are full, it begins
//! no further lookup of a loop. Vector units have schedulers of their own. So a lookup that comes
//! alone compares its words in a vector register, and the schedulers of the integer units are left
//! to the hashes of the lookups behind it. Only x86-64 is compiled so, and only without AVX2, with
//! which the compiler vectorises the loop as a whole.

#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))]
mod sse2;
#[cfg(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2")))]
use sse2 as words;

#[cfg(not(all(target_arch = "x86_64", target_feature = "sse2", not(target_feature = "avx2"))))]
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
        if WHOLE_BYTES {
            // SAFETY: as the caller promises.
            return Self(words::of(
                starts.map(|start| unsafe { u64::read(bytes.add(index(start))) }),
            ));
        }
        let at = starts.map(|start| split(0, start));
        // SAFETY: as the caller promises.
        let loaded = at.map(|(at, _)| unsafe { u64::read(bytes.add(at)) });
        Self(words::shifted_down(loaded, at.map(|(_, shift)| shift)))
    }

    /// Both this one.
    #[inline(always)]
    pub(crate) fn all(word: u64) -> Self {
        Self(words::of([word; 2]))
    }

    /// The difference of each two words.
    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        Self(words::minus(self.0, other.0))
    }

    /// Which of the first words of four are 0, as bits, and which of the second. None has its
    /// highest bit set.
    #[inline(always)]
    pub(crate) fn zeros(four: [Self; 4]) -> [u32; 2] {
        let zeros = words::zeros(four.map(|both| both.0));
        if zeros == 0 {
            return [0; 2];
        }
        [1, 3].map(|at| {
            // Bit 4 i becomes bit i.
            ((((zeros >> at) & 0x1111) * 0x1248) >> 12) & 15
        })
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

/// Whether one of two words has a lane equal to that of `wanted`. `below` is one less than the
/// lowest bit of each lane, `highs` the highest. The words begin where those of [`Both::read`] do.
/// `ALONE` says that no loop over lookups is to be vectorised.
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
        // SAFETY: as the caller promises.
        let words = unsafe { Both::read::<WHOLE_BYTES>(bytes.as_ptr(), starts) };
        let difference = words ^ Both::all(wanted.low());
        // As in `either_has_zero_lane`.
        let nonzero = Both::all(below.low()).minus(difference) | difference;
        return (!nonzero).either() & highs.low() != 0;
    }
    // SAFETY: as the caller promises.
    let [first, second]: [W; 2] = starts.map(|start| unsafe {
        if WHOLE_BYTES { W::load_unchecked(bytes, index(start)) } else { load_at(bytes, start) }
    });
    // Both words always: a branch between them would be mispredicted half the time.
    (first ^ wanted).either_has_zero_lane(second ^ wanted, below, highs)
}
