//! Bloom filters of bits (Bloom 1970; paper, section 2.1; thesis, section 1.1), and of counters
//! (Fan, Cao, Almeida and Broder 1998; paper, section 2.1).

use malkoha::params::bloom_fpr;
use malkoha::{Key, KeyHasher};

use crate::double_hash::{Positions, looked_at};
use crate::error::{BuildError, Full};
use crate::filter::{Base, Filter, RemovableFilter};
use crate::sizing::{MAX_POSITIONS, best_capacity, check_hashes, positions_for};
use crate::words::{allocate, index};

/// A set of keys as bits: each key sets k bits, and is in if all its bits are set.
///
/// * log2(1/fpr) * 1.44 bits per key with the best k (thesis, eq. 1.18), of any total size.
/// * An insert or a lookup of a key that is in touches k places of memory, a lookup of a key that
///   is not in about two. A batch ([`Filter::contains_many`]) overlaps their cache misses.
/// * Never full: more keys than the capacity raise the false-positive rate.
/// * Keys cannot be removed ([`CountingBloomFilter`] can), and copies of a key change nothing.
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
pub type BloomFilter = Bloom<1>;

/// A Bloom filter with a counter of four bits instead of each bit, so that keys can be
/// removed: four times the space of [`BloomFilter`].
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
/// and the stuck ones raise the false-positive rate.
/// [`stuck_counters`](CountingBloomFilter::stuck_counters) returns how many there are: at the
/// capacity, with different keys, one in 10^15 (their values are Poisson with mean ln 2).
/// [`Filter::clear`] resets them.
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
pub type CountingBloomFilter = Bloom<4>;

/// A [`BloomFilter`], whose counters have one bit, or a [`CountingBloomFilter`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bloom<const COUNTER_BITS: u32> {
    words: Vec<u64>,
    counters: u64,
    hashes: u32,
    base: Base,
}

impl<const COUNTER_BITS: u32> Bloom<COUNTER_BITS> {
    /// The largest value of a counter. It means "this many or more".
    const SATURATED: u64 = (1 << COUNTER_BITS) - 1;
    const COUNTERS_PER_WORD: u64 = 64 / COUNTER_BITS as u64;
    const NAME: &str = if COUNTER_BITS == 1 { "Bloom filter" } else { "counting Bloom filter" };

    /// A filter of this many bits or counters (any number up to 2^43), of which each key has
    /// `hashes` (1 to 64). Its capacity is the number of keys for which that many hash functions
    /// are the best.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(
        counters: u64,
        hashes: u32,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        const { assert!(COUNTER_BITS == 1 || COUNTER_BITS == 4) };
        BuildError::check_range("number of bits or counters", counters, 1..=MAX_POSITIONS)?;
        check_hashes(hashes)?;
        let words = allocate(counters.div_ceil(Self::COUNTERS_PER_WORD), || 0)?;
        let base = Base::new(hasher, best_capacity(counters, hashes));
        Ok(Self { words, counters, hashes, base })
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
        let mut is_new = false;
        self.update(hash, |counter| {
            is_new |= counter == 0;
            if COUNTER_BITS == 1 { 1 } else { u64::from(counter < Self::SATURATED) }
        });
        self.base.len = self.base.len.saturating_add(1);
        is_new
    }

    /// The number of hash functions, k.
    #[must_use]
    pub const fn hashes(&self) -> u32 {
        self.hashes
    }

    /// The word of a counter, and its lowest bit in it.
    #[inline(always)]
    fn split(counter: u64) -> (usize, u64) {
        let in_word = counter % Self::COUNTERS_PER_WORD;
        (index(counter / Self::COUNTERS_PER_WORD), in_word * u64::from(COUNTER_BITS))
    }

    /// Adds to each of a key's counters what `change` returns for it.
    #[inline(always)]
    fn update(&mut self, hash: u64, mut change: impl FnMut(u64) -> u64) {
        let mut positions = Positions::new(hash, self.counters);
        for _ in 0..self.hashes {
            let (at, shift) = Self::split(positions.next());
            let word = &mut self.words[at];
            let change = change(*word >> shift & Self::SATURATED) << shift;
            // A counter stays within its bits, so the sum never carries into its neighbour.
            *word = if COUNTER_BITS == 1 { *word | change } else { word.wrapping_add(change) };
        }
    }

    #[inline(always)]
    fn counters_of(&self, hash: u64) -> impl Iterator<Item = u64> {
        let mut positions = Positions::new(hash, self.counters);
        (0..self.hashes).map(move |_| {
            let (at, shift) = Self::split(positions.next());
            self.words[at] >> shift & Self::SATURATED
        })
    }
}

impl BloomFilter {
    /// Bits of the table.
    #[must_use]
    pub const fn bits(&self) -> u64 {
        self.counters
    }

    /// Bits that are set, counted one by one: O(bits). Half of them at the best load.
    #[must_use]
    pub fn ones(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Adds all keys of a filter of the same geometry and hasher. Returns `false`, and does
    /// nothing, if one of these differs.
    pub fn union(&mut self, other: &Self) -> bool {
        let same = (self.counters, self.hashes, self.base.hasher)
            == (other.counters, other.hashes, other.base.hasher);
        if same {
            self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
            self.base.len = self.base.len.saturating_add(other.base.len);
        }
        same
    }
}

impl CountingBloomFilter {
    /// The number of counters.
    #[must_use]
    pub const fn counters(&self) -> u64 {
        self.counters
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
            if counter == 0 || counter == Self::SATURATED { 0 } else { 1_u64.wrapping_neg() }
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

impl<const COUNTER_BITS: u32> Filter for Bloom<COUNTER_BITS> {
    /// In the fewest bits or counters.
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        let (counters, hashes) = positions_for(Self::NAME, capacity, fpr)?;
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
        let positions = Positions::new(hash, self.counters);
        positions.prefetch(&self.words, looked_at(self.hashes), Self::COUNTERS_PER_WORD);
    }

    #[inline]
    fn prefetch_update_hash(&self, hash: u64) {
        let positions = Positions::new(hash, self.counters);
        positions.prefetch(&self.words, self.hashes, Self::COUNTERS_PER_WORD);
    }

    /// (1 - (1 - 1/m)^(kn))^k (thesis, eq. 1.5), for n different keys and m bits or counters.
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
