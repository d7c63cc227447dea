//! The tables: keys, values, and growth.

use std::borrow::Borrow;

use malkoha::{Key, KeyHasher, MAX_CAPACITY};

use super::slots::Slots;
use crate::arch::prefetch;
use crate::error::{BuildError, Full, Refused};
use crate::words::{PREFETCH_DISTANCE, ceil, float};

/// Kicks before an insert gives up (paper, section 2.2).
const DEFAULT_MAX_KICKS: u32 = 500;
/// More kicks than this never help.
const MOST_KICKS: u32 = 1 << 16;
/// The most buckets per subtable: the largest capacity in the plain table, and some growth.
const MAX_BUCKETS: u64 = 4 * MAX_CAPACITY;
/// How often one insert makes a growing table 1.5 times as large before it gives up.
const MAX_GROWTHS: u64 = 12;

/// How a cuckoo hash table handles an insert that finds no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Growth {
    /// It refuses the entry, hands it back, and is as it was before.
    #[default]
    Fixed,
    /// It is rebuilt 1.5 times as large with another seed. If that fails 12 times in a row, which
    /// needs very many keys of equal hash, or if memory runs out, it does as [`Growth::Fixed`].
    Rehash,
}

/// The plain cuckoo hash table: two tables of one slot per position (Pagh and Rodler 2004).
///
/// An entry lies in its position of the first table or in that of the second. A newcomer that
/// finds both taken kicks one out, which moves to its own other position, and so on. Up to half of
/// the slots can be used; see [`BucketedCuckooTable`], of which this is the smallest case, for
/// everything else. A newcomer looks for a free slot first, and kicks only if there is none.
///
/// ```
/// use malkoha_classic::CuckooHashTable;
///
/// let mut nests = CuckooHashTable::with_capacity(100)?;
/// nests.insert("reed warbler", 3)?;
/// assert_eq!(nests.get("reed warbler"), Some(&3));
/// assert_eq!(nests.remove("reed warbler"), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type CuckooHashTable<K, V> = BucketedCuckooTable<K, V, 2, 1>;

/// A cuckoo hash table with D choices (2 to 4) of buckets of B slots (1 to 8) for each key, kept
/// in D subtables. By default four choices of two slots.
///
/// * A lookup looks at D buckets, whatever the size, and is exact: the keys are stored.
/// * An insert kicks other entries out of the way if all D * B slots are taken, at most 500 of
///   them. **It never loses an entry**: if the last one kicked finds no place, all kicks are undone
///   and the newcomer is handed back, or the table grows ([`Growth`]).
/// * How full it gets: [`load_threshold`](Self::load_threshold). Any number of buckets.
///
/// ```
/// use malkoha_classic::{BucketedCuckooTable, Growth};
///
/// let mut table = BucketedCuckooTable::<u64, u64>::with_capacity(10)?.with_growth(Growth::Rehash);
/// for key in 0..1000 {
///     table.insert(key, key * key)?;
/// }
/// assert_eq!(table.len(), 1000);
/// assert_eq!(table.get(&30), Some(&900));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BucketedCuckooTable<K, V, const D: usize = 4, const B: usize = 2> {
    slots: Slots<(K, V), D, B>,
    hasher: KeyHasher,
    growth: Growth,
    max_kicks: u32,
    len: u64,
}

impl<K: Key + Eq, V, const D: usize, const B: usize> BucketedCuckooTable<K, V, D, B> {
    /// A table for `capacity` entries (1 to 2^36), at 95 % of the load at which inserts begin to
    /// fail in a large table.
    ///
    /// The plain table is built for a load of 0.4, and may refuse one of its entries even then,
    /// with a probability of about 1 / capacity, because a few keys that share all their positions
    /// are enough. Let it grow, or take more choices or slots.
    ///
    /// # Errors
    ///
    /// If the capacity is out of range, or there is not enough memory.
    pub fn with_capacity(capacity: u64) -> Result<Self, BuildError> {
        Self::with_capacity_and_hasher(capacity, KeyHasher::new(0))
    }

