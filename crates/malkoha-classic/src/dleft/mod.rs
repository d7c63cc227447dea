//! The d-left counting Bloom filter (Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, ESA
//! 2006; paper, section 2.1 and its footnote on false deletes).

mod lanes;

use malkoha::KeyHasher;

use crate::arch::prefetch;
use crate::error::{BuildError, Full};
use crate::filter::{Base, Filter, RemovableFilter};
use crate::sizing::check_target;
use crate::words::{allocate, ceil, derive, float, index, ones, read, read_word, scale, write};
use lanes::Lanes;

/// Subtables, d.
const SUBTABLES: usize = 4;
/// Slots per bucket.
const BUCKET_SIZE: usize = 4;
const SLOTS_PER_ROW: u64 = (SUBTABLES * BUCKET_SIZE) as u64;
/// The share of slots that a filter built for a capacity fills. Inserts begin to fail at about
/// 0.78 (paper, section 7.1).
const LOAD: f64 = 0.75;
const DEFAULT_COUNTER_BITS: u32 = 2;
const MAX_BUCKETS: u64 = 1 << 34;

/// A set of fingerprints in four subtables, each key in the least loaded of its four buckets.
///
/// * Each key has one bucket of four slots in each subtable; it goes into the least loaded one,
///   the leftmost of equals. No key is ever moved, so the filter is full at about 78 %.
/// * False-positive rate: 1 - (1 - 2^-f)^(16 * load) for fingerprints of f bits, since a lookup
///   compares 16 slots. A lookup touches four places of memory, whatever the size.
/// * Any number of buckets; no power of two.
///
/// # Why removals are safe
///
/// In a naive d-left filter two keys may share a fingerprint and *one* bucket; removing one of them
/// may then take the other's fingerprint out of it. Here, as by Bonomi et al., the four buckets
/// follow from one bucket number and the fingerprint, each by a permutation: keys with equal
/// fingerprints share all four buckets or none. Equal fingerprints in the same buckets are
/// therefore interchangeable, and one slot holds them with a small counter. Counters do not
/// saturate: when one is at its maximum, the next copy takes another slot. So the filter holds up
/// to 16 slots times the counter's maximum of copies of one key (48 with 2 bits) and refuses more;
/// no copy is ever lost.
///
/// Removing keys that were never inserted may lose other keys: see [`RemovableFilter`].
///
/// ```
/// use malkoha_classic::{DLeftCountingFilter, Filter, RemovableFilter};
///
/// let mut seen = DLeftCountingFilter::with_capacity(1_000_000, 0.001)?;
/// seen.insert("cuckoo")?;
/// seen.insert("cuckoo")?;
/// assert_eq!(seen.count("cuckoo"), 2);
/// assert!(seen.remove("cuckoo"));
/// assert!(seen.contains("cuckoo"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DLeftCountingFilter {
    words: Vec<u64>,
    /// Buckets per subtable.
    buckets: u64,
    fingerprint_bits: u32,
    counter_bits: u32,
    lanes: Lanes,
    base: Base,
    /// Slots in use, fewer than `len` where counters exceed one.
    occupied: u64,
}

/// A key's fingerprint, and the number of its bucket in each subtable.
#[derive(Clone, Copy)]
struct Probe {
    fingerprint: u64,
    buckets: [u64; SUBTABLES],
}

/// A slot that is in use: its first bit in the table, and what it holds.
#[derive(Clone, Copy)]
struct Found {
    bit: u64,
    value: u64,
}

