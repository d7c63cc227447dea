//! The d-left counting Bloom filter (Bonomi, Mitzenmacher, Panigrahy, Singh and Varghese, ESA
//! 2006; paper, section 2.1 and its footnote on false deletes).

use std::io::{self, Read, Write};

use malkoha::KeyHasher;

use crate::arch::prefetch;
use crate::bloom::check_target;
use crate::error::{BuildError, Full, ReadError};
use crate::filter::{Filter, RemovableFilter};
use crate::format::{Header, Kind, read_header, read_words, write_words};
use crate::words::{ceil, derive, float, index, ones, read, scale, write, zeroed};

/// Subtables, d.
const SUBTABLES: usize = 4;
/// Slots a bucket.
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
///   the leftmost of equals. Nothing is ever moved, so the filter is full at about 78 %.
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
/// therefore one and the same for every purpose, and one slot holds them with a small counter. A
/// counter that is at its end is not saturated: the next copy takes another slot. So copies of
/// one key fill at most 16 slots times the counter's reach (48 with 2 bits) before the filter
/// refuses more of them, and nothing is ever forgotten.
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
    /// Buckets a subtable.
    buckets: u64,
    fingerprint_bits: u32,
    counter_bits: u32,
    hasher: KeyHasher,
    capacity: u64,
    len: u64,
    /// Slots in use, fewer than `len` where counters exceed one.
    occupied: u64,
}

/// A key's fingerprint, and the number of its bucket in each subtable.
#[derive(Clone, Copy)]
struct Probe {
    fingerprint: u64,
    buckets: [u64; SUBTABLES],
}

/// A slot: subtable, bucket of it, slot in the bucket, and what it holds.
#[derive(Clone, Copy)]
struct Found {
    cell: u64,
    value: u64,
}

