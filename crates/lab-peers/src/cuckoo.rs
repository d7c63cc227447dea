//! Cuckoo filters of fixed size. All of them round to a power of two, so their load depends on the
//! number of keys.

use std::hash::Hasher;

use anyhow::{Result, anyhow};
use rustc_hash::FxHasher;

use crate::looped::Rival;

impl<H: Hasher + Default> Rival for cuckoofilter::CuckooFilter<H> {
    fn insert(&mut self, key: u64) -> bool {
        self.add(&key).is_ok()
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        self.delete(&key)
    }
    fn load(&self) -> Option<f64> {
        Some(self.len() as f64 / (self.memory_usage() - size_of_val(self)) as f64)
    }
}

pub(crate) type Atomic = atomic_cuckoo_filter::CuckooFilter<FxHasher>;

/// It has fingerprints of 8, 16 and 32 bits and nothing between.
pub(crate) fn atomic(keys: usize, fpr: f64) -> Result<Atomic> {
    let builder = atomic_cuckoo_filter::CuckooFilterBuilder::<FxHasher>::default();
    // Paper, eq. 6, at the load that such a table is filled to.
    let reaches = |bits: &usize| 8.0 * 0.95 / f64::from(1 << bits) <= fpr;
    let bits = [8, 16].into_iter().find(reaches).unwrap_or(32);
    builder.capacity(keys).fingerprint_size(bits).build().map_err(|error| anyhow!("{error}"))
}

impl Rival for Atomic {
    fn insert(&mut self, key: u64) -> bool {
        Atomic::insert(self, &key).is_ok()
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        Atomic::remove(self, &key)
    }
    fn load(&self) -> Option<f64> {
        Some(self.len() as f64 / self.capacity() as f64)
    }
}

impl Rival for subms_cuckoo_filter::CuckooFilter {
    fn insert(&mut self, key: u64) -> bool {
        self.insert_bytes(&key.to_le_bytes())
    }
    fn contains(&self, key: u64) -> bool {
        self.contains_bytes(&key.to_le_bytes())
    }
    fn remove(&mut self, key: u64) -> bool {
        self.delete_bytes(&key.to_le_bytes())
    }
    fn load(&self) -> Option<f64> {
        Some(self.load_factor())
    }
}

pub(crate) type BloomLib = bloom_lib::CuckooFilter<u64, foldhash::fast::FixedState>;

pub(crate) fn bloom_lib(keys: usize) -> Result<BloomLib> {
    BloomLib::with_hasher(keys, foldhash::fast::FixedState::default())
        .map_err(|error| anyhow!("{error}"))
}

impl Rival for BloomLib {
    fn insert(&mut self, key: u64) -> bool {
        BloomLib::insert(self, &key).is_ok()
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        BloomLib::remove(self, &key)
    }
    fn load(&self) -> Option<f64> {
        Some(self.load_factor())
    }
}

pub(crate) fn sketches(keys: usize, fpr: f64) -> Result<sketches::cuckoo_filter::CuckooFilter> {
    sketches::cuckoo_filter::CuckooFilter::new(keys, fpr).map_err(|error| anyhow!("{error}"))
}

impl Rival for sketches::cuckoo_filter::CuckooFilter {
    fn insert(&mut self, key: u64) -> bool {
        self.insert(&key)
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, key: u64) -> bool {
        self.delete(&key)
    }
    fn load(&self) -> Option<f64> {
        Some(self.load_factor())
    }
}
