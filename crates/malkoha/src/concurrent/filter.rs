//! The cuckoo filter that threads share.

use super::counter::Counter;
use super::space::{Fixed, Growing, Space, plan as plan_growing};
use super::table::Table;
use crate::builder::{Builder, Plan};
use crate::error::{BatchFull, BuildError, Full};
use crate::filter::{Parts, hash_chunks};
use crate::geometry::Geometry;
use crate::key::{Key, KeyHasher};
use crate::locks::{Locking, ParkingLock, Striped};
use crate::params;

/// A [`CuckooFilter`](crate::CuckooFilter) that any number of threads read and change at the same
/// time, through shared references.
///
/// * **Lookups take no lock and wait for nobody.** A lookup repeats its two loads if a key of its
///   stripe (one of 512) was moved or removed meanwhile.
/// * **A key that is in throughout is always found**, also while other keys' inserts move it.
/// * Inserts take an empty lane by one compare-and-swap. Those that have to move others, removals and
///   [`count`](Self::count) lock one stripe at a time.
///
/// A key is in for all threads that know, by whatever way, that its insert has returned.
///
/// A lookup touches two buckets, whatever the size: O(1). So does a removal. An insert does too; where
/// both are full it looks for the shortest chain of moves that makes room, among at most `max_kicks`
/// other buckets.
///
/// A bucket is one 64-bit word, [`Layout::Words`](crate::Layout::Words), which costs 12.8 bits for a
/// slot of 12: some 5 % more than the smallest layout of the single-owner filter. It counts copies
/// like that filter.
///
/// `S` says whether it grows. This one does not: [`Full`] is the answer where there is no room. The
/// one that does is [`GrowableConcurrentCuckooFilter`].
///
/// ```
/// use malkoha::ConcurrentCuckooFilter;
///
/// let seen = ConcurrentCuckooFilter::with_capacity(100_000, 0.01)?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let seen = &seen;
///         scope.spawn(move || (0..25_000).try_for_each(|i| seen.insert(&(worker * 25_000 + i))));
///     }
/// });
/// assert_eq!(seen.len(), 100_000);
/// assert!(seen.contains(&99_999_u64));
/// # Ok::<(), malkoha::BuildError>(())
/// ```
///
/// `P` says which [locks](Locking) it has: one a stripe that lets threads sleep, unless told. With one
/// lock around all, [`Global`](crate::locks::Global), lookups take that.
#[derive(Debug)]
pub struct ConcurrentCuckooFilter<P: Locking = Striped<ParkingLock>, S: Space = Fixed> {
    pub(super) table: Table<P, S>,
    hasher: KeyHasher,
    max_kicks: u32,
    capacity: u64,
    len: Counter,
}

/// A filter that any number of threads share, and that grows: where there is no room, one part of it
/// (some 100 KB) is split in two, without the keys, while lookups go on. They take no lock here either.
///
/// It is built by [`GrowableBuilder::build_concurrent`](crate::GrowableBuilder::build_concurrent), for a capacity to begin with, a rate, and the
/// growth until which that rate holds, 65,536 at most. Beyond it inserts answer [`Full`]. Before it
/// that is bad luck, of less than one in a thousand filters for up to a million keys that grow 1024 times.
///
/// Each doubling takes a bit of the fingerprints to choose the part, so they are that much longer from
/// the start: 16 for 1 % and a growth of 64, and 32 at most. Parts are between half full
/// and full and have 8 KiB at least, and small filters also pay 56 bytes for each growth and part that they begin with. Who
/// needs less memory and has one owner takes [`GrowableCuckooFilter`](crate::GrowableCuckooFilter).
/// Where somebody else chooses the keys, choose a [random seed](crate::GrowableBuilder::random_seed), or
/// they can choose keys that split one part again and again.
///
/// ```
/// use malkoha::{GrowableConcurrentCuckooFilter, GrowableBuilder};
///
/// let seen: GrowableConcurrentCuckooFilter =
///     GrowableBuilder::new().capacity(1000).fpr(0.01).growth(256.0).build_concurrent()?;
/// std::thread::scope(|scope| {
///     for worker in 0..4_u64 {
///         let seen = &seen;
///         scope.spawn(move || (0..25_000).try_for_each(|i| seen.insert(&(worker * 25_000 + i))));
///     }
/// });
/// assert_eq!(seen.len(), 100_000);
/// assert!(seen.contains(&99_999_u64) && seen.expected_fpr() < 0.01);
/// # Ok::<(), malkoha::BuildError>(())
/// ```
pub type GrowableConcurrentCuckooFilter<P = Striped<ParkingLock>> =
    ConcurrentCuckooFilter<P, Growing>;

