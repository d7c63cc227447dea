//! The cuckoo map: a value beside each fingerprint (paper, section 6, "associating values").

mod change;
mod distinct;

use crate::addressing::Probe;
use crate::builder::{Builder, Plan};
use crate::entries::{self, Entry};
use crate::error::BuildError;
use crate::filter::Parts;
use crate::geometry::Geometry;
use crate::key::{Key, KeyHasher};
use crate::layout::{CopyLayout, Lanes, Search, TableLayout};
use crate::params;
use crate::spill::{Spill, SpillKey};
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
/// # Several values a key
///
/// A key can have any number of values, equal ones too. As many as its eight slots have room for lie
/// in the table, equal ones twice at most. Further ones lie in an ordered list beside it, at some 45
/// bytes for each different one. A map with such a list reads it for keys that it finds in the table.
///
/// ```
/// use malkoha::CuckooMap;
///
/// let mut ages = CuckooMap::with_capacity(1_000, 0.001, 7)?;
/// ages.insert("koel", 12)?;
/// assert!(ages.get("koel").any(|age| age == 12));
/// assert!(ages.update("koel", 12, 13)?);
/// assert!(ages.remove("koel", 13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CuckooMap {
    bytes: Memory,
    lanes: Lanes,
    search: Search,
    spill: Spill,
    parts: Parts,
}

impl CuckooMap {
    /// A map for `capacity` keys with values of `value_bits` bits (1 to 64), in which a key that
    /// was not inserted has on average `fpr` candidates.
    ///
    /// # Errors
    ///
    /// As [`Builder::build_map`].
    pub fn with_capacity(capacity: u64, fpr: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build_map(value_bits)
    }

