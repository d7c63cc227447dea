//! The growable filter.

use super::builder::GrowableBuilder;
use super::entries::GrowableEntry;
use super::table::GrowTable;
use crate::error::{BuildError, GrowableUnionError, GrownOut};
use crate::key::{Key, KeyHasher};
use crate::params::float;

/// A set of keys in a few bits each that grows with them.
///
/// It begins at any capacity, exactly as large as that needs. A full segment, of at most some 2^15
/// slots, is built anew a fifth larger, and split in two when it is twice as large as it may be at
/// least; all without the keys: no pause, no second table, no chain of filters. The load stays
/// above 0.79. A lookup touches two places at every size: O(1). The longest insert is one that
/// rebuilds a segment.
///
/// # What growth costs
///
/// A key knows a fixed number of bits when it arrives, and spends one with each split. So the
/// false-positive rate rises slowly: after `n` doublings it is at most `1 + n` times the first. The
/// builder pays for that in advance: the rate that was asked for holds until the filter has grown
/// to [`growth`](GrowableBuilder::growth) times its capacity. Beyond, it goes on rising by as
/// much each doubling, which [`expected_fpr`](Self::expected_fpr) reports; segments split earlier
/// as bits run out; and when the oldest keys have one left, inserts fail with [`GrownOut`].
///
/// # Equal keys
///
/// Any number of copies of a key may be inserted, and are counted exactly: two lie in the table,
/// the others are a number beside it, of which a key needs one. Only second copies take slots.
///
/// # Removing keys that were never inserted
///
/// As in [`CuckooFilter`](crate::CuckooFilter): remove only what you know you have inserted.
///
/// ```
/// use malkoha::GrowableCuckooFilter;
///
/// let mut seen = GrowableCuckooFilter::with_capacity(100, 0.001)?;
/// for key in 0..100_000_u64 {
///     seen.insert(&key)?;
/// }
/// assert!((0..100_000_u64).all(|key| seen.contains(&key)));
/// assert!(seen.expected_fpr() < 0.001);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GrowableCuckooFilter {
    table: GrowTable,
    hasher: KeyHasher,
}

impl GrowableCuckooFilter {
    /// A filter for `capacity` keys at first, that keeps to this false-positive rate until it has
    /// grown to 1024 times as many.
    ///
    /// # Errors
    ///
    /// As [`GrowableBuilder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build()
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

