//! Where the slots of a quotient filter lie in memory.
//!
//! 64 slots are a block: two words with one metadata bit of each slot, a word that says where the
//! runs of this block's quotients begin, then the 64 remainders of r bits in r words. A few word
//! operations thus search the metadata of 64 slots, which lies next to the remainders.
//! Positions are circular: any number is taken modulo the slots.

use crate::arch::{BitInstructions, prefetch};
use crate::error::BuildError;
use crate::words::{allocate, index, ones, read, read_word, write};

/// Words of metadata at a block's start.
const METADATA: usize = 3;

/// A metadata bit of a slot; the number is that of its word in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// Some remainder in the table has this slot's number as its quotient.
    Occupied = 0,
    /// The slot's remainder is the last one of a run.
    End = 1,
}

/// The word of a block that counts the slots from its first one on that hold remainders of earlier
/// blocks' quotients.
const OFFSET: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// The last is padding, because remainders are read two words at a time.
    words: Vec<u64>,
    pub(super) bit_instructions: Option<BitInstructions>,
    remainder_bits: u32,
    block_words: usize,
    position_mask: u64,
    /// The lowest bit of each remainder that fits into a word.
    lowest: u64,
}

/// Bits `low..=high` of a word.
#[inline(always)]
pub(super) const fn span(low: u32, high: u32) -> u64 {
    (u64::MAX << low) & (u64::MAX >> (63 - high))
}

/// The bits of `word` outside `mask`, and those of `other` in it.
#[inline(always)]
const fn blend(word: u64, other: u64, mask: u64) -> u64 {
    (word & !mask) | (other & mask)
}

/// A position's slot in its block.
#[inline(always)]
pub(super) const fn slot(position: u64) -> u32 {
    (position & 63) as u32
}

