//! The cuckoo map: a value beside each fingerprint (paper, section 6, "associating values").

use crate::builder::{self, smallest};
use crate::error::{BuildError, Full};
use crate::filter::Parts;
use crate::geometry::{Geometry, Layout};
use crate::key::{Key, KeyHasher};
use crate::layout::{self, Lanes, Search, TableLayout};
use crate::params;
use crate::table::{Memory, batch, zeroed};

/// A table from keys to small values that keeps neither keys nor pointers: `get` answers with
/// candidates.
///
/// For a key that was inserted, its value is among them, and there are `1 + fpr` on average. For
/// any other key there are `fpr` on average. Where the value says where the record lies, the
/// record confirms the candidate, and the answer is exact.
///
/// Every lookup touches two places of the table: O(1).
///
/// ```
/// use malkoha::CuckooMap;
///
/// let mut ages = CuckooMap::with_capacity(1_000, 0.001, 7)?;
/// ages.insert("koel", 12)?;
/// assert!(ages.get("koel").any(|age| age == 12));
/// assert!(ages.update("koel", 12, 13));
/// assert!(ages.remove("koel", 13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CuckooMap {
    bytes: Memory,
    lanes: Lanes,
    search: Search,
    parts: Parts,
}

impl CuckooMap {
    /// A map for `capacity` keys with values of `value_bits` bits (1 to 64), in which a key that
    /// was not inserted has on average `fpr` candidates.
    ///
    /// # Errors
    ///
    /// If no such map can be built; the message says what to change.
    pub fn with_capacity(capacity: u64, fpr: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::with_seed(capacity, fpr, value_bits, builder::DEFAULT_SEED)
    }

    /// [`with_capacity`](Self::with_capacity) with a seed for the hash.
    ///
    /// # Errors
    ///
    /// As [`with_capacity`](Self::with_capacity).
    pub fn with_seed(
        capacity: u64,
        fpr: f64,
        value_bits: u32,
        seed: u64,
    ) -> Result<Self, BuildError> {
        if value_bits == 0 {
            return Err(BuildError::ValueBits(value_bits));
        }
        let layout = Layout::Bucketed { bucket_size: 4 };
        let geometry = smallest(capacity, layout, value_bits, fpr)?;
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        let max_kicks = builder::DEFAULT_MAX_KICKS;
        Ok(Self::from_parts(memory, &Parts { geometry, seed, max_kicks, capacity, len: 0 }))
    }

    /// `bytes` has exactly the bytes of the geometry's table.
    pub(crate) fn from_parts(bytes: Memory, parts: &Parts) -> Self {
        assert_eq!(Some(bytes.len() as u64), parts.geometry.table_bytes(), "table length");
        Self { bytes, lanes: Lanes::new(&parts.geometry), search: Search::default(), parts: *parts }
    }

    pub(crate) fn parts(&self) -> Parts {
        self.parts
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds a value for a key, beside those that it has.
    ///
    /// # Errors
    ///
    /// [`Full`] if no place was found; nothing has changed then.
    ///
    /// # Panics
    ///
    /// If the value has more bits than the map was built for.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, value: u64) -> Result<(), Full> {
        self.insert_hash(key.hash_with(self.hasher()), value)
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    ///
    /// # Panics
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64, value: u64) -> Result<(), Full> {
        self.check_value(value);
        let probe = self.lanes.probe(hash);
        let (bytes, search) = (&mut self.bytes, &mut self.search);
        if layout::insert(&self.lanes, bytes, search, &probe, value, self.parts.max_kicks) {
            self.parts.len += 1;
            Ok(())
        } else {
            Err(Full { len: self.parts.len, capacity: self.parts.capacity })
        }
    }

    /// The candidate values of a key.
    #[inline]
    pub fn get<K: Key + ?Sized>(&self, key: &K) -> impl Iterator<Item = u64> {
        self.get_hash(key.hash_with(self.hasher()))
    }

    /// [`get`](Self::get) for a caller that hashes itself.
    #[inline]
    pub fn get_hash(&self, hash: u64) -> impl Iterator<Item = u64> {
        let probe = self.lanes.probe(hash);
        self.lanes.found(&self.bytes, &probe).map(|(_, slot)| slot.value)
    }

    /// Looks up all `hashes` at once: calls `each(position of the hash, candidate value)`.
    /// Much faster than one by one in a large map, because the cache misses overlap.
    pub fn get_hashes(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        batch::pipelined(&self.lanes, &mut &*self.bytes, hashes, 0, |bytes, i, probe| {
            for (_, slot) in self.lanes.found(bytes, probe) {
                each(i, slot.value);
            }
        });
    }

    /// Replaces `old` by `new` for a key that was inserted with `old`; answers whether it was
    /// found.
    ///
    /// # Panics
    ///
    /// If `new` has more bits than the map was built for.
    pub fn update<K: Key + ?Sized>(&mut self, key: &K, old: u64, new: u64) -> bool {
        self.update_hash(key.hash_with(self.hasher()), old, new)
    }

    /// [`update`](Self::update) for a caller that hashes itself.
    ///
    /// # Panics
    ///
    /// As [`update`](Self::update).
    pub fn update_hash(&mut self, hash: u64, old: u64, new: u64) -> bool {
        self.check_value(new);
        let probe = self.lanes.probe(hash);
        let found = self.position(&probe, old);
        if let Some(position) = found {
            self.lanes.set_value(&mut self.bytes, position, new);
        }
        found.is_some()
    }

    /// Removes a key that was inserted with this value; answers whether it was found. Another key
    /// is hit only if it has both the fingerprint and the value.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K, value: u64) -> bool {
        self.remove_hash(key.hash_with(self.hasher()), value)
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    pub fn remove_hash(&mut self, hash: u64, value: u64) -> bool {
        let probe = self.lanes.probe(hash);
        let found = self.position(&probe, value);
        if let Some(position) = found {
            self.lanes.remove_at(&mut self.bytes, position);
            // Saturating: a damaged file may claim fewer keys than its table holds.
            self.parts.len = self.parts.len.saturating_sub(1);
        }
        found.is_some()
    }

    fn position(&self, probe: &crate::addressing::Probe, value: u64) -> Option<layout::Position> {
        self.lanes
            .found(&self.bytes, probe)
            .find(|(_, slot)| slot.value == value)
            .map(|(position, _)| position)
    }

    fn check_value(&self, value: u64) {
        let bits = self.parts.geometry.value_bits;
        assert!(bits == 64 || value >> bits == 0, "value {value} has more than {bits} bits");
    }

    /// Keys in the map, each as often as it was inserted.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.parts.len
    }

    /// Whether no key is in.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parts.len == 0
    }

    /// The number of keys the map was built for.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.parts.capacity
    }

    /// The share of slots that are occupied.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        params::float(self.len()) / params::float(self.parts.geometry.slots())
    }

    /// The expected number of candidates, at the present load, of a key that is not in.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.parts.geometry.fpr_at(self.load_factor())
    }

    /// Bytes of the table.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The shape of the table.
    #[must_use]
    pub const fn geometry(&self) -> &Geometry {
        &self.parts.geometry
    }

    /// The hash that this map uses, for the `*_hash` methods.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        KeyHasher::new(self.parts.seed)
    }
}
