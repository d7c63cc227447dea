//! Little-endian words at any byte of a table, and fields at any bit.

use crate::addressing::index;

/// A machine integer that holds a whole bucket.
pub(crate) trait Word:
    Copy
    + Ord
    + core::ops::BitAnd<Output = Self>
    + core::ops::BitOr<Output = Self>
    + core::ops::BitXor<Output = Self>
    + core::ops::Not<Output = Self>
    + core::ops::Shl<u32, Output = Self>
    + core::ops::Shr<u32, Output = Self>
{
    const BITS: u32;
    const ZERO: Self;

    fn load(bytes: &[u8], at: usize) -> Self;
    /// # Safety
    ///
    /// `bytes` has a whole word from `at` on.
    unsafe fn load_unchecked(bytes: &[u8], at: usize) -> Self;
    /// # Safety
    ///
    /// A whole word can be read from `bytes` on.
    unsafe fn read(bytes: *const u8) -> Self;
    fn store(self, bytes: &mut [u8], at: usize);
    /// # Safety
    ///
    /// `bytes` has a whole word from `at` on.
    unsafe fn store_unchecked(self, bytes: &mut [u8], at: usize);
    fn from_u64(low: u64) -> Self;
    /// The low 64 bits.
    fn low(self) -> u64;
    fn wrapping_add(self, other: Self) -> Self;
    fn wrapping_sub(self, other: Self) -> Self;
    fn wrapping_mul(self, other: Self) -> Self;
    fn trailing_zeros(self) -> u32;
    fn count_ones(self) -> u32;

    /// The lowest `bits` bits set, for `bits` up to `Self::BITS`.
    #[inline(always)]
    fn ones(bits: u32) -> Self {
        if bits == 0 { Self::ZERO } else { !Self::ZERO >> (Self::BITS - bits) }
    }

    /// Nonzero if and only if some lane is 0; the lowest set bit is then the highest bit of the
    /// lowest such lane. `ones` has the lowest bit of each lane, `highs` the highest.
    #[inline(always)]
    fn has_zero_lane(self, ones: Self, highs: Self) -> Self {
        self.wrapping_sub(ones) & !self & highs
    }

    /// Whether some lane of one of the two is 0. The highest bit of `-x | x` says that a lane is
    /// not 0, in two instructions fewer than [`has_zero_lane`](Self::has_zero_lane) twice. `below`
    /// is the number that has the lowest bit of each lane, minus 1. A lane that is not 0 borrows
    /// from the next lane, and that lane's bit in `below` makes up for it. The lane after one that
    /// is 0 is therefore 1 too high, which does not matter, because a lane was found.
    #[inline(always)]
    fn either_has_zero_lane(self, other: Self, below: Self, highs: Self) -> bool {
        let nonzero = |word: Self| below.wrapping_sub(word) | word;
        !(nonzero(self) & nonzero(other)) & highs != Self::ZERO
    }

    /// The highest bit of each lane that is 0: unlike [`has_zero_lane`](Self::has_zero_lane), no
    /// borrow leaves a lane, so that each is judged by itself. `lows` has all other bits of each
    /// lane.
    #[inline(always)]
    fn zero_lanes(self, lows: Self, highs: Self) -> Self {
        !((self & lows).wrapping_add(lows) | self) & highs
    }
}

/// Methods of the integer itself.
macro_rules! word_methods {
    ($($name:ident($($other:ident)?)),* -> $result:ty) => {$(
        #[inline(always)]
        fn $name(self $(, $other: Self)?) -> $result {
            self.$name($($other)?)
        }
    )*};
}

macro_rules! word {
    ($type:ty) => {
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;
            const ZERO: Self = 0;

            #[inline(always)]
            fn load(bytes: &[u8], at: usize) -> Self {
                const SIZE: usize = size_of::<$type>();
                Self::from_le_bytes(*bytes[at..].first_chunk::<SIZE>().expect("tail bytes"))
            }
            #[inline(always)]
            unsafe fn load_unchecked(bytes: &[u8], at: usize) -> Self {
                const SIZE: usize = size_of::<$type>();
                debug_assert!(at + SIZE <= bytes.len());
                // SAFETY: the caller promises that the word lies in `bytes`.
                unsafe { Self::read(bytes.as_ptr().add(at)) }
            }
            #[inline(always)]
            unsafe fn read(bytes: *const u8) -> Self {
                // SAFETY: the caller promises that the word can be read; bytes are aligned.
                Self::from_le_bytes(unsafe { bytes.cast::<[u8; size_of::<$type>()]>().read() })
            }
            #[inline(always)]
            fn store(self, bytes: &mut [u8], at: usize) {
                const SIZE: usize = size_of::<$type>();
                *bytes[at..].first_chunk_mut::<SIZE>().expect("tail bytes") = self.to_le_bytes();
            }
            #[inline(always)]
            unsafe fn store_unchecked(self, bytes: &mut [u8], at: usize) {
                const SIZE: usize = size_of::<$type>();
                debug_assert!(at + SIZE <= bytes.len());
                // SAFETY: the caller promises that the word lies in `bytes`; bytes are aligned.
                unsafe { bytes.as_mut_ptr().add(at).cast::<[u8; SIZE]>().write(self.to_le_bytes()) }
            }
            #[inline(always)]
            fn from_u64(low: u64) -> Self {
                low.into()
            }
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::allow_attributes_without_reason)]
            fn low(self) -> u64 {
                self as u64
            }
            word_methods!(wrapping_add(other), wrapping_sub(other), wrapping_mul(other) -> Self);
            word_methods!(trailing_zeros(), count_ones() -> u32);
        }
    };
}
word!(u64);
word!(u128);

