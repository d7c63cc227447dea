//! Keys that fit nowhere.
//!
//! A handful of keys fills the two buckets of one place, whatever the size of their segment, if
//! their strings agree in all the bits that lead there. Chance hardly ever makes such keys; whoever
//! knows the hash can. They are spilled without a slot: *stashed*, each with all that a slot would
//! know. Lookups read the list only in segments whose entry says that they have any, and all
//! segments try to find slots for theirs when they are rebuilt.

use super::directory::Target;
use super::grid::MIX_BITS;
use super::matches::Matches;
use super::table::{Growing, narrow};
use crate::spill::SpillKey;

/// Stashed keys of a segment, above which it is not split: all of them would have to be moved at
/// once. Only keys that were made to agree in many bits get there, in a segment that is so deep
/// that few others belong to it.
pub(super) const MOST_MOVED: u32 = 1 << 16;

impl Growing {
    /// Spills copies of a key that has no slot.
    #[cold]
    pub(super) fn stash(&mut self, key: SpillKey, copies: u64) {
        let number = key.segment as usize;
        if self.spill.count(&key) == 0 {
            self.set_stashed(number, self.records[number].stashed.saturating_add(1));
        }
        self.spill.add(key, copies);
    }

    /// Takes a copy from the stash, if there is one.
    pub(super) fn unstash(&mut self, key: SpillKey) -> bool {
        let number = key.segment as usize;
        let taken = self.spill.take(&key);
        if taken && self.spill.count(&key) == 0 {
            self.set_stashed(number, self.records[number].stashed.saturating_sub(1));
        }
        taken
    }

    /// Sets how many keys of a segment have no slot.
    pub(super) fn set_stashed(&mut self, number: usize, stashed: u32) {
        let before = std::mem::replace(&mut self.records[number].stashed, stashed);
        match (before > 0, stashed > 0) {
            (false, true) => self.stashing += 1,
            (true, false) => self.stashing -= 1,
            _ => return,
        }
        self.refresh_fast_paths();
        self.point(number);
    }

    /// Treats a segment that is rebuilt as one without a stash, until what it has is placed or
    /// counted again; returns whether it has one.
    pub(super) fn forget_stash(&mut self, number: usize) -> bool {
        let has_stash = self.records[number].stashed > 0;
        self.set_stashed(number, 0);
        has_stash
    }

    /// Whether the spill list has a fingerprint that begins the target's.
    #[cold]
    #[inline(never)]
    pub(super) fn is_stashed(&self, target: &Target) -> bool {
        target.entry.word.has_stash()
            && self.beginnings(target).any(|fingerprint| self.is_spilled(target, fingerprint))
    }

    /// Adds the stashed fingerprints that begin the target's.
    #[cold]
    #[inline(never)]
    pub(super) fn find_stashed(&self, target: &Target, found: &mut Matches) {
        let spilled = |&fingerprint: &u64| self.is_spilled(target, fingerprint);
        self.beginnings(target).filter(spilled).for_each(|f| found.push_spilled(f));
    }

    /// The same with those that the target's begins.
    pub(super) fn find_related(&self, target: &Target, found: &mut Matches) {
        self.find_stashed(target, found);
        // Fingerprints that continue it lie behind it, up to its last bit and all further ones set.
        let own = target.spot.fingerprint;
        let mark = 1 << own.trailing_zeros();
        let key = |fingerprint: u64| target.spill_key(fingerprint, 0);
        let mut last = own;
        let keys = self.spill.between(key(own ^ mark), key((own ^ mark) + 2 * mark));
        for fingerprint in keys.map(|(key, _)| u64::from(key.fingerprint)) {
            let is_new = std::mem::replace(&mut last, fingerprint) != fingerprint;
            if is_new && fingerprint.trailing_zeros() < own.trailing_zeros() {
                found.push_spilled(fingerprint);
            }
        }
    }

    /// All fingerprints that begin the target's, itself first.
    fn beginnings(&self, target: &Target) -> impl Iterator<Item = u64> + use<> {
        let (own, bits) = (target.spot.fingerprint, target.any_codec.bits);
        (own.trailing_zeros()..=bits - MIX_BITS).map(move |zeros| ((own >> zeros) | 1) << zeros)
    }

    fn is_spilled(&self, target: &Target, fingerprint: u64) -> bool {
        self.spill.values(target.spill_key(fingerprint, 0)).next().is_some()
    }

    /// Gives slots to a segment's spilled copies that have none, where one of their buckets has
    /// room without moving others, and counts those that still have none.
    pub(super) fn place_stashed(&mut self, number: usize) {
        let entries: Vec<SpillKey> =
            self.spill.segment(narrow(number as u64)).map(|(key, _)| key).collect();
        let segment = self.segment(number);
        let mut stashed = 0_u32;
        for key in entries {
            if self.has_slot(&key) {
                continue;
            }
            let fingerprint = u64::from(key.fingerprint);
            let bytes = self.segments.bytes_mut(number);
            let spot = segment.spot(key.place.into(), fingerprint);
            if segment.push_to_one(bytes, &spot, key.value) {
                self.spill.take(&key);
                self.records[number].len += 1;
                self.occupied += 1;
                self.count_in(self.known_bits(number, fingerprint));
            } else {
                stashed = stashed.saturating_add(1);
            }
        }
        self.set_stashed(number, stashed);
    }

    /// Stashed fingerprints, with the bits of their strings that are known.
    pub(super) fn stashed_known(&self) -> impl Iterator<Item = usize> {
        let stashed =
            self.spill.iter().map(|(key, _)| key).filter(|key| {
                self.records[key.segment as usize].stashed > 0 && !self.has_slot(key)
            });
        stashed.map(|key| self.known_bits(key.segment as usize, key.fingerprint.into()))
    }

    /// Whether a slot has the fingerprint of a spilled entry.
    pub(super) fn has_slot(&self, key: &SpillKey) -> bool {
        let number = key.segment as usize;
        let (segment, bytes) = (self.segment(number), self.bytes(number));
        let spot = segment.spot(key.place.into(), key.fingerprint.into());
        let mut has = false;
        segment.for_each_match(bytes, &spot, |at| {
            has |= segment.fingerprint(bytes, at) == spot.fingerprint;
        });
        has
    }

    /// Takes an entry of a spill list, unless it cannot be: its place is not the first, it knows
    /// too few bits, or a slot cannot take its value.
    pub(crate) fn take_spilled(&mut self, key: SpillKey, copies: u64) -> bool {
        let is_valid = self.is_valid(&key);
        if is_valid && self.has_slot(&key) {
            self.spill.add(key, copies);
        } else if is_valid {
            self.stash(key, copies);
        }
        is_valid
    }

    fn is_valid(&self, key: &SpillKey) -> bool {
        let number = key.segment as usize;
        let record = self.record(number);
        let (place, fingerprint) = (u64::from(key.place), u64::from(key.fingerprint));
        let segment = record.segment(&self.shape);
        fingerprint >> segment.codec.width == 0
            && place <= segment.mix(fingerprint).alternate(place)
            && segment.codec.length(fingerprint) >= MIX_BITS
            && u64::BITS - key.value.leading_zeros() <= record.form.value_bits
    }
}
