//! Filters that grow. In the ordinary comparison they are told the number of keys beforehand, which
//! suits them best; with `--start`, a smaller one.

use anyhow::Result;
use expandable_cuckoo_filter::ExpandableCuckooFilter;
use growable_bloom_filter::GrowableBloom;
use rustc_hash::FxHasher;
use scalable_cuckoo_filter::{DefaultRng, ScalableCuckooFilter, ScalableCuckooFilterBuilder};

use crate::looped::Rival;

pub(crate) type Scalable = ScalableCuckooFilter<u64, FxHasher, DefaultRng>;

pub(crate) fn scalable(keys: usize, fpr: f64) -> Scalable {
    ScalableCuckooFilterBuilder::new()
        .initial_capacity(keys)
        .false_positive_probability(fpr)
        .hasher(FxHasher::default())
        .finish()
}

impl Rival for Scalable {
    fn insert(&mut self, key: u64) -> bool {
        Scalable::insert(self, &key);
        true
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        Scalable::remove(self, &key)
    }
    fn load(&self) -> Option<f64> {
        Some(self.len() as f64 / self.capacity() as f64)
    }
}

pub(crate) type Autoscale = autoscale_cuckoo_filter::CuckooFilter<u64>;

pub(crate) fn autoscale(keys: usize, fpr: f64) -> Autoscale {
    Autoscale::new(keys, fpr)
}

impl Rival for Autoscale {
    fn insert(&mut self, key: u64) -> bool {
        self.add(&key);
        true
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        Autoscale::remove(self, &key)
    }
    fn contains_many(&self, keys: &[u64], found: &mut [bool]) -> bool {
        self.contains_batch_into(keys, found);
        true
    }
    fn load(&self) -> Option<f64> {
        Some(self.load_factor())
    }
}

/// A chain of `cuckoofilter`s, each twice the last, which starts another at load 0.8: with room to
/// spare there is one.
pub(crate) fn expandable(keys: usize) -> ExpandableCuckooFilter {
    ExpandableCuckooFilter::new("lab", keys + keys / 4 + 1)
}

impl Rival for ExpandableCuckooFilter {
    fn insert(&mut self, key: u64) -> bool {
        ExpandableCuckooFilter::insert(self, &key)
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        ExpandableCuckooFilter::remove(self, &key)
    }
    fn load(&self) -> Option<f64> {
        None
    }
}

pub(crate) fn growable_bloom(keys: usize, fpr: f64) -> Result<GrowableBloom> {
    Ok(GrowableBloom::new(fpr, keys))
}

impl Rival for GrowableBloom {
    const REMOVES: bool = false;

    /// Answers `false` for a key that it takes for known already, which is no refusal.
    fn insert(&mut self, key: u64) -> bool {
        GrowableBloom::insert(self, key);
        true
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(key)
    }
    fn remove(&mut self, _: u64) -> bool {
        false
    }
    fn load(&self) -> Option<f64> {
        None
    }
}
