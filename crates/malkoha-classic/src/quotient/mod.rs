//! The quotient filter (Bender et al., VLDB 2012; paper, section 2.1).

mod blocks;
mod runs;

use malkoha::KeyHasher;

use crate::error::{BuildError, Full};
use crate::filter::{Base, Filter, RemovableFilter};
use crate::sizing::check_target;
use crate::words::{ceil, float};
use blocks::Blocks;

/// The share of slots that a filter built for a capacity fills at most.
const MAX_LOAD: f64 = 0.9;

/// A set of fingerprints, sorted, in an open hash table: the upper bits of a fingerprint, the
/// quotient, say where it belongs, and only the lower ones, the remainder, are stored.
///
/// * Each slot has the remainder and, on average, three bits: whether some key has this slot's
///   number as its quotient, whether the last remainder of a *run*, those of one quotient, lies
///   here, and a 64th of a number for 64 slots that says where their runs begin. The paper's
///   `is_occupied`, `is_continuation` and `is_shifted` take as much room.
/// * A run is found by a count of bits and a search for one, with the processor's instructions
///   where it has them (POPCNT and BMI2 of x86-64), however long the cluster that it lies in.
/// * False-positive rate: 1 - e^(-load / 2^r) for remainders of r bits (Bender et al., section 3).
/// * **The number of slots is a power of two**: a quotient is a whole number of bits. A filter
///   built for a capacity is therefore filled to between 45 and 90 %.
/// * An operation touches one or two neighbouring cache lines, and more the longer clusters get:
///   about 1/(1-load)^2 slots. Any load below 1 works; above 0.9 all operations are slow.
/// * Copies of a key are kept, each in a slot of its own: `count` counts them, `remove` removes
///   one. They lengthen the cluster that they are in.
///
/// Removing keys that were never inserted may lose other keys: see [`RemovableFilter`].
///
/// ```
/// use malkoha_classic::{Filter, QuotientFilter, RemovableFilter};
///
/// let mut seen = QuotientFilter::with_capacity(1_000_000, 0.001)?;
/// seen.insert("cuckoo")?;
/// assert!(seen.contains("cuckoo"));
/// assert!(seen.remove("cuckoo"));
/// assert!(seen.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotientFilter {
    blocks: Blocks,
    base: Base,
}

impl QuotientFilter {
    /// A filter of 2^`quotient_bits` slots (6 to 38) with remainders of `remainder_bits` bits (1
    /// to 48, together at most 64). Its capacity is 0.9 of the slots, and all but one can be used.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(
        quotient_bits: u32,
        remainder_bits: u32,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        BuildError::check_range("number of quotient bits", quotient_bits.into(), 6..=38)?;
        let most = (64 - u64::from(quotient_bits)).min(48);
        BuildError::check_range("number of remainder bits", remainder_bits.into(), 1..=most)?;
        let blocks = Blocks::new(quotient_bits, remainder_bits)?;
        let capacity = ceil(float(blocks.slots()) * MAX_LOAD);
        Ok(Self { blocks, base: Base::new(hasher, capacity) })
    }

    /// The number of slots, a power of two.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.blocks.slots()
    }

    /// Bits of a fingerprint that are stored.
    #[must_use]
    pub fn remainder_bits(&self) -> u32 {
        self.blocks.remainder_bits()
    }

    /// Bits of a fingerprint that say where it belongs: the base-2 logarithm of [`slots`](Self::slots).
    #[must_use]
    pub fn quotient_bits(&self) -> u32 {
        self.slots().trailing_zeros()
    }

    /// The quotient and the remainder: the upper bits of the hash, and those below them.
    #[inline(always)]
    fn split(&self, hash: u64) -> (u64, u64) {
        let (q, r) = (self.quotient_bits(), self.remainder_bits());
        (hash >> (64 - q), (hash << q) >> (64 - r))
    }
}

/// The false-positive rate of a quotient filter with remainders of `remainder_bits` bits, of whose
/// slots the share `load` is occupied by different keys: 1 - e^(-load / 2^r) (Bender et al. 2012,
/// section 3).
#[must_use]
pub fn quotient_filter_fpr(remainder_bits: u32, load: f64) -> f64 {
    -(-load / f64::from(remainder_bits).exp2()).exp_m1()
}

impl RemovableFilter for QuotientFilter {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        let (quotient, remainder) = self.split(hash);
        let removed = self.blocks.remove(quotient, remainder);
        self.base.len -= u64::from(removed);
        removed
    }

    #[inline]
    fn count_hash(&self, hash: u64) -> u64 {
        let (quotient, remainder) = self.split(hash);
        self.blocks.count(quotient, remainder)
    }
}

impl Filter for QuotientFilter {
    /// Filled to at most 0.9, with remainders of at most 48 bits.
    fn with_capacity_and_hasher(
        capacity: u64,
        fpr: f64,
        hasher: KeyHasher,
    ) -> Result<Self, BuildError> {
        check_target(capacity, fpr)?;
        let slots = ceil(float(capacity) / MAX_LOAD).next_power_of_two();
        let quotient_bits = slots.trailing_zeros().max(6);
        let load = float(capacity) / float(1 << quotient_bits);
        let remainder_bits = (1..=48)
            .find(|&bits| quotient_filter_fpr(bits, load) <= fpr)
            .filter(|&bits| quotient_bits + bits <= 64)
            .ok_or(BuildError::FprTooSmall {
                structure: "quotient filter",
                capacity,
                asked: fpr,
            })?;
        let mut filter = Self::with_geometry(quotient_bits, remainder_bits, hasher)?;
        filter.base.capacity = capacity;
        Ok(filter)
    }

    fn base(&self) -> &Base {
        &self.base
    }

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        // One slot stays free, so that every scan of a cluster ends.
        if self.base.len + 1 >= self.slots() {
            return Err(self.base.full());
        }
        let (quotient, remainder) = self.split(hash);
        self.blocks.insert(quotient, remainder);
        self.base.len += 1;
        Ok(())
    }

    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        let (quotient, remainder) = self.split(hash);
        self.blocks.contains(quotient, remainder)
    }

    #[inline]
    fn prefetch_hash(&self, hash: u64) {
        self.blocks.prefetch(self.split(hash).0);
    }

    fn load_factor(&self) -> f64 {
        float(self.base.len) / float(self.slots())
    }

    fn expected_fpr(&self) -> f64 {
        quotient_filter_fpr(self.remainder_bits(), self.load_factor())
    }

    fn size_in_bytes(&self) -> u64 {
        self.blocks.words().len() as u64 * 8
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.base.len = 0;
    }
}