impl DLeftCountingFilter {
    /// A filter of four subtables of `buckets` buckets (any number up to 2^34) of four slots, each
    /// with a fingerprint of `fingerprint_bits` bits (4 to 31) and a counter of `counter_bits` bits
    /// (1 to 8, together at most 32). Its capacity is 0.75 of the slots.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(
        buckets: u64,
        fingerprint_bits: u32,
        counter_bits: u32,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        BuildError::check_range("number of buckets a subtable", buckets, 1..=MAX_BUCKETS)?;
        BuildError::check_range("number of counter bits", counter_bits.into(), 1..=8)?;
        let most = 32 - u64::from(counter_bits);
        BuildError::check_range("number of fingerprint bits", fingerprint_bits.into(), 4..=most)?;
        let bits = buckets * SLOTS_PER_ROW * u64::from(fingerprint_bits + counter_bits);
        Ok(Self {
            // One more, because reading takes two words at a time.
            words: allocate(bits.div_ceil(64) + 1, || 0)?,
            buckets,
            fingerprint_bits,
            counter_bits,
            lanes: Lanes::new(fingerprint_bits, counter_bits),
            base: Base::new(hasher, ceil(float(buckets * SLOTS_PER_ROW) * LOAD)),
            occupied: 0,
        })
    }

    /// Slots in all subtables.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        self.buckets * SLOTS_PER_ROW
    }

    /// Bits per fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Bits per counter.
    #[must_use]
    pub const fn counter_bits(&self) -> u32 {
        self.counter_bits
    }

    /// Slots in use: one for each fingerprint in its buckets, not for each copy.
    #[must_use]
    pub const fn occupied(&self) -> u64 {
        self.occupied
    }

    #[inline(always)]
    const fn slot_bits(&self) -> u32 {
        self.fingerprint_bits + self.counter_bits
    }

    /// The value of a full counter.
    #[inline(always)]
    const fn counter_end(&self) -> u64 {
        ones(self.counter_bits)
    }

    #[inline(always)]
    fn probe(&self, hash: u64) -> Probe {
        let bucket = scale(hash, self.buckets);
        let fingerprint = derive(hash, 0) & ones(self.fingerprint_bits);
        // Each fingerprint rotates the bucket numbers by its own amount: a permutation of all pairs
        // (bucket, fingerprint), for any number of buckets.
        let spread = derive(fingerprint, 1);
        let rotated = |which: u64| {
            let sum = bucket + scale(derive(spread, which), self.buckets);
            let wraps = 0_u64.wrapping_sub(u64::from(sum >= self.buckets));
            sum - (self.buckets & wraps)
        };
        Probe { fingerprint, buckets: [bucket, rotated(1), rotated(2), rotated(3)] }
    }

    /// The first bit of a slot, counted through all subtables.
    #[inline(always)]
    fn bit(&self, slot: u64) -> u64 {
        slot * u64::from(self.slot_bits())
    }

    /// The first bit of a word of a key's bucket in a subtable.
    #[inline(always)]
    fn word_bit(&self, probe: Probe, subtable: usize, word: usize) -> u64 {
        let bucket = subtable as u64 * self.buckets + probe.buckets[subtable];
        self.bit(bucket * BUCKET_SIZE as u64 + 2 * word as u64)
    }

    /// The words of a key's four buckets, from left to right: one of each bucket, or two if its
    /// slots have more than 16 bits.
    #[inline(always)]
    fn buckets<const WORDS: usize>(&self, probe: Probe) -> [[u64; WORDS]; SUBTABLES] {
        std::array::from_fn(|subtable| {
            std::array::from_fn(|word| read_word(&self.words, self.word_bit(probe, subtable, word)))
        })
    }

    #[inline(always)]
    fn set(&mut self, bit: u64, value: u64) {
        let width = self.slot_bits();
        write(&mut self.words, bit, width, value);
    }

    #[inline(always)]
    fn holds<const WORDS: usize>(&self, probe: Probe) -> bool {
        let mut holding = 0;
        // Always all four buckets: branches between them would be mispredicted, and their cache
        // misses would wait for one another.
        for word in self.buckets::<WORDS>(probe).as_flattened() {
            holding |= self.lanes.holding(*word, probe.fingerprint);
        }
        holding != 0
    }

    /// The slots that hold the key's fingerprint, from left to right.
    fn matches(&self, probe: Probe) -> impl Iterator<Item = Found> {
        (0..SUBTABLES * BUCKET_SIZE).filter_map(move |at| {
            let (subtable, slot) = (at / BUCKET_SIZE, at % BUCKET_SIZE);
            let bit = self.word_bit(probe, subtable, 0) + self.bit(slot as u64);
            let value = read(&self.words, bit, self.slot_bits());
            let fingerprint = value >> self.counter_bits;
            let is_it = value & self.counter_end() != 0 && fingerprint == probe.fingerprint;
            is_it.then_some(Found { bit, value })
        })
    }

    /// The last slot that holds the key's fingerprint.
    #[inline(always)]
    fn last_match<const WORDS: usize>(&self, probe: Probe) -> Option<Found> {
        let buckets = self.buckets::<WORDS>(probe);
        let words = buckets.as_flattened();
        let mut last = None;
        for (at, &word) in words.iter().enumerate() {
            let holding = self.lanes.holding(word, probe.fingerprint);
            // Without a branch: which bucket it lies in cannot be predicted.
            last = if holding != 0 { Some((at, holding)) } else { last };
        }
        let (at, holding) = last?;
        let highest = 63 - holding.leading_zeros();
        let bit = self.word_bit(probe, at / WORDS, at % WORDS) + u64::from(highest);
        Some(Found { bit, value: words[at] >> highest & ones(self.slot_bits()) })
    }

    /// The first bit of the first free slot of the least loaded bucket, the leftmost of equals; and
    /// whether any of the buckets holds the fingerprint.
    #[inline(always)]
    fn vacancy<const WORDS: usize>(&self, probe: Probe) -> (Option<u64>, bool) {
        let buckets = self.buckets::<WORDS>(probe);
        let (mut best, mut holding) = (0, 0);
        for (subtable, words) in (0..).zip(&buckets) {
            let mut free = 0;
            for &word in words {
                holding |= self.lanes.holding(word, probe.fingerprint);
                free += self.lanes.count(self.lanes.empty(word));
            }
            // Without a branch: which is the least loaded cannot be predicted.
            best = best.max(free << 2 | (SUBTABLES as u64 - 1 - subtable));
        }
        let subtable = SUBTABLES - 1 - index(best & 3);
        let free_slot = || {
            let mut words = (0..).zip(&buckets[subtable]);
            words.find_map(|(at, &word)| match self.lanes.empty(word) {
                0 => None,
                empty => {
                    let lowest = u64::from(empty.trailing_zeros());
                    Some(self.word_bit(probe, subtable, at) + lowest)
                }
            })
        };
        (if best >> 2 == 0 { None } else { free_slot() }, holding != 0)
    }
}

