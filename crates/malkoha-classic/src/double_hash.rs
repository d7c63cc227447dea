//! The positions of a key in a Bloom filter, by double hashing.

use crate::arch::prefetch;
use crate::words::{index, scale};

/// Yields the positions g_i = h1 + i * h2 of a key (paper, eq. 8; Kirsch and Mitzenmacher 2008),
/// scaled down to `0..range`.
///
/// The paper cuts a 64-bit hash into two of 32 bits. Here h1 is the whole hash and h2 a multiple
/// of it, so that tables of more than 2^32 bits are used evenly too, whatever their size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positions {
    next: u64,
    step: u64,
    range: u64,
}

impl Positions {
    #[inline(always)]
    pub(crate) const fn new(hash: u64, range: u64) -> Self {
        // The multiplier of Steele and Vigna (2021) with the best spectrum for 64 bits.
        Self { next: hash, step: hash.wrapping_mul(0xd134_2543_de82_ef95), range }
    }

    #[inline(always)]
    pub(crate) const fn next(&mut self) -> u64 {
        let position = scale(self.next, self.range);
        self.next = self.next.wrapping_add(self.step);
        position
    }

    /// Prefetches the words of the next `count` positions, of which each word holds `per_word`.
    #[inline(always)]
    pub(crate) fn prefetch(mut self, words: &[u64], count: u32, per_word: u64) {
        for _ in 0..count {
            prefetch(words, index(self.next() / per_word));
        }
    }
}

/// Positions that lookups prefetch: an absent key meets a 0 after two on average, and prefetching
/// all of them costs such a lookup more than it gains.
const LOOKED_AT: u32 = 3;

/// How many of a key's positions to prefetch for a lookup.
#[inline(always)]
pub(crate) fn looked_at(hashes: u32) -> u32 {
    hashes.min(LOOKED_AT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: positions are the same on every machine.
    #[test]
    fn known_answers() {
        let mut positions = Positions::new(0x0123_4567_89ab_cdef, 1_000_000);
        assert_eq!([positions.next(), positions.next(), positions.next()], [4444, 440241, 876038]);
    }
}
