//! The crate cuckoo-clock, and two Bloom filters that rotate.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::mem;

use anyhow::Result;
use cuckoo_clock::config::{CuckooConfiguration, TtlConfig};
use foldhash::fast::FixedState;

use super::windows::{Shared, TTL, Window};

/// The steps of the window: as many as ours has by itself.
const STEPS: u32 = 15;
/// Bits of a fingerprint: as many as ours has at the same rate.
const FINGERPRINT_BITS: usize = 13;
/// Bits a key of each of the two Bloom filters. Both answer, so that each has half the rate.
const BLOOM_BITS: usize = 19;

/// The crate cuckoo-clock, which counts down the age in each slot when the caller scans it all.
pub(crate) struct Clock {
    filter: cuckoo_clock::CuckooFilter<RandomState>,
    scans: u64,
}

impl Clock {
    pub(crate) fn new(keys: usize) -> Result<Self> {
        let ttl = TtlConfig { ttl: STEPS.try_into()?, ttl_bits: 4.try_into()? };
        let configuration = CuckooConfiguration::builder(keys)
            .fingerprint_bits(FINGERPRINT_BITS.try_into()?)
            .bucket_size(4.try_into()?)
            .with_ttl(ttl)
            .build()?;
        Ok(Self { filter: cuckoo_clock::CuckooFilter::new_random(configuration), scans: 0 })
    }
}

impl Window for Clock {
    fn advance(&mut self, now: u64) {
        let steps = now * u64::from(STEPS) / TTL;
        (self.scans..steps).for_each(|_| _ = self.filter.scan_and_update_full());
        self.scans = self.scans.max(steps);
    }

    fn insert(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| _ = black_box(self.filter.insert(key)));
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&key| self.filter.contains(key)).count()
    }

    fn insert_new(&mut self, keys: &[u64]) {
        Shared::insert_new(self, keys);
    }

    fn bytes(&self) -> u64 {
        self.filter.get_memory_usage() as u64
    }
}

impl Shared for Clock {
    fn insert_new(&self, keys: &[u64]) {
        keys.iter().for_each(|key| _ = black_box(self.filter.insert_if_not_present(key)));
    }
}

/// Two blocked Bloom filters, each for the keys of one window: the one that is written, and the one
/// before it. The usual way where there are no ages.
pub(crate) struct Rotating {
    now: sbbf_rs_safe::Filter,
    before: sbbf_rs_safe::Filter,
    keys: usize,
    rotations: u64,
}

impl Rotating {
    pub(crate) fn new(keys: usize) -> Self {
        let bloom = || sbbf_rs_safe::Filter::new(BLOOM_BITS, keys);
        Self { now: bloom(), before: bloom(), keys, rotations: 0 }
    }

    fn contains(&self, hash: u64) -> bool {
        self.now.contains_hash(hash) || self.before.contains_hash(hash)
    }
}

fn hash(key: u64) -> u64 {
    FixedState::default().hash_one(key)
}

impl Window for Rotating {
    fn advance(&mut self, now: u64) {
        while self.rotations < now / TTL {
            self.rotations += 1;
            let empty = sbbf_rs_safe::Filter::new(BLOOM_BITS, self.keys);
            self.before = mem::replace(&mut self.now, empty);
        }
    }

    fn insert(&mut self, keys: &[u64]) {
        keys.iter().for_each(|&key| _ = self.now.insert_hash(hash(key)));
    }

    fn count(&self, keys: &[u64]) -> usize {
        keys.iter().filter(|&&key| self.contains(hash(key))).count()
    }

    fn insert_new(&mut self, keys: &[u64]) {
        for &key in keys {
            let hash = hash(key);
            if !self.contains(hash) {
                self.now.insert_hash(hash);
            }
        }
    }

    fn bytes(&self) -> u64 {
        (self.now.as_bytes().len() + self.before.as_bytes().len()) as u64
    }
}