impl ConcurrentCuckooFilter {
    /// A filter for `capacity` keys with at most this false-positive rate when they are in.
    ///
    /// # Errors
    ///
    /// As [`Builder::build_concurrent`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build_concurrent()
    }

    /// A builder, for everything else; [`build_concurrent`](Builder::build_concurrent) makes the
    /// filter.
    pub fn builder() -> Builder {
        Builder::new()
    }
}

impl<P: Locking> ConcurrentCuckooFilter<P> {
    pub(crate) fn from_plan(plan: &Plan) -> Result<Self, BuildError> {
        let Plan { geometry, seed, max_kicks, capacity, .. } = *plan;
        Self::from_parts(&Parts { geometry, seed, max_kicks, capacity, len: 0 })
    }

    /// An empty table that `len` says is not: it is filled afterwards.
    pub(super) fn from_parts(parts: &Parts) -> Result<Self, BuildError> {
        let &Parts { geometry, seed, max_kicks, capacity, len } = parts;
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let space = Fixed::new(&geometry).ok_or(BuildError::Memory { bytes })?;
        let (table, hasher) = (Table::new(geometry, space), KeyHasher::new(seed));
        Ok(Self { table, hasher, max_kicks, capacity, len: Counter::new(len) })
    }

    pub(super) fn parts(&self) -> Parts {
        Parts {
            geometry: self.table.geometry,
            seed: self.hasher.seed(),
            max_kicks: self.max_kicks,
            capacity: self.capacity,
            len: self.len(),
        }
    }

    /// The shape of the table.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.table.geometry
    }

    pub(super) fn add_to_len(&self, change: i64) {
        self.len.add(change);
    }
}

impl<P: Locking> GrowableConcurrentCuckooFilter<P> {
    pub(crate) fn growing(
        capacity: u64,
        fpr: f64,
        growth: f64,
        seed: u64,
    ) -> Result<Self, BuildError> {
        let (geometry, doublings) = plan_growing(capacity, fpr, growth)?;
        let bytes = Growing::bytes_of(&geometry, doublings);
        let space = Growing::new(&geometry, doublings).ok_or(BuildError::Memory { bytes })?;
        let (table, hasher) = (Table::new(geometry, space), KeyHasher::new(seed));
        Ok(Self { table, hasher, max_kicks: KICKS, capacity, len: Counter::new(0) })
    }
}

/// Evictions that an insert considers before it has a part split.
const KICKS: u32 = 500;

