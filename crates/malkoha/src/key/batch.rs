//! The hashes of keys, one by one and in batches.

use alloc::vec;

use super::hasher::{KeyHasher, Keyed};
use super::traits::Key;
use crate::arch::vectorized;

impl KeyHasher {
    /// The hashes of `keys`, equal to those of [`Key::hash_with`]. Faster than one by one for
    /// integers, because several are hashed at a time.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn hash_many<K: Key>(self, keys: &[K], hashes: &mut [u64]) {
        assert_eq!(keys.len(), hashes.len(), "one hash for each key");
        hash_all(self, keys, hashes);
    }
}

/// The hash of one key. XXH3 is inlined into the caller's loop, and SipHash called: it needs many
/// registers, which would make XXH3 next to it slower.
#[inline(always)]
pub(crate) fn hash_one<K: Key>(hasher: KeyHasher, key: K) -> u64 {
    match hasher.0 {
        Keyed::Xxh3(seed) => key.hash_with(KeyHasher(Keyed::Xxh3(seed))),
        Keyed::Sip13(sip) => sip_one(sip, &key),
    }
}

#[inline(never)]
fn sip_one<K: Key>(sip: [u64; 2], key: &K) -> u64 {
    key.hash_with(KeyHasher(Keyed::Sip13(sip)))
}

/// Calls `each(position of the first, hashes)` for successive chunks of keys, of `at_once` each, so
/// that a batch of any length needs little memory of its own.
#[inline]
pub(crate) fn hash_chunks<K: Key>(
    hasher: KeyHasher,
    keys: &[K],
    at_once: usize,
    mut each: impl FnMut(usize, &[u64]),
) {
    let mut hashes = vec![0; keys.len().min(at_once)];
    for (chunk, keys) in keys.chunks(at_once).enumerate() {
        hash_all(hasher, keys, &mut hashes);
        each(chunk * at_once, &hashes[..keys.len()]);
    }
}

vectorized! {
    /// The hashes of keys. Selects the function once.
    fn hash_all[K: Key](hasher: KeyHasher, keys: &[K], hashes: &mut [u64]) {
        let pairs = hashes.iter_mut().zip(keys);
        match hasher.0 {
            Keyed::Xxh3(seed) => {
                for (hash, key) in pairs {
                    *hash = key.hash_with(KeyHasher(Keyed::Xxh3(seed)));
                }
            }
            Keyed::Sip13(sip) => {
                for (hash, key) in pairs {
                    *hash = key.hash_with(KeyHasher(Keyed::Sip13(sip)));
                }
            }
        }
    }
}
