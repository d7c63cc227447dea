//! The cuckoo filter: a set that forgets the keys and remembers that it has seen them.

use std::ops::{Deref, DerefMut};

use crate::builder::{Builder, Plan};
use crate::error::{BatchFull, BuildError, FromIterError, Full};
use crate::geometry::Geometry;
use crate::key::{Key, KeyHasher};
use crate::params;
use crate::table::{Memory, Table};

/// A set of keys in a few bits each, that answers "was this key inserted?".
///
/// * **No** is always right, **yes** is wrong with a small probability: the false-positive rate.
/// * Keys can be removed again, exactly those that were inserted.
/// * It never loses a key: an insert that finds no place is an error, and changes nothing.
///
/// A lookup touches two places of the table, whatever its size: O(1). So does a removal. An insert
/// does too; where both are full it looks for the shortest chain of moves that makes room, among
/// at most `max_kicks` other places.
///
/// `B` is where the table lies: [`Memory`] in a filter that was built or read, which can change;
/// a byte slice ([`FilterView`]) or a mapped file ([`MappedFilter`](crate::MappedFilter)), which
/// can only be looked up in.
///
/// # Removing keys that were never inserted
///
/// A filter keeps fingerprints, not keys. Removing a key that was **not** inserted removes, with
/// the probability of a false positive, the fingerprint of another key, which is then lost. Remove
/// only what you know you have inserted. No structure of this kind can tell the difference.
///
/// # Equal keys
///
/// A set that deletes must keep every copy: a key that was inserted twice must be removed twice.
/// Any number of copies fits, and [`count`](Self::count) tells how many there are. Two of them, as a
/// rule, take slots; further ones are *spilled*: counted in a list beside the table, at some 45
/// bytes for each fingerprint that has any, which lookups never read. A second copy gives up its
/// slot where a new key finds none, so copies never make a filter full: it holds its capacity of
/// distinct keys, whatever number of copies come with them.
///
/// Use [`insert_unique`](Self::insert_unique) where the first copy is enough and nothing is ever
/// removed.
#[derive(Clone, Debug)]
pub struct CuckooFilter<B = Memory> {
    table: Table<B>,
    hasher: KeyHasher,
    max_kicks: u32,
    capacity: u64,
    len: u64,
}

/// A filter in somebody else's bytes: lookups without a copy.
pub type FilterView<'a> = CuckooFilter<&'a [u8]>;

/// Copies that a filter may have: more than anybody can insert, and few enough to add one more.
pub(crate) const MAX_LEN: u64 = 1 << 63;

/// Everything about a filter but its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) geometry: Geometry,
    pub(crate) seed: u64,
    pub(crate) max_kicks: u32,
    pub(crate) capacity: u64,
    pub(crate) len: u64,
}

impl CuckooFilter {
    /// A filter for `capacity` keys with at most this false-positive rate when they are in.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let mut seen = CuckooFilter::with_capacity(1_000_000, 0.001)?;
    /// seen.insert("cuckoo")?;
    /// assert!(seen.contains("cuckoo"));
    /// assert!(!seen.contains("magpie"));
    /// assert!(seen.remove("cuckoo"));
    /// assert!(seen.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// A filter of exactly these keys, sized for them, with at most this false-positive rate.
    ///
    /// Keeps a hash of 8 bytes for each key while it builds.
    ///
    /// # Errors
    ///
    /// If no such filter can be built, or fingerprints are too short to tell its keys apart.
    pub fn try_from_iter<K: Key>(
        keys: impl IntoIterator<Item = K>,
        fpr: f64,
    ) -> Result<Self, FromIterError> {
        let hasher = KeyHasher::new(crate::builder::DEFAULT_SEED);
        let hashes: Vec<u64> = keys.into_iter().map(|key| key.hash_with(hasher)).collect();
        Self::builder().fpr(fpr).build_from_hashes(&hashes)
    }

