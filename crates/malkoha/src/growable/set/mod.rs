//! The growable filter.

mod change;

use super::builder::GrowableBuilder;
use super::entries::GrowableEntry;
use super::table::GrowTable;
use crate::error::BuildError;
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
/// as bits run out; and when the oldest keys have one left, inserts fail with [`GrownOut`](crate::GrownOut).
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

    /// Whether [`count_hash`](Self::count_hash) is above 0, sooner where it is not. What a small filter only
    /// seems to [contain](Self::contains) need not seem so any more when it has grown; a copy that is
    /// counted is found until it is removed.
    #[must_use]
    pub fn has_copy_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash) && self.count_hash(hash) > 0
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
