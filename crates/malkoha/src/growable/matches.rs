//! The matches of a key: slots, and keys of the stash.

use super::segment::Position;
use super::table::narrow;
use crate::layout::four_lanes::SLOTS;

/// A slot that matches a key, or a key of the stash.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Match {
    pub(super) fingerprint: u64,
    /// 0 in the stash, where a fingerprint may have any number of values.
    pub(super) value: u64,
    /// [`Position::STASH`] if there is no slot.
    pub(super) at: Position,
}

/// Slots of two buckets.
pub(super) const MOST_SLOTS: usize = 2 * SLOTS as usize;

/// All that matches a key: slots, and what the stash has of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Matches {
    slots: [Match; MOST_SLOTS],
    len: usize,
    stashed: Vec<Match>,
}

impl Match {
    #[inline(always)]
    pub(super) fn has_slot(&self) -> bool {
        self.at != Position::STASH
    }
}

impl Matches {
    /// Adds a slot.
    #[inline]
    pub(super) fn push(&mut self, found: Match) {
        self.slots[self.len] = found;
        self.len += 1;
    }

    #[inline]
    fn slots(&self) -> &[Match] {
        &self.slots[..self.len]
    }

    /// Adds a fingerprint that the spill list has, unless a slot has it.
    pub(super) fn push_spilled(&mut self, fingerprint: u64) {
        if self.copies(fingerprint) == 0 {
            self.stashed.push(Match { fingerprint, value: 0, at: Position::STASH });
        }
    }

    /// Slots.
    pub(super) fn len(&self) -> u32 {
        narrow(self.len as u64)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0 && self.stashed.is_empty()
    }

    /// Whether some matching copies have no slot.
    pub(super) fn is_stashed(&self) -> bool {
        !self.stashed.is_empty()
    }

    /// The fingerprint that knows most of its key. Of any two that match, one begins with the
    /// other.
    pub(super) fn longest(&self) -> Option<u64> {
        let all = self.slots().iter().chain(&self.stashed);
        let fingerprints = all.map(|found| found.fingerprint);
        fingerprints.min_by_key(|fingerprint| fingerprint.trailing_zeros())
    }

    /// Slots with this fingerprint.
    pub(super) fn copies(&self, fingerprint: u64) -> u32 {
        let is_it = |found: &Match| u32::from(found.fingerprint == fingerprint);
        self.slots().iter().map(is_it).sum()
    }

    /// Removing in this order takes the key's own copy, or one whose key still matches it.
    pub(super) fn longest_first(&mut self) -> &mut [Match] {
        let slots = &mut self.slots[..self.len];
        let found = if self.stashed.is_empty() {
            slots
        } else {
            self.stashed.extend_from_slice(slots);
            &mut self.stashed
        };
        found.sort_by_key(|found| found.fingerprint.trailing_zeros());
        found
    }

    /// The values of the slots.
    pub(super) fn values(&self) -> impl Iterator<Item = u64> {
        self.slots().iter().map(|found| found.value)
    }

    /// The fingerprints, each once.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = u64> {
        let slots = self.slots();
        let fingerprint = |i: usize| slots[i].fingerprint;
        let is_first = move |&i: &usize| (0..i).all(|j| fingerprint(j) != fingerprint(i));
        let stashed = self.stashed.iter().map(|found| found.fingerprint);
        (0..slots.len()).filter(is_first).map(fingerprint).chain(stashed)
    }
}
