//! The counting Bloom filter (Fan, Cao, Almeida and Broder 1998; paper, section 2.1).

use malkoha::params::bloom_fpr;
use malkoha::{Key, KeyHasher};

use crate::bloom::{best_capacity, check_positions, positions_for};
use crate::double_hash::{Positions, looked_at};
use crate::error::{BuildError, Full};
use crate::filter::{Base, Filter, RemovableFilter};
use crate::words::{allocate, index};

/// The largest value of a counter of four bits. It means "this many or more".
const SATURATED: u64 = 15;
const COUNTERS_PER_WORD: u64 = 16;

/// A Bloom filter with a counter of four bits instead of each bit, so that keys can be
/// removed: four times the space of [`BloomFilter`](crate::BloomFilter).
///
/// * An insert adds one to k counters, a removal takes one from each, a lookup asks whether all
///   are above zero. Each touches k places of memory.
/// * Never full; more keys than the capacity raise the false-positive rate.
///
/// # Counters that are stuck
///
/// A counter that reached 15 has forgotten by how much it went beyond, so it is never lowered
/// again: lowering it could lead to a false **no**. If all counters of a key are stuck, for example
/// because it was inserted 15 times, no removal takes it out; if only some are, it can be removed,
/// and the stuck ones raise the false-positive rate. [`stuck_counters`](Self::stuck_counters)
/// returns how many there are: at the capacity, with different keys, one in 10^15 (their values
/// are Poisson with mean ln 2). [`Filter::clear`] resets them.
///
/// # Removing keys that were never inserted
///
/// This lowers counters of other keys, which may then be lost: see [`RemovableFilter`].
///
/// ```
/// use malkoha_classic::{CountingBloomFilter, Filter, RemovableFilter};
///
/// let mut seen = CountingBloomFilter::with_capacity(1_000, 0.01)?;
/// seen.insert("cuckoo");
/// seen.insert("cuckoo");
/// assert_eq!(seen.count("cuckoo"), 2);
/// assert!(seen.remove("cuckoo") && seen.remove("cuckoo"));
/// assert!(!seen.contains("cuckoo"));
/// # Ok::<(), malkoha_classic::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingBloomFilter {
    words: Vec<u64>,
    counters: u64,
    hashes: u32,
    base: Base,
}

impl CountingBloomFilter {
    /// A filter of `counters` counters of four bits (any number up to 2^43) of which each key has
    /// `hashes` (1 to 64).
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(
        counters: u64,
        hashes: u32,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        check_positions(counters, hashes)?;
        let words = allocate(counters.div_ceil(COUNTERS_PER_WORD), || 0)?;
        let capacity = best_capacity(counters, hashes);
        Ok(Self { words, counters, hashes, base: Base::new(hasher, capacity) })
    }

    /// Inserts a key; returns whether it is certainly new. O(k).
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(key.hash_with(self.base.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let mut is_new = false;
        self.update(hash, |counter| {
            is_new |= counter == 0;
            u64::from(counter < SATURATED)
        });
        self.base.len = self.base.len.saturating_add(1);
        is_new
    }

    /// The number of counters.
    #[must_use]
    pub const fn counters(&self) -> u64 {
        self.counters
    }

    /// The number of hash functions, k.
    #[must_use]
    pub const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// Counters that reached 15 and are never lowered again. O(counters).
    #[must_use]
    pub fn stuck_counters(&self) -> u64 {
        let all_ones = |word: u64| {
            let pairs = word & word >> 1;
            (pairs & pairs >> 2 & 0x1111_1111_1111_1111).count_ones()
        };
        self.words.iter().map(|&word| u64::from(all_ones(word))).sum()
    }

    /// Adds to each of a key's counters what `change` returns for it.
    #[inline(always)]
    fn update(&mut self, hash: u64, mut change: impl FnMut(u64) -> u64) {
        let mut positions = Positions::new(hash, self.counters);
        for _ in 0..self.hashes {
            let (at, shift) = split(positions.next());
            let word = &mut self.words[at];
            // A counter stays within 0 to 15, so the sum never carries into its neighbour.
            *word = word.wrapping_add(change(*word >> shift & SATURATED) << shift);
        }
    }

    #[inline(always)]
    fn counters_of(&self, hash: u64) -> impl Iterator<Item = u64> {
        let mut positions = Positions::new(hash, self.counters);
        (0..self.hashes).map(move |_| {
            let (at, shift) = split(positions.next());
            self.words[at] >> shift & SATURATED
        })
    }
}

/// The word of a counter, and its lowest bit in it.
#[inline(always)]
fn split(counter: u64) -> (usize, u64) {
    (index(counter / COUNTERS_PER_WORD), counter % COUNTERS_PER_WORD * 4)
}

impl RemovableFilter for CountingBloomFilter {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        if !self.contains_hash(hash) {
            return false;
        }
        // A key that was never inserted may have one counter twice, and more copies of it than
        // the counter says; hence the check against zero.
        self.update(hash, |counter| {
            if counter == 0 || counter == SATURATED { 0 } else { 1_u64.wrapping_neg() }
        });
        self.base.len = self.base.len.saturating_sub(1);
        true
    }

    /// The least of the key's counters: never too low up to 14; 15 means "15 or more".
    #[inline]
    fn count_hash(&self, hash: u64) -> u64 {
        self.counters_of(hash).min().unwrap_or(0)
    }
}

impl Filter for CountingBloomFilter {
    /// With the fewest counters.
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        let (counters, hashes) = positions_for("counting Bloom filter", capacity, fpr)?;
        let mut filter = Self::with_geometry(counters, hashes, hasher)?;
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
        self.counters_of(hash).all(|counter| counter != 0)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        Positions::new(hash, self.counters).prefetch(
            &self.words,
            looked_at(self.hashes),
            COUNTERS_PER_WORD,
        );
    }

    #[inline]
    fn prefetch_update_hash(&self, hash: u64) {
        Positions::new(hash, self.counters).prefetch(&self.words, self.hashes, COUNTERS_PER_WORD);
    }

    /// The rate of a Bloom filter with as many bits as this one has counters (thesis, eq. 1.5).
    fn expected_fpr(&self) -> f64 {
        bloom_fpr(self.counters, self.base.len, self.hashes)
    }

    fn size_in_bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn clear(&mut self) {
        self.words.fill(0);
        self.base.len = 0;
    }
}
