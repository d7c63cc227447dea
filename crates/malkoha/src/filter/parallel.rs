//! Batches of lookups on all threads of a rayon pool.

use rayon::prelude::*;

use super::{Content, Filter};
use crate::key::{Key, hash_chunks};
use crate::table::traits::Lookup;

/// Keys that a thread takes at a time: enough that filling the pipeline of 64 keys on their way,
/// and handing out the work, cost little compared with the lookups; few enough that threads share
/// them evenly.
const PER_TASK: usize = 4096;

impl<T: Lookup + Sync, C: Content + Sync> Filter<T, C> {
    /// [`contains_many`](Self::contains_many) on the threads of rayon's current pool: the one in
    /// which the caller runs ([`rayon::ThreadPool::install`]), or the global one. Batches of less
    /// than 4096 keys stay on one thread.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let keys: Vec<u64> = (0..100_000).collect();
    /// let seen = CuckooFilter::builder().fpr(0.001).build_from(&keys[..50_000])?;
    /// assert_eq!(seen.par_contains_many(&keys), seen.contains_many(&keys));
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    pub fn par_contains_many<K: Key + Sync>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = vec![false; keys.len()];
        let tasks = keys.par_chunks(PER_TASK).zip(found.par_chunks_mut(PER_TASK));
        tasks.for_each(|(keys, found)| {
            hash_chunks(self.hasher, keys, T::AT_ONCE, |start, hashes| {
                self.table.contains_batch(hashes, &mut found[start..][..hashes.len()]);
            });
        });
        found
    }

    /// [`contains_hashes`](Self::contains_hashes) on the threads of rayon's current pool.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn par_contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        let tasks = hashes.par_chunks(PER_TASK).zip(found.par_chunks_mut(PER_TASK));
        tasks.for_each(|(hashes, found)| self.table.contains_batch(hashes, found));
    }
}
