//! The standard Bloom filter (Bloom 1970; paper, section 2.1; thesis, section 1.1).

use malkoha::params::{bloom_bits_per_key, bloom_fpr, bloom_optimal_hashes};
use malkoha::{Key, KeyHasher};

use crate::double_hash::{Positions, looked_at};
use crate::error::{BuildError, Full};
use crate::filter::{Base, Filter};
use crate::words::{allocate, ceil, float, index};

/// The most keys a filter can be built for.
pub(crate) const MAX_CAPACITY: u64 = 1 << 36;
/// The most hash functions: they serve a false-positive rate of 2^-64.
pub(crate) const MAX_HASHES: u32 = 64;
/// The most bits or counters.
pub(crate) const MAX_POSITIONS: u64 = 1 << 43;

/// A set of keys as bits: each key sets k bits, and is in if all its bits are set.
///
/// * log2(1/fpr) * 1.44 bits per key with the best k (thesis, eq. 1.18), of any total size.
/// * An insert or a lookup of a key that is in touches k places of memory, a lookup of a key that
///   is not in about two. A batch ([`Filter::contains_many`]) overlaps their cache misses.
/// * Never full: more keys than the capacity raise the false-positive rate.
/// * Keys cannot be removed ([`CountingBloomFilter`](crate::CountingBloomFilter) can), and copies
///   of a key change nothing.
///
/// ```
/// use malkoha_classic::{BloomFilter, Filter};
///
/// let mut seen = BloomFilter::with_capacity(1_000_000, 0.01)?;
/// seen.insert("cuckoo");
/// assert!(seen.contains("cuckoo"));
/// assert!(!seen.contains("magpie"));
/// # Ok::<(), malkoha_classic::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BloomFilter {
    words: Vec<u64>,
    bits: u64,
    hashes: u32,
    base: Base,
}

impl BloomFilter {
    /// A filter of `bits` bits (any number up to 2^43) that sets `hashes` bits for each key (1 to
    /// 64). Its capacity is the number of keys for which that many hash functions are the best.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(bits: u64, hashes: u32, hasher: KeyHasher) -> Result<Self, BuildError> {
        check_positions(bits, hashes)?;
        let words = allocate(bits.div_ceil(64), || 0)?;
        Ok(Self { words, bits, hashes, base: Base::new(hasher, best_capacity(bits, hashes)) })
    }

    /// Inserts a key; returns whether it is certainly new. (A **no** is wrong as often as a lookup
    /// is.) O(k).
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(key.hash_with(self.base.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let mut positions = Positions::new(hash, self.bits);
        let mut all_set = 1;
        for _ in 0..self.hashes {
            let bit = positions.next();
            let word = &mut self.words[index(bit >> 6)];
            all_set &= *word >> (bit & 63);
            *word |= 1 << (bit & 63);
        }
        self.base.len = self.base.len.saturating_add(1);
        all_set & 1 == 0
    }

    /// Bits of the table.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.bits
    }

    /// The number of hash functions, k.
    #[must_use]
    pub const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// Bits that are set, counted one by one: O(bits). Half of them at the best load.
    #[must_use]
    pub fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Adds all keys of a filter of the same geometry and hasher. Returns `false`, and does
    /// nothing, if one of these differs.
    pub fn union(&mut self, other: &Self) -> bool {
        let same = (self.bits, self.hashes, self.base.hasher)
            == (other.bits, other.hashes, other.base.hasher);
        if same {
            self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
            self.base.len = self.base.len.saturating_add(other.base.len);
        }
        same
    }
}

impl Filter for BloomFilter {
    /// In the fewest bits.
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        let (bits, hashes) = positions_for("Bloom filter", capacity, fpr)?;
        let mut filter = Self::with_geometry(bits, hashes, hasher)?;
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
        let mut positions = Positions::new(hash, self.bits);
        (0..self.hashes).all(|_| {
            let bit = positions.next();
            self.words[index(bit >> 6)] >> (bit & 63) & 1 != 0
        })
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        Positions::new(hash, self.bits).prefetch(&self.words, looked_at(self.hashes), 64);
    }

    #[inline]
    fn prefetch_update_hash(&self, hash: u64) {
        Positions::new(hash, self.bits).prefetch(&self.words, self.hashes, 64);
    }

    /// (1 - (1 - 1/m)^(kn))^k (thesis, eq. 1.5), for n different keys.
    fn expected_fpr(&self) -> f64 {
        bloom_fpr(self.bits, self.base.len, self.hashes)
    }

    fn size_in_bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn clear(&mut self) {
        self.words.fill(0);
        self.base.len = 0;
    }
}

/// The least number of bits (or counters), and the number of hash functions, with which `capacity`
/// keys stay at or below `fpr`.
pub(crate) fn positions_for(
    structure: &'static str,
    capacity: u64,
    fpr: f64,
) -> Result<(u64, u32), BuildError> {
    check_target(capacity, fpr)?;
    let per_key = bloom_bits_per_key(fpr);
    // The best k is seldom a whole number: of its two neighbours, take the one with fewer bits.
    let best = bloom_optimal_hashes(per_key);
    let too_small = BuildError::FprTooSmall { structure, capacity, asked: fpr };
    [best.floor(), best.ceil()]
        .into_iter()
        .filter_map(|hashes| u32::try_from(ceil(hashes.max(1.0))).ok())
        .filter(|&hashes| hashes <= MAX_HASHES)
        .filter_map(|hashes| Some((least_bits(capacity, fpr, hashes)?, hashes)))
        .min()
        .ok_or(too_small)
}

/// Refuses capacities and rates out of range. Written so that a NaN is refused too.
pub(crate) fn check_target(capacity: u64, fpr: f64) -> Result<(), BuildError> {
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(BuildError::Capacity(capacity));
    }
    if fpr > 0.0 && fpr < 1.0 { Ok(()) } else { Err(BuildError::Fpr(fpr)) }
}

pub(crate) fn check_positions(positions: u64, hashes: u32) -> Result<(), BuildError> {
    BuildError::check_range("number of bits or counters", positions, 1..=MAX_POSITIONS)?;
    BuildError::check_range("number of hash functions", hashes.into(), 1..=MAX_HASHES.into())
}

/// The number of keys for which k is the best: n = ln 2 * m / k (thesis, eq. 1.11).
pub(crate) fn best_capacity(positions: u64, hashes: u32) -> u64 {
    ceil(std::f64::consts::LN_2 * float(positions) / f64::from(hashes))
}

/// The least m with (1 - (1 - 1/m)^(kn))^k <= fpr, found by bisection.
fn least_bits(capacity: u64, fpr: f64, hashes: u32) -> Option<u64> {
    let enough = |bits| bloom_fpr(bits, capacity, hashes) <= fpr;
    let (mut low, mut high) = (1, MAX_POSITIONS);
    if !enough(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}
