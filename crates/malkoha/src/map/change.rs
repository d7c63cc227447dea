//! Changing a map: one pair of key and value, or many.

use super::CuckooMap;
use crate::addressing::Probe;
use crate::error::{BatchFull, Full, MapBatchError, MapError, UnionError};
use crate::filter::Parts;
use crate::key::Key;
use crate::layout::{Copies, Lanes, Position, TableLayout, copies};
use crate::spill::{Spill, SpillKey};
use crate::table::batch;
use crate::union::united_len;

impl CuckooMap {
    /// Adds a value for a key, beside those that it has.
    ///
    /// # Errors
    ///
    /// If the value has more than [`value_bits`](Self::value_bits) bits, or no place was found for
    /// a new key; nothing has changed then.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, value: u64) -> Result<(), MapError> {
        self.insert_hash(key.hash_with(self.hasher()), value)
    }

    /// [`insert`](Self::insert) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64, value: u64) -> Result<(), MapError> {
        self.check_value(value)?;
        let probe = self.lanes.probe(hash);
        let room = (&mut self.search, &mut self.spill);
        let max_kicks = self.parts.max_kicks;
        if copies::insert(&self.lanes, &mut self.bytes, room, (&probe, value), max_kicks) {
            self.parts.len += 1;
            Ok(())
        } else {
            Err(self.full().into())
        }
    }

    /// Inserts all pairs of key and value: faster than one by one in a large map, because the cache
    /// misses overlap.
    ///
    /// # Errors
    ///
    /// If a value is too large: nothing has changed then. If some keys were refused: the error names
    /// them, and all the others are in.
    pub fn insert_many<K: Key>(&mut self, pairs: &[(K, u64)]) -> Result<(), MapBatchError> {
        let hasher = self.hasher();
        let hashed: Vec<(u64, u64)> =
            pairs.iter().map(|(key, value)| (key.hash_with(hasher), *value)).collect();
        self.insert_hashes(&hashed)
    }

    /// [`insert_many`](Self::insert_many) for pairs of hash and value.
    ///
    /// # Errors
    ///
    /// As [`insert_many`](Self::insert_many).
    pub fn insert_hashes(&mut self, pairs: &[(u64, u64)]) -> Result<(), MapBatchError> {
        if let Some(&(_, value)) = pairs.iter().find(|&&(_, value)| !self.fits(value)) {
            return Err(MapBatchError::Value { value, bits: self.value_bits() });
        }
        let mut refused = Vec::new();
        let hashes: Vec<u64> = pairs.iter().map(|&(hash, _)| hash).collect();
        let Self { bytes, lanes, search, spill, parts, .. } = self;
        batch::pipelined(lanes, &mut **bytes, &hashes, 0, |bytes, i, probe| {
            let pair = (probe, pairs[i].1);
            if !copies::insert(lanes, bytes, (&mut *search, &mut *spill), pair, parts.max_kicks) {
                refused.push(i);
            }
        });
        parts.len += (pairs.len() - refused.len()) as u64;
        if refused.is_empty() {
            return Ok(());
        }
        Err(MapBatchError::Full(BatchFull { refused, full: self.full() }))
    }

    /// Replaces `old` by `new` for a key that was inserted with `old`; answers whether it was
    /// found.
    ///
    /// # Errors
    ///
    /// If `new` has more than [`value_bits`](Self::value_bits) bits.
    pub fn update<K: Key + ?Sized>(
        &mut self,
        key: &K,
        old: u64,
        new: u64,
    ) -> Result<bool, MapError> {
        self.update_hash(key.hash_with(self.hasher()), old, new)
    }

    /// [`update`](Self::update) for a caller that hashes itself.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update).
    pub fn update_hash(&mut self, hash: u64, old: u64, new: u64) -> Result<bool, MapError> {
        self.check_value(new)?;
        let probe = self.lanes.probe(hash);
        if let Some(position) = position(&self.lanes, &self.bytes, &probe, old) {
            self.lanes.set_value(&mut self.bytes, position, new);
            return Ok(true);
        }
        let spilled = self.spill.take(&SpillKey::of(&probe, old));
        if spilled {
            self.spill.add(SpillKey::of(&probe, new), 1);
        }
        Ok(spilled)
    }

    /// Removes one copy of a key that was inserted with this value; answers whether it was found.
    /// Another key is hit only if it has both the fingerprint and the value.
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K, value: u64) -> bool {
        self.remove_hash(key.hash_with(self.hasher()), value)
    }

    /// [`remove`](Self::remove) for a caller that hashes itself.
    pub fn remove_hash(&mut self, hash: u64, value: u64) -> bool {
        let probe = self.lanes.probe(hash);
        let removed = remove(&self.lanes, &mut self.bytes, &mut self.spill, &probe, value);
        // Saturating: a damaged file may claim fewer keys than its table holds.
        self.parts.len = self.parts.len.saturating_sub(removed.into());
        removed
    }

    /// Removes all pairs of key and value; answers which were found.
    pub fn remove_many<K: Key>(&mut self, pairs: &[(K, u64)]) -> Vec<bool> {
        let hasher = self.hasher();
        let hashes: Vec<u64> = pairs.iter().map(|(key, _)| key.hash_with(hasher)).collect();
        let mut removed = vec![false; pairs.len()];
        let Self { bytes, lanes, spill, parts, .. } = self;
        batch::pipelined(lanes, &mut **bytes, &hashes, 0, |bytes, i, probe| {
            removed[i] = remove(lanes, bytes, spill, probe, pairs[i].1);
            parts.len = parts.len.saturating_sub(removed[i].into());
        });
        removed
    }

    /// Removes all keys. Keeps the table's memory.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
        self.spill.clear();
        self.parts.len = 0;
    }

    /// Adds all that is in another map of the same geometry and seed, as
    /// [`CuckooFilter::union_with`](crate::CuckooFilter::union_with).
    ///
    /// # Errors
    ///
    /// If the maps differ in geometry or seed, if what is in both does not fit into one, or if there
    /// is no memory; nothing has changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), UnionError> {
        self.unite(other, Copies::Sum)
    }

    /// [`union_with`](Self::union_with) in which a pair that is in both counts as `copies` says.
    ///
    /// # Errors
    ///
    /// As [`union_with`](Self::union_with).
    pub fn unite(&mut self, other: &Self, copies: Copies) -> Result<(), UnionError> {
        united_len(&self.parts, &other.parts)?;
        let memory = UnionError::Memory { bytes: self.bytes.len() as u64 };
        let (mut bytes, mut spill) = (self.bytes.try_clone().ok_or(memory)?, self.spill.clone());
        let (room, from) = ((&mut self.search, &mut spill), (&*other.bytes, &other.spill));
        let how = (copies, self.parts.max_kicks);
        let added = copies::absorb(&self.lanes, &mut bytes, room, from, how);
        let len = self.len() + added.ok_or_else(|| UnionError::Full(self.full()))?;
        (self.bytes, self.spill) = (bytes, spill);
        self.parts = Parts { len, ..self.parts };
        Ok(())
    }

    fn check_value(&self, value: u64) -> Result<(), MapError> {
        if self.fits(value) {
            Ok(())
        } else {
            Err(MapError::Value { value, bits: self.value_bits() })
        }
    }

    pub(super) fn full(&self) -> Full {
        Full { len: self.parts.len, capacity: self.parts.capacity }
    }
}

/// Removes a pair, from the spill list first. Where the last such pair leaves the table, another
/// value of the key moves in: it is by what lies in a slot that spilled values are found.
fn remove(lanes: &Lanes, bytes: &mut [u8], spill: &mut Spill, probe: &Probe, value: u64) -> bool {
    if spill.take(&SpillKey::of(probe, value)) {
        return true;
    }
    let Some(position) = position(lanes, bytes, probe, value) else { return false };
    lanes.remove_at(bytes, position);
    if let Some(value) = spill.pop(SpillKey::of(probe, 0)) {
        // The slot that has become free takes it.
        lanes.try_insert(bytes, probe, value);
    }
    true
}

fn position(lanes: &Lanes, bytes: &[u8], probe: &Probe, value: u64) -> Option<Position> {
    let mut found = lanes.found(bytes, probe);
    found.find(|(_, slot)| slot.value == value).map(|(position, _)| position)
}
