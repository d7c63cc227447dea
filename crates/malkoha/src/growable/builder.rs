//! Choosing a growable filter.

use super::map::GrowableCuckooMap;
use super::set::GrowableCuckooFilter;
use super::shape::Shape;
use super::table::GrowTable;
use crate::builder::DEFAULT_SEED;
use crate::concurrent::GrowableConcurrentCuckooFilter;
use crate::error::BuildError;
use crate::key::{KeyHasher, random_seed};
use crate::locks::Locking;

/// Builds a [`GrowableCuckooFilter`] or a [`GrowableCuckooMap`]: a capacity to begin with, a false-positive rate, and how far
/// that rate shall hold.
#[derive(Clone, Debug)]
#[must_use]
pub struct GrowableBuilder {
    capacity: u64,
    fpr: f64,
    growth: f64,
    seed: u64,
}

impl Default for GrowableBuilder {
    fn default() -> Self {
        Self { capacity: 1, fpr: 0.001, growth: 1024.0, seed: DEFAULT_SEED }
    }
}

impl GrowableBuilder {
    /// One key to begin with, rate 0.001, growth 1024; the same as
    /// [`GrowableCuckooFilter::builder`].
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of keys to begin with, 1 to 2^36.
    pub fn capacity(mut self, keys: u64) -> Self {
        self.capacity = keys;
        self
    }

    /// The highest false-positive rate until the filter has grown to `growth` times its capacity,
    /// above 0 and below 1.
    pub fn fpr(mut self, rate: f64) -> Self {
        self.fpr = rate;
        self
    }

    /// How many times its capacity the filter may grow to at that rate: 1 to 10^9, or to some 10^7 from a
    /// large capacity, where fingerprints of 30 bits are spent. A bit a key for the first doubling, and
    /// ever less.
    pub fn growth(mut self, factor: f64) -> Self {
        self.growth = factor;
        self
    }

    /// The seed of the hash; 0 unless told, so that equal inputs give equal filters.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A seed that nobody can guess: for keys that an attacker may choose.
    pub fn random_seed(self) -> Self {
        self.seed(random_seed())
    }

    /// Builds the filter, empty.
    ///
    /// # Errors
    ///
    /// If no filter of this library is like that, or the system does not give the memory; the message
    /// says what to change.
    pub fn build(&self) -> Result<GrowableCuckooFilter, BuildError> {
        let table = self.table(0)?;
        Ok(GrowableCuckooFilter::from_table(table, KeyHasher::new(self.seed)))
    }

    /// Builds a map for values of at most `value_bits` bits, 0 to 64, empty. The rate is then the
    /// number of candidates of a key that is not in.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    pub fn build_map(&self, value_bits: u32) -> Result<GrowableCuckooMap, BuildError> {
        let table = self.table(value_bits)?;
        Ok(GrowableCuckooMap::from_table(table, KeyHasher::new(self.seed)))
    }

    /// Builds a filter that threads share, empty, with the locks that `P` says.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build); its growth is 65,536 at most, and less where it would lead to more than
    /// some 10^11 keys.
    pub fn build_concurrent<P: Locking>(
        &self,
    ) -> Result<GrowableConcurrentCuckooFilter<P>, BuildError> {
        GrowableConcurrentCuckooFilter::growing(self.capacity, self.fpr, self.growth, self.seed)
    }

    fn table(&self, value_bits: u32) -> Result<GrowTable, BuildError> {
        let (shape, buckets) = Shape::new(self.capacity, self.fpr, self.growth, value_bits)?;
        GrowTable::new(shape, buckets, self.capacity)
    }
}
