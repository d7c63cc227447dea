//! The four lanes of a bucket of growing tables, in one word of 64 bits, or in two that have two
//! lanes each.
//!
//! Two words, not one of 128 bits: a processor shifts, multiplies and compares 64 bits at a time,
//! and its vector units know no more.

use core::ops::{BitAnd, BitOr, BitXor, Not};

use crate::addressing::index;
use crate::layout::bits::{Word, split, write};

/// Lanes of a bucket: its slots.
pub(crate) const SLOTS: u32 = 4;
/// Bits that a load of 64 has from any half byte on.
const LOADED: u32 = u64::BITS - 4;

/// Words of lanes. Each operation treats words and lanes alike, and no bit goes from one word to
/// another.
pub(crate) trait LaneWords:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Each word this one.
    fn all(word: u64) -> Self;
    /// The difference of each two words.
    fn minus(self, other: Self) -> Self;
}

/// Words in registers of their own, which hold the lanes of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FourLanes<const N: usize>(pub(crate) [u64; N]);

impl<const N: usize> FourLanes<N> {
    pub(crate) const ZERO: Self = Self([0; N]);
    /// Lanes of a word.
    pub(crate) const LANES: u32 = if N == 1 { SLOTS } else { SLOTS / 2 };

    /// The bit at which word number `i` of a bucket begins.
    #[inline(always)]
    pub(super) fn bit(bucket: u64, i: usize, width: u32) -> u64 {
        bucket + i as u64 * u64::from(Self::LANES * width)
    }

    /// Whether the lanes of each word lie in 8 bytes. Buckets begin at any half byte.
    #[inline(always)]
    pub(crate) fn are_short(width: u32) -> bool {
        // A bucket has one word only where it fits one. The second of two begins at an even bit, so
        // up to 58 bits fit too, and 60 bits begin at a half byte again.
        N == 1 || Self::LANES * width <= LOADED
    }

    /// The bucket that begins at this bit, with lanes of `width` bits.
    #[inline(always)]
    pub(crate) fn load(bytes: &[u8], bit: u64, width: u32) -> Self {
        let from = |i| split(0, Self::bit(bit, i, width));
        let short = |(at, by): (usize, u32)| <u64 as Word>::load(bytes, at) >> by;
        let long = |(at, by): (usize, u32)| (u128::load(bytes, at) >> by).low();
        let mut words = [0; N];
        if Self::are_short(width) {
            (0..N).for_each(|i| words[i] = short(from(i)));
        } else {
            (0..N).for_each(|i| words[i] = long(from(i)));
        }
        Self(words)
    }

    /// [`load`](Self::load) from memory, for a loop that knows whether they
    /// [are short](Self::are_short).
    ///
    /// # Safety
    ///
    /// 8 bytes can be read from the byte on in which each word begins, and 16 unless they are
    /// short.
    #[inline(always)]
    pub(crate) unsafe fn read<const SHORT: bool>(bytes: *const u8, bit: u64, width: u32) -> Self {
        let mut words = [0; N];
        for (i, word) in words.iter_mut().enumerate() {
            let bit = Self::bit(bit, i, width);
            // SAFETY: as the caller promises.
            *word =
                unsafe { if SHORT { read(bytes, bit) } else { read::<u128>(bytes, bit).low() } };
        }
        Self(words)
    }

    /// The sum of each two words.
    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    /// The product of each word and a number.
    #[inline(always)]
    pub(crate) fn times(self, number: u64) -> Self {
        self.each(|word| word.wrapping_mul(number))
    }

    /// Each word shifted by `bits`, towards its first lane.
    #[inline(always)]
    pub(crate) fn shifted_down(self, bits: u32) -> Self {
        self.each(|word| word >> bits)
    }

    #[inline(always)]
    pub(crate) fn count_ones(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The content of a lane, and arbitrary bits above it.
    #[inline(always)]
    pub(crate) fn lane(self, lane: u32, width: u32) -> u64 {
        let word = if lane < Self::LANES { self.0[0] } else { self.0[N - 1] };
        word >> (lane % Self::LANES * width)
    }

    /// Writes the lanes of a bucket that begins at this bit.
    #[inline(always)]
    pub(crate) fn store(self, bytes: &mut [u8], bit: u64, width: u32) {
        for (i, word) in self.0.into_iter().enumerate() {
            write(bytes, 0, Self::bit(bit, i, width), Self::LANES * width, word);
        }
    }

    /// The words, each with two lanes, and arbitrary bits above them.
    #[inline(always)]
    pub(crate) fn halves(self, width: u32) -> [u64; 2] {
        [self.0[0], if N == 1 { self.0[0] >> (SLOTS / 2 * width) } else { self.0[N - 1] }]
    }

    /// The sum of four lanes, of at most 1 each; `ones` has a 1 in each lane of a word.
    #[inline(always)]
    pub(crate) fn sum(self, ones: u64, width: u32) -> u32 {
        if N == 1 {
            // A product adds up the lanes, where counting ones has an instruction only on newer
            // processors.
            return (self.0[0].wrapping_mul(ones) >> ((SLOTS - 1) * width) & 7) as u32;
        }
        let sum = self.0[0] + self.0[N - 1];
        ((sum + (sum >> width)) & 7) as u32
    }

    /// The lane of the lowest bit that is set.
    #[inline(always)]
    pub(crate) fn first(self, width: u32) -> u32 {
        let [low, high] = [self.0[0], self.0[N - 1]];
        let (before, word) = if N == 1 || low != 0 { (0, low) } else { (Self::LANES, high) };
        let bit = word.trailing_zeros();
        // Cheaper than a division.
        before + (1..Self::LANES).map(|lane| u32::from(bit >= lane * width)).sum::<u32>()
    }

    /// All but the lowest bit that is set.
    #[inline(always)]
    pub(crate) fn but_first(mut self) -> Self {
        let word = &mut self.0[if self.0[0] != 0 { 0 } else { N - 1 }];
        *word &= word.wrapping_sub(1);
        self
    }

    #[inline(always)]
    fn each(mut self, of: impl Fn(u64) -> u64) -> Self {
        for i in 0..N {
            self.0[i] = of(self.0[i]);
        }
        self
    }

    #[inline(always)]
    fn with(mut self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        for i in 0..N {
            self.0[i] = of(self.0[i], other.0[i]);
        }
        self
    }
}

impl<const N: usize> LaneWords for FourLanes<N> {
    #[inline(always)]
    fn all(word: u64) -> Self {
        Self([word; N])
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_sub)
    }
}

impl<const N: usize> Not for FourLanes<N> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        self.each(u64::not)
    }
}

macro_rules! operators {
    ($($operator:ident::$method:ident),*) => {$(
        impl<const N: usize> $operator for FourLanes<N> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.with(other, u64::$method)
            }
        }
    )*};
}
operators!(BitAnd::bitand, BitOr::bitor, BitXor::bitxor);

/// The word that begins at this bit.
///
/// # Safety
///
/// A whole word can be read from the byte of that bit on.
#[inline(always)]
pub(crate) unsafe fn read<W: Word>(bytes: *const u8, bit: u64) -> W {
    // A segment is in memory, so its offsets fit usize; & 7 fits everything.
    let (at, shift) = (index(bit >> 3), (bit & 7) as u32);
    // SAFETY: as the caller promises.
    unsafe { W::read(bytes.add(at)) >> shift }
}