impl RemovableFilter for DLeftCountingFilter {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        // The last slot of several: those before it have full counters, as in a fresh filter.
        let probe = self.probe(hash);
        let last = match self.lanes.words() {
            1 => self.last_match::<1>(probe),
            _ => self.last_match::<2>(probe),
        };
        let Some(Found { bit, value }) = last else { return false };
        let counter = value & self.counter_end();
        if counter == 1 {
            self.set(bit, 0);
            self.occupied -= 1;
        } else {
            self.set(bit, value - 1);
        }
        self.base.len -= 1;
        true
    }

    fn count_hash(&self, hash: u64) -> u64 {
        self.matches(self.probe(hash)).map(|found| found.value & self.counter_end()).sum()
    }
}

impl Filter for DLeftCountingFilter {
    /// With counters of 2 bits.
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        check_target(capacity, fpr)?;
        // One row more, because in very small tables the loads of buckets differ more.
        let buckets = ceil(float(capacity) / LOAD / float(SLOTS_PER_ROW)) + 1;
        let row_load = float(capacity) / float(buckets);
        let fingerprint_bits = (4..=30).find(|&bits| d_left_fpr(bits, row_load) <= fpr).ok_or({
            BuildError::FprTooSmall { structure: "d-left counting filter", capacity, asked: fpr }
        })?;
        let mut filter =
            Self::with_geometry(buckets, fingerprint_bits, DEFAULT_COUNTER_BITS, hasher)?;
        filter.base.capacity = capacity;
        Ok(filter)
    }

    fn base(&self) -> &Base {
        &self.base
    }

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        let probe = self.probe(hash);
        let end = self.counter_end();
        let (vacancy, is_copy) = match self.lanes.words() {
            1 => self.vacancy::<1>(probe),
            _ => self.vacancy::<2>(probe),
        };
        let growing = |found: &Found| found.value & end != end;
        let copy = if is_copy { self.matches(probe).find(growing) } else { None };
        if let Some(found) = copy {
            self.set(found.bit, found.value + 1);
        } else if let Some(bit) = vacancy {
            self.set(bit, probe.fingerprint << self.counter_bits | 1);
            self.occupied += 1;
        } else {
            return Err(self.base.full());
        }
        self.base.len += 1;
        Ok(())
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let probe = self.probe(hash);
        if self.lanes.words() == 1 { self.holds::<1>(probe) } else { self.holds::<2>(probe) }
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let probe = self.probe(hash);
        for subtable in 0..SUBTABLES {
            prefetch(&self.words, index(self.word_bit(probe, subtable, 0) >> 6));
        }
    }

    fn load_factor(&self) -> f64 {
        float(self.occupied) / float(self.slots())
    }

    fn expected_fpr(&self) -> f64 {
        d_left_fpr(self.fingerprint_bits, float(self.occupied) / float(self.buckets))
    }

    fn size_in_bytes(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    fn clear(&mut self) {
        self.words.fill(0);
        (self.base.len, self.occupied) = (0, 0);
    }
}

/// The false-positive rate of a d-left filter in which `fingerprints_per_row` different
/// fingerprints fall on each row of four buckets: 1 - (1 - 2^-f)^n. An absent key is one of
/// buckets * 2^f pairs (bucket, fingerprint), of which buckets * n are in.
#[must_use]
pub fn d_left_fpr(fingerprint_bits: u32, fingerprints_per_row: f64) -> f64 {
    -(fingerprints_per_row * (-f64::from(fingerprint_bits).exp2().recip()).ln_1p()).exp_m1()
}