impl DLeftCountingFilter {
    /// A filter for `capacity` keys (1 to 2^36) with at most this false-positive rate when they
    /// are in, with counters of 2 bits.
    ///
    /// # Errors
    ///
    /// If an argument is out of range, no fingerprint reaches the rate, or the memory is not to be
    /// had.
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::with_capacity_and_hasher(capacity, fpr, KeyHasher::new(0))
    }

    /// [`with_capacity`](Self::with_capacity) with a hasher of one's own.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        check_target(capacity, fpr)?;
        // One row more: in very small tables the loads of buckets differ more.
        let buckets = ceil(float(capacity) / LOAD / float(SLOTS_PER_ROW)) + 1;
        let row_load = float(capacity) / float(buckets);
        let fingerprint_bits = (4..=30).find(|&bits| d_left_fpr(bits, row_load) <= fpr).ok_or({
            BuildError::FprTooSmall { structure: "d-left counting filter", capacity, asked: fpr }
        })?;
        let filter = Self::with_geometry(buckets, fingerprint_bits, DEFAULT_COUNTER_BITS, hasher)?;
        Ok(Self { capacity, ..filter })
    }

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
        check_geometry(buckets, fingerprint_bits, counter_bits)?;
        let words = zeroed(words_for(buckets, fingerprint_bits + counter_bits))?;
        let capacity = ceil(float(buckets * SLOTS_PER_ROW) * LOAD);
        let (len, occupied) = (0, 0);
        Ok(Self { words, buckets, fingerprint_bits, counter_bits, hasher, capacity, len, occupied })
    }

    /// Slots in all subtables.
    #[must_use]
    pub const fn slots(&self) -> u64 {
        self.buckets * SLOTS_PER_ROW
    }

    /// Bits a fingerprint.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.fingerprint_bits
    }

    /// Bits a counter.
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

    /// What a full counter holds.
    #[inline(always)]
    const fn counter_end(&self) -> u64 {
        ones(self.counter_bits)
    }

    #[inline(always)]
    fn probe(&self, hash: u64) -> Probe {
        let bucket = scale(hash, self.buckets);
        let fingerprint = derive(hash, 0) & ones(self.fingerprint_bits);
        // For each fingerprint a rotation of the bucket numbers: a permutation of all pairs
        // (bucket, fingerprint), for any number of buckets.
        let spread = derive(fingerprint, 1);
        let rotated = |which: u64| {
            let sum = bucket + scale(derive(spread, which), self.buckets);
            let wraps = 0_u64.wrapping_sub(u64::from(sum >= self.buckets));
            sum - (self.buckets & wraps)
        };
        Probe { fingerprint, buckets: [bucket, rotated(1), rotated(2), rotated(3)] }
    }

    /// The first slot of a bucket, counted through all subtables.
    #[inline(always)]
    fn first_cell(&self, subtable: usize, bucket: u64) -> u64 {
        (subtable as u64 * self.buckets + bucket) * BUCKET_SIZE as u64
    }

    #[inline(always)]
    fn bit(&self, cell: u64) -> u64 {
        cell * u64::from(self.slot_bits())
    }

    /// The four slots of a bucket: fingerprint above, counter below; 0 where empty.
    #[inline(always)]
    fn bucket(&self, first_cell: u64) -> [u64; BUCKET_SIZE] {
        let (bits, at) = (self.slot_bits(), self.bit(first_cell));
        let low = read(&self.words, at, 2 * bits);
        let high = read(&self.words, at + 2 * u64::from(bits), 2 * bits);
        let mask = ones(bits);
        [low & mask, low >> bits, high & mask, high >> bits]
    }

    #[inline(always)]
    fn set(&mut self, cell: u64, value: u64) {
        let (bit, width) = (self.bit(cell), self.slot_bits());
        write(&mut self.words, bit, width, value);
    }

    /// The slots that hold the key's fingerprint, from left to right.
    #[inline(always)]
    fn matches(&self, probe: Probe) -> impl Iterator<Item = Found> {
        (0..SUBTABLES).flat_map(move |subtable| {
            let first = self.first_cell(subtable, probe.buckets[subtable]);
            let bucket = self.bucket(first);
            (0..BUCKET_SIZE).filter_map(move |lane| {
                let value = bucket[lane];
                self.holds(value, probe.fingerprint)
                    .then_some(Found { cell: first + lane as u64, value })
            })
        })
    }

    /// Whether a slot is in use and has this fingerprint: 1 to the counter's end above it.
    #[inline(always)]
    const fn holds(&self, slot: u64, fingerprint: u64) -> bool {
        slot.wrapping_sub((fingerprint << self.counter_bits) + 1) < self.counter_end()
    }

    /// The first free slot of the least loaded bucket, the leftmost of equals.
    fn vacancy(&self, probe: Probe) -> Option<u64> {
        let mut best = None;
        let mut least = BUCKET_SIZE;
        for (subtable, &bucket) in probe.buckets.iter().enumerate() {
            let first = self.first_cell(subtable, bucket);
            let slots = self.bucket(first);
            let load = slots.iter().filter(|&&slot| slot != 0).count();
            if load < least {
                least = load;
                let lane = slots.iter().position(|&slot| slot == 0);
                best = lane.map(|lane| first + lane as u64);
            }
        }
        best
    }
}

impl RemovableFilter for DLeftCountingFilter {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        // The last slot of several: those before it have full counters, as in a fresh filter.
        let Some(found) = self.matches(self.probe(hash)).last() else { return false };
        let counter = found.value & self.counter_end();
        if counter == 1 {
            self.set(found.cell, 0);
            self.occupied -= 1;
        } else {
            self.set(found.cell, found.value - 1);
        }
        self.len -= 1;
        true
    }

    fn count_hash(&self, hash: u64) -> u64 {
        self.matches(self.probe(hash)).map(|found| found.value & self.counter_end()).sum()
    }
}

