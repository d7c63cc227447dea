//! Records, made from their numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a key and of a value.
pub(crate) const KEY: usize = 16;
pub(crate) const VALUE: usize = 100;

pub(crate) type Key = [u8; KEY];
pub(crate) type Value = [u8; VALUE];

/// Keys with the same first [`PREFIX`] bytes, if keys are grouped.
pub(crate) const GROUP: u64 = 256;
pub(crate) const PREFIX: usize = 8;

/// The number of groups, or 0.
static GROUPS: AtomicU64 = AtomicU64::new(0);

/// From now on, numbers that are equal modulo this have keys with the same first bytes.
pub(crate) fn group(groups: u64) {
    GROUPS.store(groups, Ordering::Relaxed);
}

/// The finalizer of SplitMix64.
fn mixed(n: u64) -> u64 {
    let n = n.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

fn fill(bytes: &mut [u8], seed: u64) {
    for (i, chunk) in (0..).zip(bytes.chunks_mut(8)) {
        chunk.copy_from_slice(&mixed(seed.wrapping_add(i << 40)).to_le_bytes()[..chunk.len()]);
    }
}

/// The key of a number: all keys differ.
pub(crate) fn key(n: u64) -> Key {
    let mut key = [0; KEY];
    fill(&mut key, n);
    if let Some(group) = n.checked_rem(GROUPS.load(Ordering::Relaxed)) {
        fill(&mut key[..PREFIX], group);
    }
    key
}

/// The value of a key's number: nothing that could be compressed.
pub(crate) fn value(n: u64) -> Value {
    let mut value = [0; VALUE];
    fill(&mut value, !n);
    value
}

/// The `i`th of a course of random numbers below `keys`.
pub(crate) fn random(keys: u64, i: u64, seed: u64) -> u64 {
    mixed(seed << 32 | i) % keys
}

/// `count` keys of numbers below `keys` in random order, each number raised by `add`.
pub(crate) fn random_keys(keys: u64, count: u64, seed: u64, add: u64) -> Vec<Key> {
    (0..count).map(|i| key(random(keys, i, seed) + add)).collect()
}