impl Blocks {
    pub(super) fn new(quotient_bits: u32, remainder_bits: u32) -> Result<Self, BuildError> {
        let block_words = METADATA as u64 + u64::from(remainder_bits);
        let step = remainder_bits as usize;
        Ok(Self {
            words: allocate((1 << (quotient_bits - 6)) * block_words + 1, || 0)?,
            bit_instructions: BitInstructions::detected(),
            remainder_bits,
            block_words: index(block_words),
            position_mask: ones(quotient_bits),
            lowest: (0..64 / step).fold(0, |bits, field| bits | 1 << (field * step)),
        })
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    #[inline(always)]
    pub(super) const fn slots(&self) -> u64 {
        self.position_mask + 1
    }

    /// Adds to the offsets of all blocks whose first slot lies behind `from` and not behind `to`.
    #[inline(always)]
    pub(super) fn move_offsets(&mut self, from: u64, to: u64, by: i64) {
        let mut first = (from | 63) + 1;
        while first <= to {
            let at = self.base(first) + OFFSET;
            self.words[at] = self.words[at].wrapping_add_signed(by);
            first += 64;
        }
    }

    #[inline(always)]
    pub(super) const fn remainder_bits(&self) -> u32 {
        self.remainder_bits
    }

    #[inline(always)]
    fn base(&self, position: u64) -> usize {
        index((position & self.position_mask) >> 6) * self.block_words
    }

    /// The metadata words of the block that a position lies in: occupied, ends, offset.
    #[inline(always)]
    pub(super) fn metadata(&self, position: u64) -> [u64; METADATA] {
        *self.words[self.base(position)..].first_chunk().expect("a block has its metadata")
    }

    #[inline(always)]
    pub(super) fn bits(&self, bit: Bit, position: u64) -> u64 {
        self.words[self.base(position) + bit as usize]
    }

    #[inline(always)]
    pub(super) fn get(&self, bit: Bit, position: u64) -> bool {
        self.bits(bit, position) >> slot(position) & 1 != 0
    }

    #[inline(always)]
    pub(super) fn set(&mut self, bit: Bit, position: u64, value: bool) {
        let at = self.base(position) + bit as usize;
        let shift = slot(position);
        self.words[at] = self.words[at] & !(1 << shift) | u64::from(value) << shift;
    }

    #[inline(always)]
    pub(super) fn remainder(&self, position: u64) -> u64 {
        let words = &self.words[self.base(position) + METADATA..];
        read(words, u64::from(slot(position) * self.remainder_bits), self.remainder_bits)
    }

    #[inline(always)]
    pub(super) fn set_remainder(&mut self, position: u64, remainder: u64) {
        let at = self.base(position) + METADATA;
        let bit = u64::from(slot(position) * self.remainder_bits);
        write(&mut self.words[at..], bit, self.remainder_bits, remainder);
    }

    /// Whether a remainder is among those from `position` on, up to the end of the run.
    #[inline(always)]
    pub(super) fn run_has(&self, position: u64, remainder: u64) -> bool {
        let block = self.block_of(position);
        let ends = block[Bit::End as usize] >> slot(position);
        let bits = (ends.trailing_zeros() + 1) * self.remainder_bits;
        if bits > 64 {
            return self.long_run_has(position, remainder);
        }
        // All of a short run at once: its length is hard to predict, and so would be the end of a
        // loop. A field of zeros borrows into its highest bit, and so may fields above it.
        let word = read_word(&block[METADATA..], u64::from(slot(position) * self.remainder_bits));
        let differs = word ^ (remainder * self.lowest);
        let highest = self.lowest << (self.remainder_bits - 1);
        let equal = differs.wrapping_sub(self.lowest) & !differs & highest;
        equal & ones(bits) != 0
    }

    /// The same, slot by slot.
    #[inline(never)]
    fn long_run_has(&self, position: u64, remainder: u64) -> bool {
        self.first_not_below(position, remainder).is_ok_and(|at| self.remainder(at) == remainder)
    }

    /// The first slot from `position` on whose remainder is not below `remainder`, or else the last
    /// slot of the run.
    #[inline(always)]
    pub(super) fn first_not_below(&self, position: u64, remainder: u64) -> Result<u64, u64> {
        let r = self.remainder_bits;
        let mut position = position;
        loop {
            let block = self.block_of(position);
            let (ends, remainders) = (block[Bit::End as usize], &block[METADATA..]);
            let first = position & !63;
            for slot in slot(position)..64 {
                if read(remainders, u64::from(slot * r), r) >= remainder {
                    return Ok(first + u64::from(slot));
                }
                if ends >> slot & 1 != 0 {
                    return Err(first + u64::from(slot));
                }
            }
            position = first + 64;
        }
    }

    /// The last slot of the run that continues from `position`.
    #[inline(always)]
    pub(super) fn run_end(&self, position: u64) -> u64 {
        let mut first = position & !63;
        let mut ends = self.bits(Bit::End, position) & u64::MAX << slot(position);
        while ends == 0 {
            first += 64;
            ends = self.bits(Bit::End, first);
        }
        first + u64::from(ends.trailing_zeros())
    }

    /// The words of the block that a position lies in, and the word behind it, which might be the
    /// second of a remainder's two words.
    #[inline(always)]
    fn block_of(&self, position: u64) -> &[u64] {
        &self.words[self.base(position)..][..self.block_words + 1]
    }

    /// Prefetches a slot's metadata and remainder.
    #[inline(always)]
    pub(super) fn prefetch(&self, position: u64) {
        let base = self.base(position);
        let bit = index(u64::from(slot(position) * self.remainder_bits));
        prefetch(&self.words, base);
        prefetch(&self.words, base + METADATA + bit / 64);
    }

    /// Moves the remainders of `from..to` one slot up, and the ends of runs with them. The slot at
    /// `to` must be empty, or be `from`. The slot at `from` is then arbitrary, but ends no run.
    #[inline(always)]
    pub(super) fn open(&mut self, from: u64, to: u64) {
        let r = self.remainder_bits;
        let mut block_end = to;
        loop {
            let block_start = block_end & !63;
            let first = from.max(block_start);
            let (low, high) = (slot(first), slot(block_end));
            let enters = first > from;
            let (remainder, end) = if enters {
                (self.remainder(first - 1), self.get(Bit::End, first - 1))
            } else {
                (0, false)
            };
            let base = self.base(first);
            let block = &mut self.words[base..][..self.block_words];
            let moved = span(low, high);
            let ends = block[Bit::End as usize];
            block[Bit::End as usize] =
                blend(ends, (ends & moved) << 1 | u64::from(end) << low, moved);
            shift_up(&mut block[METADATA..], low * r, (high + 1) * r, r);
            if !enters {
                return;
            }
            self.set_remainder(first, remainder);
            block_end = first - 1;
        }
    }

    /// Moves the remainders of `from + 1..=to` one slot down, and the ends of runs with them. The
    /// slot at `to` is empty afterwards.
    #[inline(always)]
    pub(super) fn close(&mut self, from: u64, to: u64) {
        let r = self.remainder_bits;
        let mut first = from;
        loop {
            let last = to.min(first | 63);
            let (low, high) = (slot(first), slot(last));
            let (remainder, end) = if last < to {
                (self.remainder(last + 1), self.get(Bit::End, last + 1))
            } else {
                (0, false)
            };
            let base = self.base(first);
            let block = &mut self.words[base..][..self.block_words];
            let moved = span(low, high);
            let ends = block[Bit::End as usize];
            block[Bit::End as usize] =
                blend(ends, (ends & moved) >> 1 | u64::from(end) << high, moved);
            shift_down(&mut block[METADATA..], low * r, (high + 1) * r, r);
            self.set_remainder(last, remainder);
            if last == to {
                return;
            }
            first = last + 1;
        }
    }
}

/// Moves the bits `start..end - by` of packed `words` up by `by` bits (below 64). The lowest `by`
/// bits are arbitrary then.
#[inline(always)]
fn shift_up(words: &mut [u64], start: u32, end: u32, by: u32) {
    let (first, last) = ((start / 64) as usize, ((end - 1) / 64) as usize);
    let above_start = u64::MAX << (start % 64);
    let below_end = u64::MAX >> (63 - (end - 1) % 64);
    if first == last {
        let mask = above_start & below_end;
        words[first] = blend(words[first], words[first] << by, mask);
        return;
    }
    let pulled = |words: &[u64], at: usize| words[at] << by | words[at - 1] >> (64 - by);
    words[last] = blend(words[last], pulled(words, last), below_end);
    for at in (first + 1..last).rev() {
        words[at] = pulled(words, at);
    }
    words[first] = blend(words[first], words[first] << by, above_start);
}

/// Moves the bits `start + by..end` of packed `words` down by `by` bits (below 64). The highest
/// `by` bits are arbitrary then.
#[inline(always)]
fn shift_down(words: &mut [u64], start: u32, end: u32, by: u32) {
    let (first, last) = ((start / 64) as usize, ((end - 1) / 64) as usize);
    let above_start = u64::MAX << (start % 64);
    let below_end = u64::MAX >> (63 - (end - 1) % 64);
    if first == last {
        let mask = above_start & below_end;
        words[first] = blend(words[first], words[first] >> by, mask);
        return;
    }
    let pulled = |words: &[u64], at: usize| words[at] >> by | words[at + 1] << (64 - by);
    words[first] = blend(words[first], pulled(words, first), above_start);
    for at in first + 1..last {
        words[at] = pulled(words, at);
    }
    words[last] = blend(words[last], words[last] >> by, below_end);
}
