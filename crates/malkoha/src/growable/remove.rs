//! Removing keys, and replacing values.

use super::directory::Target;
use super::grid::Mix;
use super::matches::Match;
use super::segment::Slot;
use super::table::{Growing, narrow};

impl Growing {
    /// Removes one copy with this value; returns whether there was one.
    pub(super) fn try_remove(&mut self, hash: u64, value: u64) -> bool {
        // Of a map's key, copies in slots may differ from spilled ones.
        let all_alike = self.spill.is_empty() || self.shape.value_bits == 0;
        let target = self.target(hash);
        if !all_alike || target.entry.word.has_stash() {
            return self.remove_from_any(&target, value);
        }
        let found = self.longest_slot_of(&target, value);
        if let Some(found) = &found {
            let is_spilled = !self.spill.is_empty()
                && self.spill.take(&target.spill_key(found.fingerprint, value));
            if !is_spilled {
                self.vacate(&target, found);
            }
        }
        found.is_some()
    }

    /// [`try_remove`](Self::try_remove) where keys have no slot, or spilled copies other values.
    #[cold]
    #[inline(never)]
    fn remove_from_any(&mut self, target: &Target, value: u64) -> bool {
        for found in self.find(target).longest_first() {
            let key = target.spill_key(found.fingerprint, value);
            let is_spilled =
                if found.has_slot() { self.spill.take(&key) } else { self.unstash(key) };
            if is_spilled {
                return true;
            }
            if found.value == value && found.has_slot() {
                // A set's copies are all alike, and its spilled ones have been removed before.
                let is_map = self.shape.value_bits > 0;
                let key = target.spill_key(found.fingerprint, 0);
                let other = is_map.then(|| self.spill.pop(key)).flatten();
                match other {
                    // Copies are spilled only while others lie in the table.
                    Some(other) => self.set_value(target.number(), found, other),
                    None => self.vacate(target, found),
                }
                return true;
            }
        }
        false
    }

    /// Removes the content of a slot.
    fn vacate(&mut self, target: &Target, found: &Match) {
        let number = target.number();
        self.segment(number).remove_at(self.segments.bytes_mut(number), found.at);
        self.records[number].len -= 1;
        self.occupied -= 1;
        self.count_out(target.known_bits(found.fingerprint));
    }

    /// Removes what `keeps` refuses of a segment's slots and spilled copies.
    pub(super) fn retain(&mut self, number: usize, keeps: impl Fn(Slot, Mix) -> bool) {
        let (segment, bytes) = (self.segment(number), self.bytes(number));
        let mut gone = Vec::new();
        segment.for_each_occupant(bytes, |at, slot, mix| {
            if !keeps(slot, mix) {
                gone.push((at, slot.fingerprint));
            }
        });
        // The last first: the last slot of a bucket takes the place of another.
        for &(at, fingerprint) in gone.iter().rev() {
            segment.remove_at(self.segments.bytes_mut(number), at);
            self.count_out(self.known_bits(number, fingerprint));
        }
        self.records[number].len -= narrow(gone.len() as u64);
        self.occupied -= gone.len() as u64;
        if self.spill.is_empty() {
            return;
        }
        let spilled = self.spill.segment(narrow(number as u64)).filter(|(key, _)| {
            let (fingerprint, place) = (key.fingerprint.into(), key.place.into());
            !keeps(Slot { fingerprint, place, value: key.value }, segment.mix(fingerprint))
        });
        let spilled: Vec<_> = spilled.collect();
        self.spill.remove_all(&spilled);
        // Copies that have lost their slot get another one, or are stashed.
        self.place_stashed(number);
    }

    pub(super) fn set_value(&mut self, number: usize, found: &Match, value: u64) {
        self.segment(number).set_value(self.segments.bytes_mut(number), found.at, value);
    }
}
