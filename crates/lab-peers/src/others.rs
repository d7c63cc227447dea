//! Quotient and Bloom filters.

use std::hash::BuildHasher;

use anyhow::{Result, anyhow};
use foldhash::fast::FixedState;

use crate::looped::Rival;
use crate::rivals::FPR;

/// The key's hash for filters that take hashes.
fn hash(key: u64) -> u64 {
    FixedState::default().hash_one(key)
}

pub(crate) fn qfilter(keys: usize, fpr: f64) -> Result<qfilter::Filter> {
    qfilter::Filter::new(keys as u64, fpr).map_err(|error| anyhow!("{error:?}"))
}

/// The same, for `keys` at first and up to 1024 times as many, as ours.
pub(crate) fn growing_qfilter(keys: usize, fpr: f64) -> Result<qfilter::Filter> {
    let keys = keys as u64;
    qfilter::Filter::new_resizeable(keys, keys * 1024, fpr).map_err(|error| anyhow!("{error:?}"))
}

impl Rival for qfilter::Filter {
    /// Not its `insert`, which drops a key that it takes for known: a removal then loses another.
    fn insert(&mut self, key: u64) -> bool {
        self.insert_duplicated(key).is_ok()
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(key)
    }
    fn remove(&mut self, key: u64) -> bool {
        qfilter::Filter::remove(self, key)
    }
    fn load(&self) -> Option<f64> {
        // The capacity is 19/20 of the slots.
        Some(self.len() as f64 / self.capacity() as f64 * 0.95)
    }
}

pub(crate) type FastBloom = fastbloom::BloomFilter<FixedState>;

pub(crate) fn fastbloom(keys: usize, fpr: f64) -> FastBloom {
    let builder = fastbloom::BloomFilter::with_false_pos(fpr);
    builder.hasher(FixedState::default()).expected_items(keys)
}

impl Rival for FastBloom {
    const REMOVES: bool = false;

    fn insert(&mut self, key: u64) -> bool {
        FastBloom::insert(self, &key);
        true
    }
    fn contains(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn remove(&mut self, _: u64) -> bool {
        false
    }
    fn load(&self) -> Option<f64> {
        None
    }
}

/// Takes whole bits a key and no rate. These bits were measured to reach the rates beside them; for
/// the rate that speeds are measured at, as many bits as our 12-bit fingerprints take.
pub(crate) fn blocked_bloom(keys: usize, fpr: f64) -> sbbf_rs_safe::Filter {
    let known = [(0.03, 9), (0.01, 11), (FPR, 13), (0.001, 17)];
    let bits = known.iter().find(|(rate, _)| *rate <= fpr).map_or(27, |(_, bits)| *bits);
    sbbf_rs_safe::Filter::new(bits, keys)
}

impl Rival for sbbf_rs_safe::Filter {
    const REMOVES: bool = false;

    fn insert(&mut self, key: u64) -> bool {
        self.insert_hash(hash(key));
        true
    }
    fn contains(&self, key: u64) -> bool {
        self.contains_hash(hash(key))
    }
    fn remove(&mut self, _: u64) -> bool {
        false
    }
    fn load(&self) -> Option<f64> {
        None
    }
}
