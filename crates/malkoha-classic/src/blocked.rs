//! The blocked Bloom filter (Putze, Sanders and Singler 2007; paper, section 2.1).

use malkoha::params::bloom_fpr;
use malkoha::{Key, KeyHasher};

use crate::arch::prefetch;
use crate::error::{BuildError, Full};
use crate::filter::{Base, Filter};
use crate::sizing::{MAX_POSITIONS, best_capacity, check_hashes, check_target};
use crate::words::{allocate, ceil, derive, float, index, scale};

/// Bits per block: one cache line of 64 bytes.
const BLOCK_BITS: u64 = 512;
const BLOCK_WORDS: u64 = BLOCK_BITS / 64;
/// 9-bit positions in a block that one 64-bit hash yields.
const POSITIONS_PER_HASH: u32 = 7;
/// Beyond this many bits per key, more of them hardly help: the fullest blocks decide.
const MAX_BITS_PER_KEY: f64 = 128.0;
/// With this many keys per block, all its bits are set with probability 1 - 10^-14.
const OVERFLOWING: f64 = 20_000.0;

/// A small Bloom filter that fills one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(64))]
struct Block([u64; 8]);

/// A Bloom filter cut into blocks of 64 bytes: all bits of a key lie in one of them, so that every
/// operation touches one cache line.
///
/// * The price is a higher false-positive rate than [`BloomFilter`](crate::BloomFilter)'s in the
///   same space, because some blocks get more keys than others: 0.27 % against 0.19 % at 13 bits
///   per key. [`blocked_bloom_fpr`] computes it, and [`with_capacity`](Self::with_capacity) makes
///   up for it with more bits: 3 % more at a rate of 1 %, 8 % at 0.1 %, 23 % at 10^-5.
/// * Never full; keys cannot be removed; copies of a key change nothing.
///
/// The k bits of a key are independent digits of derived hashes. The paper uses double hashing
/// (eq. 8) within the block too, which has few patterns in 512 bits: it measured 0.43 % (table 3).
///
/// ```
/// use malkoha_classic::{BlockedBloomFilter, Filter};
///
/// let mut seen = BlockedBloomFilter::with_capacity(1_000_000, 0.01)?;
/// seen.insert("cuckoo");
/// assert!(seen.contains("cuckoo"));
/// # Ok::<(), malkoha_classic::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedBloomFilter {
    blocks: Vec<Block>,
    hashes: u32,
    base: Base,
}

impl BlockedBloomFilter {
    /// A filter of `blocks` blocks of 64 bytes (any number up to 2^34) that sets `hashes` bits for
    /// each key (1 to 64). Its capacity is `512 * blocks * ln 2 / hashes`.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(blocks: u64, hashes: u32, hasher: KeyHasher) -> Result<Self, BuildError> {
        BuildError::check_range("number of blocks", blocks, 1..=MAX_POSITIONS / BLOCK_BITS)?;
        check_hashes(hashes)?;
        let table = allocate(blocks, Block::default)?;
        let capacity = best_capacity(blocks * BLOCK_BITS, hashes);
        Ok(Self { blocks: table, hashes, base: Base::new(hasher, capacity) })
    }

    /// Inserts a key; returns whether it is certainly new. (A **no** is wrong as often as a lookup
    /// is.) One cache line.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(key.hash_with(self.base.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let at = self.block_of(hash);
        let Block(words) = &mut self.blocks[at];
        let mut all_set = 1;
        for_each_bit(hash, self.hashes, |word, bit| {
            all_set &= words[word] >> bit;
            words[word] |= 1 << bit;
        });
        self.base.len = self.base.len.saturating_add(1);
        all_set & 1 == 0
    }

    /// Blocks of 64 bytes.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// The number of hash functions, k.
    #[must_use]
    pub const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// Bits that are set, counted one by one: O(bits).
    #[must_use]
    pub fn ones(&self) -> u64 {
        self.words().map(|word| u64::from(word.count_ones())).sum()
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().flat_map(|block| block.0)
    }

    #[inline(always)]
    fn block_of(&self, hash: u64) -> usize {
        index(scale(hash, self.blocks.len() as u64))
    }
}

/// Calls `each(word, bit)` for the k positions of a key in its block. Positions may coincide.
#[inline(always)]
fn for_each_bit(hash: u64, hashes: u32, mut each: impl FnMut(usize, u64)) {
    let (mut digits, mut left, mut which) = (0, 0, 0);
    for _ in 0..hashes {
        if left == 0 {
            (digits, left) = (derive(hash, which), POSITIONS_PER_HASH);
            which += 1;
        }
        each(index(digits >> 6 & (BLOCK_WORDS - 1)), digits & 63);
        digits >>= 9;
        left -= 1;
    }
}

