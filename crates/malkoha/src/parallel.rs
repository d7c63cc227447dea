//! Batches of lookups on all threads of a rayon pool.

use std::ops::Deref;

use rayon::prelude::*;

use crate::concurrent::{ConcurrentCuckooFilter, Space};
use crate::filter::{CuckooFilter, hash_chunks};
use crate::growable::{GrowableCuckooFilter, GrowableCuckooMap};
use crate::key::{Key, KeyHasher};
use crate::locks::Locking;
use crate::map::CuckooMap;

/// Keys that a thread takes at a time: so many that filling the pipeline of 64 keys on their way,
/// and handing out the work, cost little beside the lookups; so few that threads share them evenly.
const CHUNK: usize = 4096;

/// Lookups of many keys on the threads of rayon's current pool: that in which the caller runs
/// ([`rayon::ThreadPool::install`]), or the global one.
///
/// For every filter and map of this library, wherever its table lies. The answers are those of
/// `contains_many`, in the order of the keys, whatever the number of threads. O(n) work; batches of
/// less than 4096 keys stay on one thread.
///
/// ```
/// use malkoha::{CuckooFilter, ParallelLookups};
///
/// let keys: Vec<u64> = (0..100_000).collect();
/// let seen = CuckooFilter::builder().fpr(0.001).build_from(&keys[..50_000])?;
/// assert_eq!(seen.par_contains_many(&keys), seen.contains_many(&keys));
/// # Ok::<(), malkoha::FromIterError>(())
/// ```
pub trait ParallelLookups: Lookup + Sync {
    /// `contains_many` on all threads.
    fn par_contains_many<K: Key + Sync>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = vec![false; keys.len()];
        let chunks = keys.par_chunks(CHUNK).zip(found.par_chunks_mut(CHUNK));
        chunks.for_each(|(keys, found)| {
            hash_chunks(self.key_hasher(), keys, |start, hashes| {
                self.look_up(hashes, &mut found[start..][..hashes.len()]);
            });
        });
        found
    }

    /// `contains_hashes` on all threads: answers go into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    fn par_contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        let chunks = hashes.par_chunks(CHUNK).zip(found.par_chunks_mut(CHUNK));
        chunks.for_each(|(hashes, found)| self.look_up(hashes, found));
    }
}

impl<T: Lookup + Sync> ParallelLookups for T {}

/// What one thread does. Sealed: nobody outside can name it.
pub trait Lookup {
    fn key_hasher(&self) -> KeyHasher;
    fn look_up(&self, hashes: &[u64], found: &mut [bool]);
}

macro_rules! lookup {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> Lookup for $type {
            fn key_hasher(&self) -> KeyHasher {
                self.hasher()
            }

            fn look_up(&self, hashes: &[u64], found: &mut [bool]) {
                self.contains_hashes(hashes, found);
            }
        }
    };
}

lookup!([B: Deref<Target = [u8]>] CuckooFilter<B>);
lookup!([P: Locking, S: Space] ConcurrentCuckooFilter<P, S>);
lookup!([] GrowableCuckooFilter);
lookup!([] GrowableCuckooMap);
lookup!([] CuckooMap);