impl<P: Locking, S: Space> ConcurrentCuckooFilter<P, S> {
    /// Whether the key was inserted; wrong with probability [`expected_fpr`](Self::expected_fpr)
    /// for a key that was not, and never for one that was.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(key.hash_with(self.hasher))
    }

    /// [`contains`](Self::contains) for a caller that hashes itself.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.table.whole(|table| table.contains(&table.addressing.probe(hash)))
    }

    /// Looks up all `keys`, in their order: much faster than one by one in a large filter, because
    /// the cache misses overlap.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let mut found = vec![false; keys.len()];
        hash_chunks(self.hasher, keys, |start, hashes| {
            self.contains_hashes(hashes, &mut found[start..][..hashes.len()]);
        });
        found
    }

    /// [`contains_many`](Self::contains_many) for hashes, into a slice of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        self.table.pipelined(hashes, |i, probe| {
            found[i] = self.table.whole(|table| table.contains(probe));
        });
    }

    /// How many copies of the key are in: never fewer than inserts have returned, less removals.
    /// Copies of other keys with the same fingerprint and places are counted too. O(1), and O(log(n))
    /// where n fingerprints have spilled copies.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(key.hash_with(self.hasher))
    }

    /// [`count`](Self::count) for a caller that hashes itself.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        self.table.whole(|table| table.count(&table.addressing.probe(hash)))
    }

    /// Inserts a key, also if it is in already.
    ///
    /// # Errors
    ///
    /// [`Full`] if no place was found; the key is not in then, and all others are. In a filter that grows
    /// also if the system does not give the memory for another part.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&self, key: &K) -> Result<(), Full> {
        self.insert_hash(key.hash_with(self.hasher))
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Result<(), Full> {
        let max_kicks = self.max_kicks;
        if self.table.whole(|table| table.insert(&table.addressing.probe(hash), max_kicks)) {
            self.len.add(1);
            Ok(())
        } else {
            Err(self.full())
        }
    }

    /// Inserts all `keys`: much faster than one by one in a large filter. Other threads see them
    /// come one by one.
    ///
    /// # Errors
    ///
    /// If some were refused: the error names them, and all the others are in.
    pub fn insert_many<K: Key>(&self, keys: &[K]) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        hash_chunks(self.hasher, keys, |start, hashes| {
            self.insert_chunk(hashes, start, &mut refused);
        });
        self.all_but(refused)
    }

    /// [`insert_many`](Self::insert_many) for hashes.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&self, hashes: &[u64]) -> Result<(), BatchFull> {
        let mut refused = Vec::new();
        self.insert_chunk(hashes, 0, &mut refused);
        self.all_but(refused)
    }

    fn insert_chunk(&self, hashes: &[u64], start: usize, refused: &mut Vec<usize>) {
        let before = refused.len();
        self.table.pipelined(hashes, |i, probe| {
            if !self.table.whole(|table| table.insert(probe, self.max_kicks)) {
                refused.push(start + i);
            }
        });
        let inserted = hashes.len() - (refused.len() - before);
        // A slice is shorter than 2^63.
        self.len.add((inserted as u64).cast_signed());
    }

    fn all_but(&self, refused: Vec<usize>) -> Result<(), BatchFull> {
        if refused.is_empty() { Ok(()) } else { Err(BatchFull { refused, full: self.full() }) }
    }

    /// Removes one copy of a key that was inserted; answers whether its fingerprint was found.
    ///
    /// Only for keys that **were** inserted: see
    /// [`CuckooFilter`](crate::CuckooFilter#removing-keys-that-were-never-inserted).
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.remove_hash(key.hash_with(self.hasher))
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    pub fn remove_hash(&self, hash: u64) -> bool {
        let removed = self.table.whole(|table| table.remove(&table.addressing.probe(hash)));
        if removed {
            self.len.add(-1);
        }
        removed
    }

    /// Removes one copy of each of `keys`, in their order; answers which were found.
    pub fn remove_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
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
    pub fn remove_hashes(&self, hashes: &[u64], removed: &mut [bool]) {
        assert_eq!(hashes.len(), removed.len(), "one answer for each hash");
        let mut found = 0;
        self.table.pipelined(hashes, |i, probe| {
            removed[i] = self.table.whole(|table| table.remove(probe));
            found += i64::from(removed[i]);
        });
        self.len.add(-found);
    }

    /// Keys in the filter, copies included. Exact while no thread changes it.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len.get()
    }

    /// Whether no key is in, as [`len`](Self::len).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of distinct keys the filter was built for. More may fit.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The share of slots that are occupied. O(1); in a filter that grows, O(parts that it can have).
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        let occupied = self.len().saturating_sub(self.table.spilled());
        params::float(occupied) / params::float(self.table.slots())
    }

    /// The probability, at the present load, that a key that is not in is said to be in
    /// (paper, eq. 5). As long as [`load_factor`](Self::load_factor) takes.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.table.space.fpr(&self.table.geometry, self.load_factor())
    }

    /// Bytes of the table, of its stripes (64 KiB) and of what is kept of spilled copies. As long as
    /// [`load_factor`](Self::load_factor) takes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes()
    }

    /// The hash that this filter uses, for the `*_hash` methods.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    fn full(&self) -> Full {
        Full { len: self.len(), capacity: self.capacity }
    }
}
