//! The hashes of many keys.

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
    /// The hashes of keys. Selects the function once; both loops are vectorised.
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