    /// [`with_capacity`](Self::with_capacity) with a hasher of your own, for example
    /// [`KeyHasher::random`] for keys that an attacker may choose.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_capacity_and_hasher(capacity: u64, hasher: KeyHasher) -> Result<Self, BuildError> {
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            return Err(BuildError::Capacity(capacity));
        }
        let slots = float(capacity) / Self::build_load();
        // Two buckets more, because keys spread less evenly in very small tables.
        Self::with_geometry(ceil(slots / float((D * B) as u64)) + 2, hasher)
    }

    /// A table of D subtables of `buckets` buckets (1 to 2^36).
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_geometry(buckets: u64, hasher: KeyHasher) -> Result<Self, BuildError> {
        BuildError::check_range("number of buckets a subtable", buckets, 1..=MAX_BUCKETS)?;
        Ok(Self {
            slots: Slots::new(buckets)?,
            hasher,
            growth: Growth::Fixed,
            max_kicks: DEFAULT_MAX_KICKS,
            len: 0,
        })
    }

    /// How to handle an insert that finds no place; by default [`Growth::Fixed`].
    #[must_use]
    pub const fn with_growth(mut self, growth: Growth) -> Self {
        self.growth = growth;
        self
    }

    /// Kicks before an insert gives up, at most 65536; by default 500.
    #[must_use]
    pub const fn with_max_kicks(mut self, kicks: u32) -> Self {
        self.max_kicks = if kicks < MOST_KICKS { kicks } else { MOST_KICKS };
        self
    }

    /// Inserts an entry; returns the value that the key had before.
    ///
    /// # Errors
    ///
    /// If there is no place: the error has the entry, and the table is as it was before.
    pub fn insert(&mut self, key: K, value: V) -> Result<Option<V>, Refused<K, V>> {
        let hasher = self.hasher;
        if let Some(slot) = self.slot_of(&key) {
            let entry = self.slots.cells[slot].as_mut();
            return Ok(entry.map(|(_, old)| std::mem::replace(old, value)));
        }
        let placed =
            self.slots.place((key, value), self.max_kicks, |(key, _)| key.hash_with(hasher));
        let placed = match (placed, self.growth) {
            (Err(entry), Growth::Rehash) => self.grow_with(entry),
            (placed, _) => placed,
        };
        match placed {
            Ok(()) => {
                self.len += 1;
                Ok(None)
            }
            Err((key, value)) => {
                let full = Full { len: self.len, capacity: self.capacity() };
                Err(Refused { key, value, full })
            }
        }
    }

    /// The value of a key.
    #[inline]
    #[must_use]
    pub fn get<Q: Key + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.slot_of(key).and_then(|slot| self.value(slot))
    }

    /// A mutable reference to the value of a key.
    #[inline]
    pub fn get_mut<Q: Key + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let slot = self.slot_of(key)?;
        self.slots.cells[slot].as_mut().map(|(_, value)| value)
    }

    /// Whether the key is in.
    #[inline]
    #[must_use]
    pub fn contains<Q: Key + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.slot_of(key).is_some()
    }

    /// The values of all `keys`, in their order; the cache misses of neighbours overlap.
    #[must_use]
    pub fn get_many<Q: Key + Eq>(&self, keys: &[Q]) -> Vec<Option<&V>>
    where
        K: Borrow<Q>,
    {
        let mut hashes = [0; PREFETCH_DISTANCE];
        let mut values = Vec::with_capacity(keys.len());
        for keys in keys.chunks(PREFETCH_DISTANCE) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = key.hash_with(self.hasher);
                for choice in 0..D {
                    prefetch(&self.slots.cells, self.slots.first_slot(*hash, choice));
                }
            }
            for (&hash, key) in hashes.iter().zip(keys) {
                let slot = self.slots.find(hash, |(other, _)| other.borrow() == key);
                values.push(slot.and_then(|slot| self.value(slot)));
            }
        }
        values
    }

    /// Which of `keys` are in, in their order.
    #[must_use]
    pub fn contains_many<Q: Key + Eq>(&self, keys: &[Q]) -> Vec<bool>
    where
        K: Borrow<Q>,
    {
        self.get_many(keys).iter().map(Option::is_some).collect()
    }

    /// Removes a key; returns its value.
    pub fn remove<Q: Key + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let slot = self.slot_of(key)?;
        let (_, value) = self.slots.cells[slot].take()?;
        self.len -= 1;
        Some(value)
    }

    /// Entries in the table.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether no entry is in.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of entries for which a table of this size is built; more may fit.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        ceil(float(self.slots()) * Self::build_load()) - 1
    }

    /// Slots in all subtables.
    #[must_use]
    pub fn slots(&self) -> u64 {
        self.slots.cells.len() as u64
    }

    /// Buckets per subtable.
    #[must_use]
    pub const fn buckets(&self) -> u64 {
        self.slots.buckets
    }

    /// The share of slots that are occupied.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        float(self.len) / float(self.slots())
    }

    /// The load at which inserts begin to fail in a large table: the threshold up to which a random
    /// hypergraph with D vertices per edge can be oriented with at most B edges per vertex
    /// (Fountoulakis, Khosla and Panagiotou, SODA 2011, cited by the paper in section 2.2).
    #[must_use]
    pub const fn load_threshold() -> f64 {
        // D from 2, B from 1.
        const THRESHOLDS: [[f64; 8]; 3] = [
            [0.5, 0.897, 0.959, 0.980, 0.990, 0.994, 0.996, 0.998],
            [0.918, 0.988, 0.997, 0.999, 1.0, 1.0, 1.0, 1.0],
            [0.977, 0.998, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        ];
        const { THRESHOLDS[D - 2][B - 1] }
    }

    /// The load for which a table is built.
    const fn build_load() -> f64 {
        if D == 2 && B == 1 { 0.4 } else { 0.95 * Self::load_threshold() }
    }

    /// Bytes of the slots, without what keys and values own elsewhere.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        size_of_val(&*self.slots.cells) as u64
    }

    /// Bits of the slots for each entry in them now; infinite for an empty table.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        float(self.size_in_bytes()) * 8.0 / float(self.len)
    }

    /// The hash that this table uses. It changes when the table grows.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        self.hasher
    }

    /// Removes all entries. Keeps the table's memory.
    pub fn clear(&mut self) {
        self.slots.cells.fill_with(|| None);
        self.len = 0;
    }

    /// All entries, in the order of their slots.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.slots.cells.iter().flatten().map(|(key, value)| (key, value))
    }

    #[inline(always)]
    fn slot_of<Q: Key + Eq + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.slots.find(key.hash_with(self.hasher), |(other, _)| other.borrow() == key)
    }

    #[inline(always)]
    fn value(&self, slot: usize) -> Option<&V> {
        self.slots.cells[slot].as_ref().map(|(_, value)| value)
    }

    /// Rebuilds the table, larger and with another seed, with one more entry. It plans the new
    /// places with numbers instead of entries, and moves entries only when the plan has worked.
    fn grow_with(&mut self, entry: (K, V)) -> Result<(), (K, V)> {
        let mut buckets = self.buckets();
        for growth in 1..=MAX_GROWTHS {
            buckets += buckets / 2 + 1;
            let hasher = another(self.hasher, growth);
            let entries = self.slots.cells.iter().flatten().chain(std::iter::once(&entry));
            let hashes: Vec<u64> = entries.map(|(key, _)| key.hash_with(hasher)).collect();
            let Ok(mut plan) = Slots::<usize, D, B>::new(buckets) else { break };
            let mut numbers = 0..hashes.len();
            if !numbers.all(|n| plan.place(n, self.max_kicks, |&n| hashes[n]).is_ok()) {
                continue;
            }
            let Ok(grown) = Slots::<(K, V), D, B>::new(buckets) else { break };
            let old = std::mem::replace(&mut self.slots, grown).cells;
            let mut entries: Vec<Option<(K, V)>> =
                old.into_iter().flatten().chain(std::iter::once(entry)).map(Some).collect();
            for (cell, number) in self.slots.cells.iter_mut().zip(plan.cells) {
                *cell = number.and_then(|number| entries[number].take());
            }
            self.hasher = hasher;
            return Ok(());
        }
        Err(entry)
    }
}

/// A hasher that puts keys in other places: a different one for each number.
fn another(hasher: KeyHasher, number: u64) -> KeyHasher {
    match hasher.seed() {
        Some(seed) => KeyHasher::new(seed.wrapping_add(number)),
        None => {
            let half = |of: u64| hasher.hash_bytes(&[number, of].map(u64::to_le_bytes).concat());
            KeyHasher::sip13(u128::from(half(1)) << 64 | u128::from(half(0)))
        }
    }
}
