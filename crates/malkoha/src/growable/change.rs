//! Inserting, removing and replacing.

use super::codec::with_codec;
use super::directory::Target;
use super::matches::Match;
use super::record::Record;
use super::segment::{Segment, Spot};
use super::table::{Growing, kicks};
use crate::error::InsertError;
use crate::ring;
use crate::spill::MAX_COPIES;
use crate::table::batch::value_at;
use crate::table::traits::{Change, Lookup};

/// Copies of a key that the table already has.
///
/// A set takes the fingerprint that is already there: this makes nothing more match by chance, and
/// copies of a key are all alike. A map does so only for what it spills, so that its keys have as
/// few candidates as possible.
pub(super) struct Existing {
    /// The longest of their fingerprints.
    pub(super) longest: u64,
    /// Slots that have it.
    pub(super) copies: u32,
    /// Whether some of the copies have no slot.
    pub(super) is_stashed: bool,
    /// The fingerprint to insert.
    pub(super) own: u64,
}

/// Rebuilds for one insert, after which its key is stashed.
pub(super) const MAX_REBUILDS: u32 = 3;
/// From this number of buckets on, keys spread so evenly that, as long as a segment is not loaded,
/// only crafted keys find no place.
const EVEN_BUCKETS: u64 = 16;

impl Change for Growing {
    /// Rebuilds, splits or stashes if it must.
    #[inline]
    fn insert(&mut self, hash: u64, value: u64) -> Result<(), InsertError> {
        let target = self.target(hash);
        if self.insert_new(&target, value) {
            self.len += 1;
        } else {
            self.insert_or_grow(hash, value);
        }
        Ok(())
    }

    #[inline]
    fn insert_unique(&mut self, hash: u64) -> Result<bool, InsertError> {
        let target = self.target(hash);
        let inserted = self.insert_new(&target, 0);
        self.len += u64::from(inserted);
        Ok(inserted || self.insert_unless_copy(hash, &target))
    }

    fn insert_unique_batch(&mut self, hashes: &[u64], new: &mut [bool]) -> Vec<usize> {
        self.insert_stream(hashes, &[], |table, i, target, inserted| {
            new[i] = inserted || table.insert_unless_copy(hashes[i], target);
        });
        Vec::new()
    }

    #[cold]
    fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.len, capacity: self.capacity }
    }

    #[inline]
    fn remove(&mut self, hash: u64, value: u64) -> bool {
        let removed = self.try_remove(hash, value);
        // A file or a union may have more copies than it counts: what is left at 0 is usually
        // doubles, which match by chance as before, but might be keys.
        self.len = self.len.saturating_sub(removed.into());
        removed
    }

    fn remove_batch(&mut self, hashes: &[u64], values: &[u64], removed: &mut [bool]) {
        let ask = |table: &Self, hash: u64| table.prefetch(hash);
        ring::one_by_one(self, hashes, ask, |table, i, hash, ()| {
            removed[i] = table.remove(hash, value_at(values, i));
        });
    }

    fn update(&mut self, hash: u64, old: u64, new: u64) -> bool {
        let target = self.target(hash);
        let number = target.number();
        let key = |found: &Match| target.spill_key(found.fingerprint, old);
        let mut found = self.find(&target);
        let found = found.longest_first();
        let has_it = |found: &Match| found.value == old && found.has_slot();
        let is_it = |found: &&mut Match| has_it(found) || self.spill.count(&key(found)) > 0;
        let Some(found) = found.iter_mut().find(is_it) else { return false };
        let value_bits = u64::BITS - new.leading_zeros();
        // All slots stay where they are.
        if value_bits > self.records[number].form.value_bits {
            self.widen(number, value_bits);
        }
        let renamed = target.spill_key(found.fingerprint, new);
        if has_it(found) {
            self.set_value(number, found, new);
        } else if !found.has_slot() && self.unstash(key(found)) {
            self.stash(renamed, 1);
        } else if self.spill.take(&key(found)) {
            self.spill.add(renamed, 1);
        }
        true
    }

    /// Keeps the segments.
    fn clear(&mut self) {
        self.segments.clear();
        for number in 0..self.records.len() {
            self.records[number].len = 0;
            self.set_stashed(number, 0);
        }
        self.len = 0;
        self.occupied = 0;
        self.known.fill(0);
        self.spill.clear();
    }
}

