//! The four lanes of a bucket: in one word of 64 bits, or in two that have two lanes each.
//!
//! Two words, not one of 128 bits: a processor shifts, multiplies and compares 64 bits at a time,
//! and its vector units know no more.

use core::ops::{BitAnd, BitOr, BitXor, Not};

use super::shape::LANES;
use crate::layout::bits::{Word, index, split, write};
use crate::layout::bucket_pair::BucketPair;

/// Lanes in each of the two words.
const HALF: u32 = LANES / 2;
/// Bits that a load of 64 has from any bit of its first byte on.
const LOADED: u32 = u64::BITS - 7;

/// Words of lanes. Each operation treats lanes alike, and no bit goes from one word to another.
pub(super) trait LaneWords:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Each word this one.
    fn all(word: u64) -> Self;
    /// The difference of each two words.
    fn minus(self, other: Self) -> Self;
}

/// The words that hold the lanes of a bucket.
pub(super) trait BucketWord: LaneWords + PartialEq {
    const ZERO: Self;

    /// Whether the lanes of a word lie in 8 bytes, whatever the bit at which they begin.
    fn are_short(width: u32) -> bool;
    /// The bucket that begins at this bit, with lanes of `width` bits.
    fn load(bytes: &[u8], bit: u64, width: u32) -> Self;
    /// [`load`](Self::load) from memory, for a loop that knows whether they
    /// [are short](Self::are_short).
    ///
    /// # Safety
    ///
    /// 8 bytes can be read from the byte on in which each word begins, and 16 unless they are
    /// short.
    unsafe fn read<const SHORT: bool>(bytes: *const u8, bit: u64, width: u32) -> Self;
    /// Calls `each` with the words of two buckets, the first ones together, then the second ones.
    ///
    /// # Safety
    ///
    /// As for [`read`](Self::read) of each bucket; their lanes are short.
    unsafe fn each_both(bytes: *const u8, bits: [u64; 2], width: u32, each: impl FnMut(BucketPair));
    /// The sum of each two words.
    fn plus(self, other: Self) -> Self;
    /// The product of each word and a number.
    fn times(self, number: u64) -> Self;
    /// Each word shifted by so many bits, towards its first lane.
    fn shifted_down(self, bits: u32) -> Self;
    fn count_ones(self) -> u32;
    /// The content of a lane, and arbitrary bits above it.
    fn lane(self, lane: u32, width: u32) -> u64;
    /// Writes the lanes of a bucket that begins at this bit.
    fn store(self, bytes: &mut [u8], bit: u64, width: u32);
    /// The words, each with two lanes, and arbitrary bits above them.
    fn halves(self, width: u32) -> [u64; 2];
    /// The sum of four lanes, of at most 1 each; `ones` has a 1 in each lane of a word.
    fn sum(self, ones: u64, width: u32) -> u32;
    /// The lane of the lowest bit that is set.
    fn first(self, width: u32) -> u32;
    /// All but the lowest bit that is set.
    fn but_first(self) -> Self;
}

/// The lowest three bits.
#[inline(always)]
fn low_3(word: u64) -> u32 {
    (word & 7) as u32
}

/// The lane of a bit of a word.
#[inline(always)]
fn lane_of(bit: u32, lanes: u32, width: u32) -> u32 {
    // Cheaper than a division.
    (1..lanes).map(|lane| u32::from(bit >= lane * width)).sum()
}

impl LaneWords for u64 {
    #[inline(always)]
    fn all(word: u64) -> Self {
        word
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }
}

impl BucketWord for u64 {
    const ZERO: Self = 0;

    #[inline(always)]
    fn are_short(_width: u32) -> bool {
        true
    }

    #[inline(always)]
    fn load(bytes: &[u8], bit: u64, _width: u32) -> Self {
        let (at, shift) = split(0, bit);
        <u64 as Word>::load(bytes, at) >> shift
    }

    #[inline(always)]
    unsafe fn read<const SHORT: bool>(bytes: *const u8, bit: u64, _width: u32) -> Self {
        // SAFETY: as the caller promises.
        unsafe { read(bytes, bit) }
    }

    #[inline(always)]
    unsafe fn each_both(
        bytes: *const u8,
        bits: [u64; 2],
        _width: u32,
        mut each: impl FnMut(BucketPair),
    ) {
        // SAFETY: as the caller promises.
        each(unsafe { BucketPair::read::<false>(bytes, bits) });
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn times(self, number: u64) -> Self {
        self.wrapping_mul(number)
    }

    #[inline(always)]
    fn shifted_down(self, bits: u32) -> Self {
        self >> bits
    }

    #[inline(always)]
    fn count_ones(self) -> u32 {
        self.count_ones()
    }

    #[inline(always)]
    fn lane(self, lane: u32, width: u32) -> u64 {
        self >> (lane * width)
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8], bit: u64, width: u32) {
        write(bytes, 0, bit, LANES * width, self);
    }

    #[inline(always)]
    fn halves(self, width: u32) -> [u64; 2] {
        [self, self >> (HALF * width)]
    }

    #[inline(always)]
    fn sum(self, ones: u64, width: u32) -> u32 {
        // A product adds up the lanes, where counting ones has an instruction only on newer
        // processors.
        let sum = self.wrapping_mul(ones) >> ((LANES - 1) * width);
        low_3(sum)
    }