/// Lanes of equal width in a word, from the lowest bit on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneFormat<W> {
    /// Bits of a lane.
    pub(crate) bits: u32,
    pub(crate) number: u32,
    /// A 1 in every lane; times a fingerprint, the fingerprint in every lane.
    pub(crate) ones: W,
    /// The highest bit of every lane.
    pub(crate) highs: W,
    /// All bits of every lane.
    pub(crate) mask: W,
}

impl<W: Word> LaneFormat<W> {
    pub(crate) fn new(number: u32, bits: u32) -> Self {
        let one = |lane| W::from_u64(1) << (lane * bits);
        let ones = (0..number).fold(W::ZERO, |word, lane| word | one(lane));
        Self { bits, number, ones, highs: ones << (bits - 1), mask: W::ones(number * bits) }
    }

    /// The fingerprint in every lane.
    #[inline(always)]
    pub(crate) fn all(&self, fingerprint: u64) -> W {
        self.ones.wrapping_mul(W::from_u64(fingerprint))
    }

    /// Nonzero if and only if some lane holds `fingerprint`; the lowest set bit is then the
    /// highest bit of the lowest such lane.
    #[inline(always)]
    pub(crate) fn matches(&self, word: W, fingerprint: u64) -> W {
        (word ^ self.all(fingerprint)).has_zero_lane(self.ones, self.highs)
    }

    /// How many lanes hold `fingerprint`: unlike [`matches`](Self::matches), without borrows
    /// between lanes.
    #[inline]
    pub(crate) fn count(&self, word: W, fingerprint: u64) -> u32 {
        let difference = (word ^ self.all(fingerprint)) & self.mask;
        difference.zero_lanes(self.mask ^ self.highs, self.highs).count_ones()
    }

    /// The content of a lane.
    #[inline(always)]
    pub(crate) fn lane(&self, word: W, lane: u32) -> u64 {
        (word >> (lane * self.bits)).low() & self.lowest()
    }

    /// All bits of the lowest lane.
    #[inline(always)]
    pub(crate) fn lowest(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.bits)
    }

    /// The content of the occupied lanes.
    pub(crate) fn fingerprints(self, word: W) -> impl Iterator<Item = u64> {
        (0..self.number).map(move |lane| self.lane(word, lane)).filter(|&lane| lane != 0)
    }
}

/// The byte and the bit in it of bit `bit` of a segment that begins at byte `base`.
#[inline(always)]
pub(crate) fn split(base: usize, bit: u64) -> (usize, u32) {
    // & 7 fits everything.
    (base + index(bit >> 3), (bit & 7) as u32)
}

/// The word from bit `bit` on.
///
/// # Safety
///
/// `bytes` has a whole word from the byte of that bit on.
#[inline(always)]
pub(crate) unsafe fn load_at<W: Word>(bytes: &[u8], bit: u64) -> W {
    let (at, shift) = split(0, bit);
    // SAFETY: as the caller promises.
    unsafe { W::load_unchecked(bytes, at) >> shift }
}

/// `width` bits (1 to 64) at bit `bit` of the segment at byte `base`.
#[inline(always)]
pub(crate) fn read(bytes: &[u8], base: usize, bit: u64, width: u32) -> u64 {
    let (at, shift) = split(base, bit);
    if width <= 57 {
        (u64::load(bytes, at) >> shift) & u64::ones(width)
    } else {
        (u128::load(bytes, at) >> shift).low() & u64::ones(width)
    }
}

/// [`write`] where all bits are zero yet.
#[inline(always)]
pub(crate) fn fill(bytes: &mut [u8], base: usize, bit: u64, width: u32, value: u64) {
    let (at, shift) = split(base, bit);
    if width <= 57 {
        (u64::load(bytes, at) | (value << shift)).store(bytes, at);
    } else {
        (u128::load(bytes, at) | (u128::from(value) << shift)).store(bytes, at);
    }
}

/// Writes `width` bits (1 to 64) at bit `bit` of the segment at byte `base`.
#[inline(always)]
pub(crate) fn write(bytes: &mut [u8], base: usize, bit: u64, width: u32, value: u64) {
    let (at, shift) = split(base, bit);
    if width <= 57 {
        let rest = u64::load(bytes, at) & !(u64::ones(width) << shift);
        (rest | (value << shift)).store(bytes, at);
    } else {
        let rest = u128::load(bytes, at) & !(u128::ones(width) << shift);
        (rest | (u128::from(value) << shift)).store(bytes, at);
    }
}