    /// [`insert_hashes`](Self::insert_hashes) on up to `threads` threads, each of which fills
    /// segments of its own. The result does not depend on their number.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes_with_threads(
        &mut self,
        hashes: &[u64],
        threads: usize,
    ) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        self.insert_chunk(hashes, 0, threads, &mut refused);
        self.all_but(refused)
    }

    pub(crate) fn from_plan(plan: &Plan) -> Result<Self, BuildError> {
        let Plan { geometry, seed, max_kicks, capacity, .. } = *plan;
        let parts = Parts { geometry, seed, max_kicks, capacity, len: 0 };
        Ok(Self::from_parts(Table::new(geometry)?, &parts))
    }
}

impl<B: Deref<Target = [u8]>> CuckooFilter<B> {
    pub(crate) fn from_parts(table: Table<B>, parts: &Parts) -> Self {
        let &Parts { seed, max_kicks, capacity, len, .. } = parts;
        Self { table, hasher: KeyHasher::new(seed), max_kicks, capacity, len }
    }

    pub(crate) fn parts(&self) -> Parts {
        Parts {
            geometry: *self.table.geometry(),
            seed: self.hasher.seed(),
            max_kicks: self.max_kicks,
            capacity: self.capacity,
            len: self.len,
        }
    }

    pub(crate) fn table(&self) -> &Table<B> {
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

    /// Looks up all `keys` at once, in their order: much faster than one by one in a large filter,
    /// because the cache misses overlap.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = vec![false; keys.len()];
        self.hash_chunks(keys, |start, hashes| {
            self.table.contains_batch(hashes, &mut found[start..][..hashes.len()]);
        });
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

    /// How many copies of the key are in: never too few. Copies of other keys with the same
    /// fingerprint and places are counted too, with the probability of a false positive. O(1), and
    /// O(log(n)) where n fingerprints have spilled copies.
    #[inline]
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(key.hash_with(self.hasher))
    }

    /// [`count`](Self::count) for a caller that hashes itself.
    #[inline]
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        self.table.count(hash)
    }

    /// Keys in the filter, copies included.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether no key is in.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of distinct keys the filter was built for. More may fit.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The share of slots that are occupied.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        let spilled = self.table.spill().copies();
        let occupied = self.len.saturating_sub(spilled);
        params::float(occupied) / params::float(self.table.geometry().slots())
    }

    /// Bits for each key in it now, copies included; infinite for an empty filter.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        params::float(self.size_in_bytes()) * 8.0 / params::float(self.len)
    }

    /// The probability, at the present load, that a key that is not in is said to be in
    /// (paper, eq. 5).
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.table.geometry().fpr_at(self.load_factor())
    }

    /// Bytes of the table, and of what is kept of [spilled copies](Self#equal-keys).
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.table.bytes().len() as u64 + self.table.spill().size_in_bytes()
    }

    /// The shape of the table.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        self.table.geometry()
    }

    /// The hash that this filter uses, for the `*_hash` methods.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    /// Evictions that an insert considers before it gives up.
    #[must_use]
    pub const fn max_kicks(&self) -> u32 {
        self.max_kicks
    }

    /// Hashes `keys` a few at a time, so that a batch of any length needs no memory of its own.
    #[inline]
    fn hash_chunks<K: Key>(&self, keys: &[K], mut each: impl FnMut(usize, &[u64])) {
        hash_chunks(self.hasher, keys, &mut each);
    }
}

/// Calls `each(position of the first, hashes)` for successive chunks of keys.
#[inline]
pub(crate) fn hash_chunks<K: Key>(
    hasher: KeyHasher,
    keys: &[K],
    mut each: impl FnMut(usize, &[u64]),
) {
    const CHUNK: usize = 1024;
    let mut hashes = [0; CHUNK];
    for (chunk, keys) in keys.chunks(CHUNK).enumerate() {
        for (hash, key) in hashes.iter_mut().zip(keys) {
            *hash = key.hash_with(hasher);
        }
        each(chunk * CHUNK, &hashes[..keys.len()]);
    }
}

