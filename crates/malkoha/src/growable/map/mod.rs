//! The growable map: a value beside each fingerprint.

mod change;

use super::builder::GrowableBuilder;
use super::entries::GrowableEntry;
use super::table::GrowTable;
use crate::error::BuildError;
use crate::key::{Key, KeyHasher};
use crate::params::float;

/// A table from keys to small values that keeps neither keys nor pointers, and grows with them:
/// [`CuckooMap`](crate::CuckooMap) over the segments of
/// [`GrowableCuckooFilter`](crate::GrowableCuckooFilter).
///
/// `get` answers with candidates. For a key that was inserted, its value is among them, and there
/// are `1 + fpr` on average; for any other key there are `fpr`. Where the value says where the
/// record lies, the record confirms the candidate, and the answer is exact.
///
/// Values take only as many bits as the largest one in their segment needs: a map for values of 64
/// bits that are all below 2^28 takes 28 for each. A larger one widens its segment.
///
/// A lookup touches two places at every size: O(1). The longest insert rebuilds one segment of at
/// most 2^15 slots, and moves the values beside them.
///
/// # Several values a key
///
/// A key can have any number of values, equal ones too. Two lie in the table, further ones in an
/// ordered list beside it, at some 40 bytes each: fine for few such keys, not for all. Where a segment
/// splits, its part of the list is moved one by one: a million values of one key can take a second, a few
/// times while the map grows.
///
/// ```
/// use malkoha::GrowableCuckooMap;
///
/// let mut ages = GrowableCuckooMap::with_capacity(10, 0.001, 7)?;
/// for person in 0..10_000_u32 {
///     ages.insert(&person, u64::from(person % 100))?;
/// }
/// assert!(ages.get(&42_u32).any(|age| age == 42));
/// assert!(ages.update(&42_u32, 42, 43)?);
/// assert!(ages.remove(&42_u32, 43));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GrowableCuckooMap {
    table: GrowTable,
    hasher: KeyHasher,
}

impl GrowableCuckooMap {
    /// A map for `capacity` keys at first with values of at most `value_bits` bits (0 to 64), in
    /// which a key that was not inserted has on average at most `fpr` candidates until there are
    /// 1024 times as many keys.
    ///
    /// # Errors
    ///
    /// As [`GrowableBuilder::build_map`].
    pub fn with_capacity(capacity: u64, fpr: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build_map(value_bits)
    }

    /// A builder, for everything else.
    pub fn builder() -> GrowableBuilder {
        GrowableBuilder::new()
    }

    pub(crate) fn from_table(table: GrowTable, hasher: KeyHasher) -> Self {
        Self { table, hasher }
    }

    pub(crate) fn table(&self) -> &GrowTable {
        &self.table
    }

    /// Whether the key has a candidate; a map of few keys may say so of one that has none.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(key.hash_with(self.hasher))
    }

    /// [`contains`](Self::contains) for a caller that hashes itself.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }

    /// Looks up all `keys` at once, in their order: much faster than one by one in a large map.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let hashes: Vec<u64> = keys.iter().map(|key| key.hash_with(self.hasher)).collect();
        let mut found = vec![false; keys.len()];
        self.contains_hashes(&hashes, &mut found);
        found
    }

    /// [`contains_many`](Self::contains_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        self.table.contains_batch(hashes, found);
    }

    /// The candidate values of a key.
    #[inline]
    pub fn get<K: Key + ?Sized>(&self, key: &K) -> impl Iterator<Item = u64> {
        self.get_hash(key.hash_with(self.hasher))
    }

    /// [`get`](Self::get) for a caller that hashes itself.
    #[inline]
    pub fn get_hash(&self, hash: u64) -> impl Iterator<Item = u64> {
        self.table.get(hash).flat_map(|(value, copies)| (0..copies).map(move |_| value))
    }

    /// Calls `each` with the candidate values of a key: [`get_hash`](Self::get_hash) in half the
    /// instructions.
    #[inline]
    pub fn for_each_candidate(&self, hash: u64, mut each: impl FnMut(u64)) {
        self.table.for_each_value(hash, |value, copies| (0..copies).for_each(|_| each(value)));
    }

    /// Looks up all `keys` at once: calls `each(position of the key, candidate value)`. Much faster
    /// than one by one in a large map, because the cache misses overlap.
    pub fn get_many<K: Key>(&self, keys: &[K], each: impl FnMut(usize, u64)) {
        let hashes: Vec<u64> = keys.iter().map(|key| key.hash_with(self.hasher)).collect();
        self.get_hashes(&hashes, each);
    }

    /// [`get_many`](Self::get_many) for hashes.
    pub fn get_hashes(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        let mut each = |i, value, copies| (0..copies).for_each(|_| each(i, value));
        self.table.get_batch(hashes, &mut each);
    }

    /// How many copies of a pair of key and value are in: never too few.
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K, value: u64) -> u64 {
        self.table.count_value(key.hash_with(self.hasher), value)
    }

    /// How many candidates [`get_hash`](Self::get_hash) would answer with.
    #[must_use]
    pub fn count_candidates(&self, hash: u64) -> u64 {
        self.table.count_values(hash)
    }

    /// Asks for the memory of a key that will soon be looked up or changed. A hint, no more.
    #[inline]
    pub fn prefetch_hash(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    /// All occupied slots and spilled copies, in the order of the table.
    pub fn entries(&self) -> impl Iterator<Item = GrowableEntry> {
        self.table.entries()
    }

    /// Keys in the map, each as often as it was inserted.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.table.len()
    }

    /// Whether no key is in.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys it was built to begin with.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// Bits of a value, at most.
    #[must_use]
    pub const fn value_bits(&self) -> u32 {
        self.table.shape().value_bits
    }

    /// Values beyond two of a key, which lie in no slot.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.table.spill().copies()
    }

    /// Segments that it has grown to.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.table.segments()
    }

    /// Buckets of four slots.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.slots() / 4
    }

    /// Bits of a key's fingerprint when it arrives, the mark of its end not counted.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.table.shape().bits
    }

    /// The share of slots that are occupied.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        float(self.table.occupied()) / float(self.table.slots())
    }

    /// The expected number of candidates, now, of a key that is not in: exact for the fingerprints
    /// that are in, each with the bits that it has left.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.table.expected_matches()
    }

    /// Bytes of the segments, their directory and the spilled values.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes()
    }

    /// Bits for each key now, the value's included; infinite for an empty map.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        float(self.size_in_bytes()) * 8.0 / float(self.len())
    }

    /// The hash that this map uses, for the `*_hash` methods.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        self.hasher
    }
}