    /// A builder, for everything else; [`build_map`](Builder::build_map) makes the map.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn from_plan(plan: &Plan) -> Result<Self, BuildError> {
        let Plan { geometry, seed, max_kicks, capacity, bytes, .. } = *plan;
        let memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        Ok(Self::from_parts(memory, &Parts { geometry, seed, max_kicks, capacity, len: 0 }))
    }

    /// `bytes` has exactly the bytes of the geometry's table.
    pub(crate) fn from_parts(bytes: Memory, parts: &Parts) -> Self {
        assert_eq!(Some(bytes.len() as u64), parts.geometry.table_bytes(), "table length");
        Self {
            lanes: Lanes::new(&parts.geometry),
            search: Search::of_table(bytes.len()),
            spill: Spill::default(),
            parts: *parts,
            bytes,
        }
    }

    pub(crate) fn parts(&self) -> Parts {
        self.parts
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Adds values that a file has beside its table; `false`, and nothing is added, if the table
    /// has none of their key, or they do not fit.
    pub(crate) fn add_spilled(&mut self, key: SpillKey, copies: u64) -> bool {
        let probe = self.lanes.addressing().resident(key.segment, key.place, key.fingerprint);
        let is_in = probe.is_some_and(|probe| self.lanes.count(&self.bytes, &probe) > 0);
        let can_be = is_in && self.fits(key.value);
        if can_be {
            self.spill.add(key, copies);
        }
        can_be
    }

    fn fits(&self, value: u64) -> bool {
        u64::BITS - value.leading_zeros() <= self.value_bits()
    }

    /// Occupied slots, counted one by one.
    pub(crate) fn occupied(&self) -> u64 {
        // The table is in memory, so a segment's offset fits usize.
        let bytes = usize::try_from(self.parts.geometry.segment_bytes()).expect("in memory");
        let bases = (0..self.parts.geometry.segments as usize).map(|segment| segment * bytes);
        bases.map(|base| self.lanes.occupied(&self.bytes, base)).sum()
    }

    /// Whether the key has a candidate.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(key.hash_with(self.hasher()))
    }

    /// [`contains`](Self::contains) for a caller that hashes itself.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.lanes.found(&self.bytes, &self.lanes.probe(hash)).next().is_some()
    }

    /// Looks up all `keys` at once, in their order: much faster than one by one in a large map.
    pub fn contains_many<K: Key>(&self, keys: &[K]) -> Vec<bool> {
        let hashes: Vec<u64> = keys.iter().map(|key| key.hash_with(self.hasher())).collect();
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
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        batch::pipelined(&self.lanes, &mut &*self.bytes, hashes, 0, |bytes, i, probe| {
            found[i] = self.lanes.found(bytes, probe).next().is_some();
        });
    }

    /// The candidate values of a key, each as often as it was inserted.
    #[inline]
    pub fn get<K: Key + ?Sized>(&self, key: &K) -> impl Iterator<Item = u64> {
        self.get_hash(key.hash_with(self.hasher()))
    }

    /// [`get`](Self::get) for a caller that hashes itself.
    #[inline]
    pub fn get_hash(&self, hash: u64) -> impl Iterator<Item = u64> {
        self.candidates(&self.lanes.probe(hash))
    }

    #[inline(always)]
    fn candidates(&self, probe: &Probe) -> impl Iterator<Item = u64> + use<'_> {
        // What is spilled has an equal fingerprint in the table.
        let spilled = !self.spill.is_empty() && self.lanes.count(&self.bytes, probe) > 0;
        let spilled = spilled.then(|| repeated(self.spill.values(SpillKey::of(probe, 0))));
        let found = self.lanes.found(&self.bytes, probe).map(|(_, slot)| slot.value);
        found.chain(spilled.into_iter().flatten())
    }

    /// Looks up all `keys` at once: calls `each(position of the key, candidate value)`. Much faster
    /// than one by one in a large map, because the cache misses overlap.
    pub fn get_many<K: Key>(&self, keys: &[K], each: impl FnMut(usize, u64)) {
        let hashes: Vec<u64> = keys.iter().map(|key| key.hash_with(self.hasher())).collect();
        self.get_hashes(&hashes, each);
    }

    /// [`get_many`](Self::get_many) for hashes.
    pub fn get_hashes(&self, hashes: &[u64], mut each: impl FnMut(usize, u64)) {
        batch::pipelined(&self.lanes, &mut &*self.bytes, hashes, 0, |_, i, probe| {
            self.candidates(probe).for_each(|value| each(i, value));
        });
    }

    /// How many copies of a pair of key and value are in: never too few.
    #[must_use]
    pub fn count<K: Key + ?Sized>(&self, key: &K, value: u64) -> u64 {
        let probe = self.lanes.probe(key.hash_with(self.hasher()));
        let in_table = u64::from(self.lanes.copies(&self.bytes, &probe, value));
        in_table.saturating_add(self.spill.count(&SpillKey::of(&probe, value)))
    }

    /// How many candidates [`get_hash`](Self::get_hash) would answer with.
    #[must_use]
    pub fn count_candidates(&self, hash: u64) -> u64 {
        let probe = self.lanes.probe(hash);
        match self.lanes.count(&self.bytes, &probe) {
            0 => 0,
            in_table => {
                let spilled = self.spill.count_values(SpillKey::of(&probe, 0));
                spilled.saturating_add(in_table.into())
            }
        }
    }

    /// All that is in, slot by slot and then the spilled values: for tools. Copies add up to
    /// [`len`](Self::len).
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        let Geometry { segments, .. } = self.parts.geometry;
        entries::entries(segments, self.lanes.places(), &self.spill, |segment, places| {
            entries::of_places(&self.lanes, &self.bytes, segment, places)
        })
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
        let occupied = self.len().saturating_sub(self.spill.copies());
        params::float(occupied) / params::float(self.parts.geometry.slots())
    }

    /// The expected number of candidates, at the present load, of a key that is not in.
    #[must_use]
    pub fn expected_fpr(&self) -> f64 {
        self.parts.geometry.fpr_at(self.load_factor())
    }

    /// Bits of a value.
    #[must_use]
    pub const fn value_bits(&self) -> u32 {
        self.parts.geometry.value_bits
    }

    /// Values that lie beside the table.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.spill.copies()
    }

    /// Bytes of the table and of the values beside it.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.bytes.len() as u64 + self.spill.size_in_bytes()
    }

    /// Bits for each key in it now, the value's included; infinite for an empty map.
    #[must_use]
    pub fn bits_per_key(&self) -> f64 {
        params::float(self.size_in_bytes()) * 8.0 / params::float(self.len())
    }

    /// Evictions that an insert considers before it gives up.
    #[must_use]
    pub const fn max_kicks(&self) -> u32 {
        self.parts.max_kicks
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

/// Each value as often as there are copies of it.
fn repeated(values: impl Iterator<Item = (u64, u64)>) -> impl Iterator<Item = u64> {
    values.flat_map(|(value, copies)| (0..copies).map(move |_| value))
}