    #[inline(always)]
    fn first(self, width: u32) -> u32 {
        lane_of(self.trailing_zeros(), LANES, width)
    }

    #[inline(always)]
    fn but_first(self) -> Self {
        self & self.wrapping_sub(1)
    }
}

/// Two words, for buckets that do not fit one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair(pub(super) [u64; 2]);

impl Pair {
    #[inline(always)]
    fn each(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self([of(self.0[0], other.0[0]), of(self.0[1], other.0[1])])
    }

    /// The bits at which the words of a bucket begin.
    #[inline(always)]
    fn bits(bit: u64, width: u32) -> [u64; 2] {
        [bit, bit + u64::from(HALF * width)]
    }
}

impl BitAnd for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.each(other, |a, b| a & b)
    }
}

impl BitOr for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.each(other, |a, b| a | b)
    }
}

impl BitXor for Pair {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.each(other, |a, b| a ^ b)
    }
}

impl Not for Pair {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Self([!self.0[0], !self.0[1]])
    }
}

impl LaneWords for Pair {
    #[inline(always)]
    fn all(word: u64) -> Self {
        Self([word; 2])
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.each(other, u64::wrapping_sub)
    }
}

impl LaneWords for BucketPair {
    #[inline(always)]
    fn all(word: u64) -> Self {
        Self::all(word)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.minus(other)
    }
}

impl BucketWord for Pair {
    const ZERO: Self = Self([0; 2]);

    #[inline(always)]
    fn are_short(width: u32) -> bool {
        HALF * width <= LOADED
    }

    #[inline(always)]
    fn load(bytes: &[u8], bit: u64, width: u32) -> Self {
        let [(first, by), (second, and_by)] = Self::bits(bit, width).map(|bit| split(0, bit));
        if Self::are_short(width) {
            Self([
                <u64 as Word>::load(bytes, first) >> by,
                <u64 as Word>::load(bytes, second) >> and_by,
            ])
        } else {
            Self([
                (u128::load(bytes, first) >> by).low(),
                (u128::load(bytes, second) >> and_by).low(),
            ])
        }
    }

    #[inline(always)]
    unsafe fn read<const SHORT: bool>(bytes: *const u8, bit: u64, width: u32) -> Self {
        let [first, second] = Self::bits(bit, width);
        // SAFETY: as the caller promises.
        unsafe {
            if SHORT {
                Self([read(bytes, first), read(bytes, second)])
            } else {
                Self([read::<u128>(bytes, first).low(), read::<u128>(bytes, second).low()])
            }
        }
    }

    #[inline(always)]
    unsafe fn each_both(
        bytes: *const u8,
        bits: [u64; 2],
        width: u32,
        mut each: impl FnMut(BucketPair),
    ) {
        let [first, second] = bits.map(|bit| Self::bits(bit, width));
        // SAFETY: as the caller promises.
        unsafe {
            each(BucketPair::read::<false>(bytes, [first[0], second[0]]));
            each(BucketPair::read::<false>(bytes, [first[1], second[1]]));
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.each(other, u64::wrapping_add)
    }

    #[inline(always)]
    fn times(self, number: u64) -> Self {
        Self([self.0[0].wrapping_mul(number), self.0[1].wrapping_mul(number)])
    }

    #[inline(always)]
    fn shifted_down(self, bits: u32) -> Self {
        Self([self.0[0] >> bits, self.0[1] >> bits])
    }

    #[inline(always)]
    fn count_ones(self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones()
    }

    #[inline(always)]
    fn lane(self, lane: u32, width: u32) -> u64 {
        let word = if lane < HALF { self.0[0] } else { self.0[1] };
        word >> (lane % HALF * width)
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8], bit: u64, width: u32) {
        for (bit, word) in Self::bits(bit, width).into_iter().zip(self.0) {
            write(bytes, 0, bit, HALF * width, word);
        }
    }

    #[inline(always)]
    fn halves(self, _width: u32) -> [u64; 2] {
        self.0
    }

    #[inline(always)]
    fn sum(self, _ones: u64, width: u32) -> u32 {
        let sum = self.0[0] + self.0[1];
        low_3(sum + (sum >> width))
    }

    #[inline(always)]
    fn first(self, width: u32) -> u32 {
        let [low, high] = self.0;
        let (before, word) = if low != 0 { (0, low) } else { (HALF, high) };
        before + lane_of(word.trailing_zeros(), HALF, width)
    }

    #[inline(always)]
    fn but_first(self) -> Self {
        let [low, high] = self.0;
        if low != 0 { Self([low.but_first(), high]) } else { Self([0, high.but_first()]) }
    }
}

/// The word that begins at this bit.
///
/// # Safety
///
/// A whole word can be read from the byte of that bit on.
#[inline(always)]
pub(super) unsafe fn read<W: Word>(bytes: *const u8, bit: u64) -> W {
    // A segment is in memory, so its offsets fit usize; & 7 fits everything.
    let (at, shift) = (index(bit >> 3), (bit & 7) as u32);
    // SAFETY: as the caller promises.
    unsafe { W::read(bytes.add(at)) >> shift }
}
