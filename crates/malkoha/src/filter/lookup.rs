//! Lookups of every set and map.

use alloc::vec;
use alloc::vec::Vec;
use core::iter;

use super::{Content, Filter};
use crate::entries::Entry;
use crate::key::{Key, hash_chunks};
use crate::params::{float, math};
use crate::table::traits::{CHUNK, Lookup};

impl<T: Lookup, C: Content> Filter<T, C> {
    /// Returns whether the key was inserted. Never wrong for a key that was, and wrong with
    /// probability [`expected_fpr`](Self::expected_fpr) for one that was not.
    #[inline(always)]
    pub fn contains<K: Key>(&self, key: K) -> bool {
        // Not by `hash_key`: each function has a path of its own to the end. A lookup by XXH3 is
        // then inlined as a whole, with a tenth fewer instructions.
        match self.hasher.xxh3() {
            Some(hasher) => self.contains_hash(key.hash_with(hasher)),
            None => self.contains_keyed(&key),
        }
    }

    #[inline(never)]
    fn contains_keyed<K: Key>(&self, key: &K) -> bool {
        self.contains_hash(key.hash_with(self.hasher))
    }

    /// [`contains`](Self::contains) for a hash.
    #[inline(always)]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }

    /// Looks up all `keys` at once, in their order.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = vec![false; keys.len()];
        hash_chunks(self.hasher, keys, T::AT_ONCE, |start, hashes| {
            self.table.contains_batch(hashes, &mut found[start..][..hashes.len()]);
        });
        found
    }

    /// Looks up each key of an iterator, in order: [`contains_many`](Self::contains_many) for keys
    /// that are not in a slice. Takes up to 1024 keys ahead.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let known = CuckooFilter::try_from_iter(["cuckoo", "magpie"], 0.001)?;
    /// let text = "magpie wren cuckoo";
    /// let new: Vec<&str> = known
    ///     .lookups(text.split(' '))
    ///     .filter_map(|(word, found)| (!found).then_some(word))
    ///     .collect();
    /// assert_eq!(new, ["wren"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lookups<I>(&self, keys: I) -> impl Iterator<Item = (I::Item, bool)>
    where
        I: IntoIterator<Item: Key>,
    {
        let mut keys = keys.into_iter();
        let blocks = iter::from_fn(move || {
            let block: Vec<I::Item> = keys.by_ref().take(CHUNK).collect();
            let found = self.contains_many(&block);
            (!block.is_empty()).then(|| block.into_iter().zip(found))
        });
        blocks.flatten()
    }

    /// [`contains_many`](Self::contains_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.table.contains_batch(hashes, found);
    }

    /// The number of copies of the key, with any value: never too low. Copies of other keys
    /// with the same fingerprint and places are counted too, with the probability of a false
    /// positive. O(1), or O(log(n)) if n fingerprints have spilled copies.
    #[inline]
    pub fn count<K: Key>(&self, key: K) -> u64 {
        self.count_hash(self.hasher.hash_key(key))
    }

    /// [`count`](Self::count) for a hash.
    #[inline]
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        self.table.count(hash)
    }

    /// Whether [`count_hash`](Self::count_hash) is above 0, sooner where it is not. A small
    /// growable filter can [contain](Self::contains) a key of which it has no copy; when it has
    /// grown it need not contain that key any more. A copy that is counted is found until it is
    /// removed.
    #[inline]
    #[must_use]
    pub fn has_copy_hash(&self, hash: u64) -> bool {
        self.table.has_copy(hash)
    }

    /// All entries, slot by slot and then the spilled copies: for tools. Copies add up to
    /// [`len`](Self::len).
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.table.entries()
    }

    /// Asks for the memory of a key that will soon be looked up or changed. A hint, no more.
    #[inline]
    pub fn prefetch_hash(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// The number of keys, copies included. Approximate while other threads change the filter.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.table.len()
    }

    /// Whether [`len`](Self::len) is 0.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of distinct keys that it was built for; the initial one if it grows. More can
    /// fit.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// The share of slots that are occupied. O(segments) in a filter that grows, O(1) in
    /// others.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        float(self.len().saturating_sub(self.spilled())) / float(self.table.slots())
    }

    /// Copies that lie outside the table.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.table.spilled()
    }

    /// The size in bytes of the table, its directory, and spilled copies.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes()
    }

    /// Bits per present key, copies included; infinite for an empty filter.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        float(self.size_in_bytes()) * 8.0 / float(self.len())
    }

    /// Bits of a new key's fingerprint.
    #[must_use]
    pub fn fingerprint_bits(&self) -> u32 {
        self.table.fingerprint_bits()
    }

    /// The false-positive rate at the present load (paper, eq. 5). In a filter that grows it is
    /// exact for the present fingerprints, each with the bits that it has left.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.table.expected_fpr()
    }

    /// The expected number of fingerprints that match an absent key: the candidates of an absent
    /// key in a map. A little more than [`expected_fpr`](Self::expected_fpr), which is the
    /// probability of at least one.
    #[must_use]
    pub fn expected_candidates(&self) -> f64 {
        // Matches are rare and independent, so their number has Poisson's distribution.
        -math::ln_1p(-self.expected_fpr())
    }
}