impl Filter for DLeftCountingFilter {
    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        let probe = self.probe(hash);
        let end = self.counter_end();
        let growing = self.matches(probe).find(|found| found.value & end != end);
        if let Some(found) = growing {
            self.set(found.cell, found.value + 1);
        } else if let Some(cell) = self.vacancy(probe) {
            self.set(cell, probe.fingerprint << self.counter_bits | 1);
            self.occupied += 1;
        } else {
            return Err(Full { len: self.len, capacity: self.capacity });
        }
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let probe = self.probe(hash);
        let mut found = false;
        // All four buckets always: branches between them would be mispredicted, and their cache
        // misses would wait for one another.
        for (subtable, &bucket) in probe.buckets.iter().enumerate() {
            for slot in self.bucket(self.first_cell(subtable, bucket)) {
                found |= self.holds(slot, probe.fingerprint);
            }
        }
        found
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        let probe = self.probe(hash);
        for (subtable, &bucket) in probe.buckets.iter().enumerate() {
            prefetch(&self.words, index(self.bit(self.first_cell(subtable, bucket)) >> 6));
        }
    }

    fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn capacity(&self) -> u64 {
        self.capacity
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
        (self.len, self.occupied) = (0, 0);
    }

    fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        let header = Header::of(
            self,
            Kind::DLeftCounting,
            [self.buckets, self.fingerprint_bits.into(), self.counter_bits.into(), 0],
        );
        write_words(writer, header, self.words.iter().copied())
    }

    fn read_from<R: Read>(mut reader: R) -> Result<Self, ReadError> {
        let header = read_header(&mut reader, Kind::DLeftCounting)?;
        let fingerprint_bits = header.narrow("fingerprint bits", 1)?;
        let counter_bits = header.narrow("counter bits", 2)?;
        let buckets = header.shape[0];
        check_geometry(buckets, fingerprint_bits, counter_bits)
            .map_err(|_| Header::impossible("buckets", buckets))?;
        header.expect_words(words_for(buckets, fingerprint_bits + counter_bits))?;
        let words = read_words(&mut reader, &header)?;
        let (hasher, occupied) = (header.hasher, 0);
        let Header { capacity, len, .. } = header;
        let mut filter = Self {
            words,
            buckets,
            fingerprint_bits,
            counter_bits,
            hasher,
            capacity,
            len,
            occupied,
        };
        filter.recount().map_err(ReadError::Table)?;
        Ok(filter)
    }
}

impl DLeftCountingFilter {
    /// Counts slots and keys in a table that was read.
    fn recount(&mut self) -> Result<(), &'static str> {
        let mut keys = 0;
        for cell in 0..self.slots() {
            let slot = read(&self.words, self.bit(cell), self.slot_bits());
            let counter = slot & self.counter_end();
            if slot != 0 && counter == 0 {
                return Err("an empty slot has a fingerprint");
            }
            keys += counter;
            self.occupied += u64::from(slot != 0);
        }
        let end = self.bit(self.slots());
        let rest = self.words[index(end >> 6)] >> (end & 63);
        let after = &self.words[index(end >> 6) + 1..];
        if rest != 0 || after.iter().any(|&word| word != 0) {
            return Err("bits after the last slot are set");
        }
        if keys == self.len { Ok(()) } else { Err("the header counts other than the table") }
    }
}

/// The false-positive rate of a d-left filter in which `fingerprints_per_row` different
/// fingerprints fall on each row of four buckets: 1 - (1 - 2^-f)^n. A key that is not in is one of
/// buckets * 2^f pairs (bucket, fingerprint), of which so many are in.
#[must_use]
pub fn d_left_fpr(fingerprint_bits: u32, fingerprints_per_row: f64) -> f64 {
    -(fingerprints_per_row * (-f64::from(fingerprint_bits).exp2().recip()).ln_1p()).exp_m1()
}

/// Words of the table; reading takes two words at a time, hence one more.
const fn words_for(buckets: u64, slot_bits: u32) -> u64 {
    (buckets * SLOTS_PER_ROW * slot_bits as u64).div_ceil(64) + 1
}

fn check_geometry(
    buckets: u64,
    fingerprint_bits: u32,
    counter_bits: u32,
) -> Result<(), BuildError> {
    BuildError::check_range("number of buckets a subtable", buckets, 1..=MAX_BUCKETS)?;
    BuildError::check_range("number of counter bits", counter_bits.into(), 1..=8)?;
    let most = 32 - u64::from(counter_bits);
    BuildError::check_range("number of fingerprint bits", fingerprint_bits.into(), 4..=most)
}
