//! A table of bits that is asked before an index is.

use malkoha::KeyHasher;

use super::Exact;

/// Lets most lines go that are not in, by a hash that is faster than the keyed one. Whoever knows
/// it can choose lines that it keeps, which costs no more than if there were none.
pub(super) struct Sieve(Vec<u64>);

/// Of the table, for each key.
const SIEVE_BITS: u64 = 16;

/// Above, the table would not stay in cache.
const MOST_SIEVE_BITS: u64 = 1 << 24;

impl Sieve {
    pub(super) fn of(keys: &Exact) -> Self {
        let texts = keys.texts();
        let bits = texts.count_lines().saturating_mul(SIEVE_BITS).next_power_of_two();
        let words = usize::try_from(bits.min(MOST_SIEVE_BITS) / 64).unwrap_or(0).max(1);
        let mut sieve = Self(vec![0; words]);
        for (_, list) in texts.lists() {
            for line in list.split(|&byte| byte == texts.separator()) {
                let (word, bit) = sieve.at(line);
                sieve.0[word] |= bit;
            }
        }
        sieve
    }

    #[inline]
    pub(super) fn keeps(&self, line: &[u8]) -> bool {
        let (word, bit) = self.at(line);
        self.0[word] & bit != 0
    }

    fn at(&self, line: &[u8]) -> (usize, u64) {
        let hash = KeyHasher::new(0).hash_bytes(line);
        ((hash >> 6) as usize & (self.0.len() - 1), 1 << (hash % 64))
    }
}
