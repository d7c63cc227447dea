//! Tables of bits that are checked before an index.

use anyhow::Result;
use malkoha::KeyHasher;

use super::Exact;

/// Of a table, for each key.
const BITS_A_KEY: u64 = 16;

/// Above, a table would not stay in cache.
const MOST_BITS: u64 = 1 << 24;

/// A bit for each of some hashes; other hashes share it.
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// For this many keys.
    pub(super) fn of(keys: u64) -> Self {
        let bits = keys.saturating_mul(BITS_A_KEY).next_power_of_two().clamp(64, MOST_BITS);
        Self(vec![0; usize::try_from(bits / 64).unwrap_or(1)])
    }

    pub(super) fn set(&mut self, hash: u64) {
        let (word, bit) = self.at(hash);
        self.0[word] |= bit;
    }

    #[inline(always)]
    pub(super) fn has(&self, hash: u64) -> bool {
        let (word, bit) = self.at(hash);
        self.0[word] & bit != 0
    }

    #[inline(always)]
    fn at(&self, hash: u64) -> (usize, u64) {
        // A power of two of words.
        ((hash >> 6) as usize & (self.0.len() - 1), 1 << (hash % 64))
    }
}

/// Dismisses most lines that are not in, by a hash that is faster than the keyed one. Somebody who
/// knows it can choose lines that pass, which then cost as much as without this table.
pub(super) struct Sieve(Bits);

impl Sieve {
    pub(super) fn of(keys: &Exact) -> Result<Self> {
        let texts = &keys.texts;
        let mut bits = Bits::of(texts.most_records());
        texts.read_again(|_, batch| {
            batch.keys.iter().for_each(|key| bits.set(hash(key)));
            Ok(())
        })?;
        Ok(Self(bits))
    }

    #[inline]
    pub(super) fn keeps(&self, line: &[u8]) -> bool {
        self.0.has(hash(line))
    }
}

fn hash(line: &[u8]) -> u64 {
    KeyHasher::new(0).hash_bytes(line)
}