impl Filter for BlockedBloomFilter {
    /// In the fewest blocks. Blocks cannot reach rates below about 10^-11.
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        check_target(capacity, fpr)?;
        let (bits_per_key, hashes) = least_bits_per_key(fpr).ok_or(BuildError::FprTooSmall {
            structure: "blocked Bloom filter",
            capacity,
            asked: fpr,
        })?;
        let blocks = ceil(float(capacity) * bits_per_key / float(BLOCK_BITS)).max(1);
        let mut filter = Self::with_geometry(blocks, hashes, hasher)?;
        filter.base.capacity = capacity;
        Ok(filter)
    }

    fn base(&self) -> &Base {
        &self.base
    }

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        Self::insert_hash(self, hash);
        Ok(())
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let Block(words) = &self.blocks[self.block_of(hash)];
        // All bits, without a branch: they lie in one line, and a branch would be mispredicted.
        let mut all_set = 1;
        for_each_bit(hash, self.hashes, |word, bit| all_set &= words[word] >> bit);
        all_set & 1 != 0
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        prefetch(&self.blocks, self.block_of(hash));
    }

    /// [`blocked_bloom_fpr`], for different keys.
    fn expected_fpr(&self) -> f64 {
        blocked_bloom_fpr(float(self.base.len) / float(self.blocks()), self.hashes)
    }

    fn size_in_bytes(&self) -> u64 {
        self.blocks() * 64
    }

    fn clear(&mut self) {
        self.blocks.fill(Block::default());
        self.base.len = 0;
    }
}

/// The false-positive rate of a blocked Bloom filter with blocks of 64 bytes: the rates of blocks
/// with i keys, weighted by the probability of i keys in a block (Putze et al., eq. 3):
/// sum over i of Poisson(keys per block; i) * (1 - (1 - 1/512)^(k*i))^k.
#[must_use]
pub fn blocked_bloom_fpr(keys_per_block: f64, hashes: u32) -> f64 {
    if keys_per_block > OVERFLOWING {
        return 1.0;
    }
    // Ten standard deviations on either side leave out less than 10^-20.
    let reach = 10.0 * keys_per_block.sqrt() + 10.0;
    let first = ceil((keys_per_block - reach).max(0.0));
    let last = ceil(keys_per_block + reach);
    let mut log_factorial: f64 = (2..=first).map(|i| float(i).ln()).sum();
    let mut rate = 0.0;
    for i in first..=last {
        if i > first {
            log_factorial += float(i).ln();
        }
        let weight = (float(i) * keys_per_block.ln() - keys_per_block - log_factorial).exp();
        if i > 0 {
            rate += weight * bloom_fpr(BLOCK_BITS, i, hashes);
        }
    }
    rate
}

/// The fewest bits per key with which a blocked Bloom filter reaches this false-positive rate;
/// `None` if blocks cannot reach it, which is the case below about 10^-11.
#[must_use]
pub fn blocked_bloom_bits_per_key(fpr: f64) -> Option<f64> {
    least_bits_per_key(fpr).map(|(bits_per_key, _)| bits_per_key)
}

/// The fewest bits per key that reach `fpr`, with the best number of hash functions.
fn least_bits_per_key(fpr: f64) -> Option<(f64, u32)> {
    let best_at = |bits_per_key: f64| {
        let keys_per_block = float(BLOCK_BITS) / bits_per_key;
        (1..=24)
            .map(|hashes| (blocked_bloom_fpr(keys_per_block, hashes), hashes))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|&(rate, _)| rate <= fpr)
    };
    let (mut low, mut high) = (0.0, MAX_BITS_PER_KEY);
    let mut hashes = best_at(high)?.1;
    while high - low > 0.005 {
        let middle = f64::midpoint(low, high);
        match best_at(middle) {
            Some((_, best)) => (high, hashes) = (middle, best),
            None => low = middle,
        }
    }
    Some((high, hashes))
}

#[cfg(test)]
mod tests {
    use malkoha::params::bloom_bits_per_key;

    use super::*;

    /// Blocks need more bits than a standard Bloom filter, and the lower the rate the more. High
    /// rates have a result too.
    #[test]
    fn blocks_cost_more_the_lower_the_rate() {
        let cost = |fpr| blocked_bloom_bits_per_key(fpr).unwrap();
        let overhead = |fpr| cost(fpr) / bloom_bits_per_key(fpr);
        assert!((1.02..1.15).contains(&overhead(0.01)), "{}", overhead(0.01));
        assert!(overhead(1e-4) > overhead(0.01) && overhead(1e-6) > overhead(1e-4));
        // With one hash function, 0.92 * 512 keys leave a share of 1 - 0.6 of a block's bits clear.
        assert!((1.08..1.11).contains(&cost(0.6)), "{}", cost(0.6));
        assert!(cost(0.99) < cost(0.9) && cost(0.9) < cost(0.6) && cost(0.6) < cost(0.4));
        assert_eq!(blocked_bloom_bits_per_key(1e-13), None);
    }
}