    /// Whether the key was inserted; wrong with probability [`expected_fpr`](Self::expected_fpr)
    /// for a key that was not, and never for one that was.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(key.hash_with(self.hasher))
    }

    /// [`contains`](Self::contains) for a caller that hashes with [`hasher`](Self::hasher) or with
    /// a hash of its own, of which all 64 bits must be well mixed.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }

    /// Looks up all `keys` at once, in their order: much faster than one by one in a large filter.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let hashes = self.hashes(keys);
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

    /// How many copies of the key are in; a false positive adds to it.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(key.hash_with(self.hasher))
    }

    /// [`count`](Self::count) for a caller that hashes itself.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        self.table.count(hash)
    }

    /// Inserts a key, also if it is in already.
    ///
    /// # Errors
    ///
    /// [`GrownOut`] if the filter has grown as far as its fingerprints let it, many times beyond
    /// the growth that it was built for.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), GrownOut> {
        self.insert_hash(key.hash_with(self.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), GrownOut> {
        if self.table.insert(hash, 0) { Ok(()) } else { Err(GrownOut { len: self.len() }) }
    }

    /// Inserts a key unless the filter says that it is in already; answers whether it inserted. The
    /// key will be found in either case, however much the filter grows.
    ///
    /// Not for a filter from which keys are removed, as in
    /// [`CuckooFilter`](crate::CuckooFilter::insert_unique).
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, GrownOut> {
        self.insert_unique_hash(key.hash_with(self.hasher))
    }

    /// [`insert_unique`](Self::insert_unique) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    pub fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, GrownOut> {
        // What a small table only seems to hold need not seem so any more when it has grown; a match
        // that is counted is found for ever.
        if self.contains_hash(hash) && self.count_hash(hash) > 0 {
            return Ok(false);
        }
        self.insert_hash(hash).map(|()| true)
    }

    /// Inserts all `keys`, faster than one by one in a large filter.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert); the keys before the refused one are in, which `len` tells.
    pub fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<(), GrownOut> {
        let hashes = self.hashes(keys);
        self.insert_hashes(&hashes)
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), GrownOut> {
        for (i, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                self.table.prefetch(later);
            }
            self.insert_hash(hash)?;
        }
        Ok(())
    }

    /// Removes one copy of a key that was inserted; answers whether its fingerprint was found.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(key.hash_with(self.hasher))
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.table.remove(hash, 0)
    }

    /// Removes one copy of each of `keys`, in their order; answers which were found.
    pub fn remove_many<K: Key>(&mut self, keys: &[K]) -> Vec<bool> {
        let hashes = self.hashes(keys);
        let mut removed = vec![false; keys.len()];
        self.remove_hashes(&hashes, &mut removed);
        removed
    }

    /// [`remove_many`](Self::remove_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "as many answers as hashes");
        for (i, (&hash, removed)) in hashes.iter().zip(removed).enumerate() {
            if let Some(&later) = hashes.get(i + AHEAD) {
                self.table.prefetch(later);
            }
            *removed = self.remove_hash(hash);
        }
    }

    /// Adds all that is in another filter, without the keys: copies of a key add up, and each key
    /// counts as often as in both at least. Takes time in proportion to the filter that has fewer
    /// keys, and meanwhile the memory of another.
    ///
    /// Keys keep the bits that they have left, so the false-positive rate is that of both together
    /// at their ages: see [`expected_fpr`](Self::expected_fpr).
    ///
    /// # Errors
    ///
    /// If the filters' seeds or fingerprints differ, if the capacity of `other` is the smaller one
    /// and its segments cannot be told apart here, or if there are too many keys for the
    /// fingerprints. This filter is then as it was.
    pub fn union_with(&mut self, other: &Self) -> Result<(), GrowableUnionError> {
        if self.hasher != other.hasher {
            return Err(GrowableUnionError::Seed);
        }
        self.table = self.table.united(&other.table)?;
        Ok(())
    }

    /// Removes all keys. Keeps the segments' memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Gives memory back after many removals, without the keys: puts the halves of splits together
    /// again and lets segments shrink until a fifth of their room is free. Takes time in proportion
    /// to the filter.
    ///
    /// The segments that it was built with stay, so it does not get much smaller than it began.
    /// Keys that arrived since a split lose a bit when that is undone, which raises the
    /// false-positive rate a little: see [`expected_fpr`](Self::expected_fpr).
    pub fn shrink_to_fit(&mut self) {
        self.table.shrink();
    }

    /// All occupied slots and spilled copies, in the order of the table.
    pub fn entries(&self) -> impl Iterator<Item = GrowableEntry> {
        self.table.entries()
    }

    /// Copies beyond two of a key, which lie in no slot.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.table.spill().copies()
    }

    /// Keys in the filter, copies included.
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

    /// The probability, now, that a key that is not in is said to be in: exact for the
    /// fingerprints that are in, each with the bits that it has left.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        -(-self.table.expected_matches()).exp_m1()
    }

    /// Bytes of the segments, their directory and the spilled counts.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes()
    }

    /// Bits for each key now; infinite for an empty filter.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        float(self.size_in_bytes()) * 8.0 / float(self.len())
    }

    /// The hash that this filter uses, for the `*_hash` methods.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    fn hashes<K: Key>(&self, keys: &[K]) -> Vec<u64> {
        keys.iter().map(|key| key.hash_with(self.hasher)).collect()
    }
}

/// Keys whose lines are asked for ahead of an insert or a removal.
const AHEAD: usize = 24;