impl<B: DerefMut<Target = [u8]>> CuckooFilter<B> {
    /// Inserts a key, also if it is in already.
    ///
    /// # Errors
    ///
    /// [`Full`] if no place was found; nothing has changed then.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<(), Full> {
        self.insert_hash(key.hash_with(self.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        if self.table.insert(hash, self.max_kicks) {
            self.len += 1;
            Ok(())
        } else {
            Err(self.full())
        }
    }

    /// Inserts a key unless the filter says that it is in already; answers whether it inserted.
    ///
    /// Not for a filter from which keys are removed: the key that was "in already" may be another
    /// one with the same fingerprint, whose removal then makes this one disappear.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Full> {
        self.insert_unique_hash(key.hash_with(self.hasher))
    }

    /// [`insert_unique`](Self::insert_unique) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_unique_hash(&mut self, hash: u64) -> Result<bool, Full> {
        if self.contains_hash(hash) {
            return Ok(false);
        }
        self.insert_hash(hash).map(|()| true)
    }

    /// Inserts all `keys`: much faster than one by one in a large filter. Large batches are sorted
    /// by segment first, at 16 bytes a key for a bounded number of keys at a time.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all the others are in.
    pub fn insert_many<K: Key>(&mut self, keys: &[K]) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        let round = self.table.hashes_a_round();
        let mut hashes = Vec::with_capacity(round.min(keys.len()));
        for (number, keys) in keys.chunks(round).enumerate() {
            hashes.clear();
            hashes.extend(keys.iter().map(|key| key.hash_with(self.hasher)));
            self.insert_chunk(&hashes, number * round, 1, &mut refused);
        }
        self.all_but(refused)
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&mut self, hashes: &[u64]) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        self.insert_chunk(hashes, 0, 1, &mut refused);
        self.all_but(refused)
    }

    /// Inserts what an iterator yields; stops at the first key that finds no place.
    ///
    /// There is no `Extend`: it cannot report a failure.
    ///
    /// # Errors
    ///
    /// [`Full`]; the keys before the refused one are in, which `len` tells.
    pub fn try_extend<K: Key>(&mut self, keys: impl IntoIterator<Item = K>) -> Result<(), Full> {
        keys.into_iter().try_for_each(|key| self.insert(&key))
    }

    /// Removes one copy of a key that was inserted; answers whether its fingerprint was found.
    ///
    /// Only for keys that **were** inserted: see [the type's documentation](Self).
    #[inline]
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(key.hash_with(self.hasher))
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        let removed = self.table.remove(hash);
        // Saturating: a damaged file may claim fewer keys than its table holds.
        self.len = self.len.saturating_sub(removed.into());
        removed
    }

    /// Removes one copy of each of `keys`, in their order; answers which were found.
    pub fn remove_many<K: Key>(&mut self, keys: &[K]) -> Vec<bool> {
        let mut removed = vec![false; keys.len()];
        hash_chunks(self.hasher, keys, |start, hashes| {
            self.remove_hashes(hashes, &mut removed[start..][..hashes.len()]);
        });
        removed
    }

    /// [`remove_many`](Self::remove_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn remove_hashes(&mut self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "one answer for each hash");
        let len = &mut self.len;
        self.table.remove_batch(hashes, |i, answer| {
            removed[i] = answer;
            *len = len.saturating_sub(answer.into());
        });
    }

    /// Removes all keys. Keeps the table's memory.
    pub fn clear(&mut self) {
        self.table.clear();
        self.len = 0;
    }

    fn insert_chunk(
        &mut self,
        hashes: &[u64],
        start: usize,
        threads: usize,
        refused: &mut Vec<usize>,
    ) {
        let before = refused.len();
        self.table.insert_batch(hashes, self.max_kicks, threads, |i| refused.push(start + i));
        self.len += (hashes.len() - (refused.len() - before)) as u64;
    }

    fn all_but(&self, mut refused: Vec<usize>) -> Result<(), BatchFull> {
        refused.sort_unstable();
        if refused.is_empty() { Ok(()) } else { Err(BatchFull { refused, full: self.full() }) }
    }

    pub(crate) fn full(&self) -> Full {
        Full { len: self.len, capacity: self.capacity }
    }
}