impl Growing {
    /// Inserts a key that nothing matches, if its segment has room and one move is enough.
    #[inline(always)]
    pub(super) fn insert_new(&mut self, target: &Target, value: u64) -> bool {
        let (number, form) = (target.number(), target.entry.word.form());
        let value_bits = u64::BITS - value.leading_zeros();
        let keys = self.records[number].len;
        if value_bits > form.value_bits
            || target.entry.word.has_stash()
            || u64::from(keys) >= self.shape.full(form.grid.buckets(), self.is_below_capacity())
        {
            return false;
        }
        let bytes = self.segments.bytes_mut(number);
        let inserted = with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, form);
            // SAFETY: the directory keeps the segment's form.
            unsafe {
                segment.push_new(bytes, &target.spot, value)
            }
        });
        if inserted {
            self.records[number].len = keys + 1;
            self.occupied += 1;
            self.count_in(target.known_bits(target.spot.fingerprint));
        }
        inserted
    }

    /// Inserts a key for which [`insert_new`](Self::insert_new) was not enough, unless it has a
    /// copy; returns whether it did.
    pub(super) fn insert_unless_copy(&mut self, hash: u64, target: &Target) -> bool {
        let is_new = !self.has_copy_at(target);
        if is_new {
            self.insert_or_grow(hash, 0);
        }
        is_new
    }

    /// [`insert`](Change::insert) for every case.
    #[cold]
    #[inline(never)]
    pub(super) fn insert_or_grow(&mut self, hash: u64, value: u64) {
        self.len += 1;
        let mut rebuilds = 0;
        loop {
            let target = self.target(hash);
            let value_bits = u64::BITS - value.leading_zeros();
            if value_bits > target.entry.word.form().value_bits {
                self.widen(target.number(), value_bits);
                continue;
            }
            let own = target.spot.fingerprint;
            let none = Existing { longest: own, copies: 0, is_stashed: false, own };
            let existing = if self.has_match(&target) { self.existing(&target) } else { none };
            if existing.copies < MAX_COPIES
                && !existing.is_stashed
                && self.has_room(target.number())
                && self.insert_at(&target, existing.own, value)
            {
                return;
            }
            if self.spills(target.number(), &existing) || rebuilds == MAX_REBUILDS {
                return self.spill_copies(&target, &existing, value, 1);
            }
            self.grow(target.number());
            rebuilds += 1;
        }
    }

    /// Finds the copies of a key that might already be in the table.
    #[cold]
    pub(super) fn existing(&self, target: &Target) -> Existing {
        if self.shape.value_bits == 0 && !target.entry.word.has_stash() {
            let own = target.spot.fingerprint;
            let (longest, copies) = self.longest_slots(target).unwrap_or((own, 0));
            return Existing { longest, copies, is_stashed: false, own: longest };
        }
        let found = self.find(target);
        let (own, is_stashed) = (target.spot.fingerprint, found.is_stashed());
        let longest = found.longest().unwrap_or(own);
        if self.shape.value_bits > 0 {
            Existing { longest, copies: found.len(), is_stashed, own }
        } else {
            Existing { longest, copies: found.copies(longest), is_stashed, own: longest }
        }
    }

    /// Whether a key that got no slot is spilled instead of growing its segment.
    #[inline(always)]
    pub(super) fn spills(&self, number: usize, existing: &Existing) -> bool {
        existing.copies >= MAX_COPIES || existing.is_stashed || !self.is_crowded(number)
    }

    /// Spills copies of a key.
    #[cold]
    pub(super) fn spill_copies(
        &mut self,
        target: &Target,
        existing: &Existing,
        value: u64,
        copies: u64,
    ) {
        let key = target.spill_key(existing.longest, value);
        if existing.copies > 0 && (!existing.is_stashed || self.has_slot(&key)) {
            self.spill.add(key, copies);
        } else {
            self.stash(key, copies);
        }
    }

    /// Keys of a segment, each once.
    #[inline(always)]
    pub(super) fn keys_of(&self, number: usize) -> u64 {
        let Record { len, stashed, .. } = self.records[number];
        u64::from(len) + u64::from(stashed)
    }

    /// Whether it holds fewer keys than its capacity.
    #[inline(always)]
    pub(super) fn is_below_capacity(&self) -> bool {
        self.occupied < self.capacity
    }

    /// Whether a segment should take more keys before it grows.
    #[inline(always)]
    pub(super) fn has_room(&self, number: usize) -> bool {
        let buckets = self.records[number].form.grid.buckets();
        self.keys_of(number) < self.shape.full(buckets, self.is_below_capacity())
            || !self.can_grow(number)
    }

    /// Whether a key that finds no place makes its segment grow. If there is much room elsewhere in
    /// the segment, or it cannot grow, the key is spilled instead.
    fn is_crowded(&self, number: usize) -> bool {
        let buckets = self.records[number].form.grid.buckets();
        let is_loaded = self.keys_of(number) * 4 >= self.shape.full(buckets, false) * 3;
        (is_loaded || buckets < EVEN_BUCKETS) && self.can_grow(number)
    }

    /// Counts a slot that is filled, by the bits that it knows.
    #[inline(always)]
    pub(super) fn count_in(&mut self, known: usize) {
        self.known[known] += 1;
    }

    /// Counts a slot that is emptied.
    #[inline(always)]
    pub(super) fn count_out(&mut self, known: usize) {
        let known = &mut self.known[known];
        *known = known.saturating_sub(1);
    }

    /// Puts a fingerprint into a slot of the target's buckets, which are its own too: it either
    /// matches the target's fingerprint or is equal to it.
    pub(super) fn insert_at(&mut self, target: &Target, fingerprint: u64, value: u64) -> bool {
        let number = target.number();
        let Record { form, stashed, failures, .. } = self.records[number];
        let kicks = kicks(stashed.max(failures));
        let (bytes, search) = (self.segments.bytes_mut(number), &mut self.search);
        let spot = Spot { fingerprint, ..target.spot };
        let inserted = with_codec!(target.any_codec, codec => {
            let segment = Segment::new(codec, form);
            segment.insert(bytes, search, &spot, value, kicks)
        });
        self.stay_small();
        if inserted {
            self.records[number].len += 1;
            self.occupied += 1;
            self.count_in(target.known_bits(fingerprint));
        } else {
            let failures = &mut self.records[number].failures;
            *failures = failures.saturating_add(1);
        }
        inserted
    }

    /// Frees the memory of searches where it would be large compared with the table.
    pub(super) fn stay_small(&mut self) {
        if self.records.len() == 1 {
            self.search.forget_places();
        }
    }
}
