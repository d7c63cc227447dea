//! The spill list: copies of a key beyond those that its slots hold.
//!
//! A copy is spilled only while equal copies are in the table, and removals take from the list
//! first. So a lookup never reads it, and a filter without heavy duplicates has none.

use alloc::collections::btree_map::{BTreeMap, Entry};
use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::addressing::Probe;

/// Equal copies of a key in the table before further ones are spilled.
pub(crate) const MAX_COPIES: u32 = 2;

/// The most copies of a filter: more than anybody can insert, and few enough that adding one does
/// not overflow.
pub(crate) const MAX_LEN: u64 = 1 << 63;

/// What equal copies have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpillKey {
    pub(crate) segment: u32,
    /// The smaller of the two places.
    pub(crate) place: u32,
    pub(crate) fingerprint: u32,
    /// 0 in a set.
    pub(crate) value: u64,
}

impl Ord for SpillKey {
    /// By the fields in their order, so that the values of a key lie together.
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        // Several fields packed into one number: a lookup mostly compares.
        let order = |key: &Self| {
            let place = u64::from(key.segment) << 32 | u64::from(key.place);
            (place, key.fingerprint, key.value)
        };
        order(self).cmp(&order(other))
    }
}

impl PartialOrd for SpillKey {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl SpillKey {
    /// What copies of this key and value have in common.
    pub(crate) fn of(probe: &Probe, value: u64) -> Self {
        let place = probe.first.min(probe.second);
        // Numbers of segments and places have 32 bits, and so do fingerprints.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let (segment, place, fingerprint) =
            (probe.segment as u32, place as u32, probe.fingerprint as u32);
        Self { segment, place, fingerprint, value }
    }
}

/// Ordered, so that equal filters have equal bytes. Also, no choice of keys makes a lookup in a
/// tree long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spill {
    counts: BTreeMap<SpillKey, u64>,
    /// Copies of all.
    copies: u64,
}

impl Spill {
    pub(crate) fn add(&mut self, key: SpillKey, copies: u64) {
        let count = self.counts.entry(key).or_default();
        *count = count.saturating_add(copies);
        self.copies = self.copies.saturating_add(copies);
    }

    #[inline]
    pub(crate) fn count(&self, key: &SpillKey) -> u64 {
        if self.counts.is_empty() { 0 } else { self.counts.get(key).copied().unwrap_or(0) }
    }

    /// Takes one copy, if there is one.
    #[inline]
    pub(crate) fn take(&mut self, key: &SpillKey) -> bool {
        if self.counts.is_empty() {
            return false;
        }
        let Entry::Occupied(mut count) = self.counts.entry(*key) else { return false };
        if *count.get() > 1 {
            *count.get_mut() -= 1;
        } else {
            count.remove();
        }
        self.copies = self.copies.saturating_sub(1);
        true
    }

    /// Takes out all copies.
    pub(crate) fn remove(&mut self, key: &SpillKey) {
        let copies = self.counts.remove(key).unwrap_or(0);
        self.copies = self.copies.saturating_sub(copies);
    }

    /// The values of all copies that otherwise equal `key`, and the number of copies of each. A
    /// file may claim any number of copies, so no work is done for each copy.
    pub(crate) fn values(&self, key: SpillKey) -> impl Iterator<Item = (u64, u64)> {
        let (first, last) = (SpillKey { value: 0, ..key }, SpillKey { value: u64::MAX, ..key });
        self.counts.range(first..=last).map(|(key, &count)| (key.value, count))
    }

    /// The number of copies that equal `key` except for the value.
    pub(crate) fn count_values(&self, key: SpillKey) -> u64 {
        self.values(key).fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Takes one copy that equals `key` except for the value; returns its value.
    pub(crate) fn pop(&mut self, key: SpillKey) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let (value, _) = self.values(key).next()?;
        Some(value).filter(|&value| self.take(&SpillKey { value, ..key }))
    }

    /// The entries of a segment.
    pub(crate) fn segment(&self, segment: u32) -> impl Iterator<Item = (SpillKey, u64)> {
        let first = SpillKey { segment, place: 0, fingerprint: 0, value: 0 };
        let last = SpillKey { segment, place: u32::MAX, fingerprint: u32::MAX, value: u64::MAX };
        self.counts.range(first..=last).map(|(&key, &copies)| (key, copies))
    }

    /// The entries from one key up to another.
    pub(crate) fn between(
        &self,
        first: SpillKey,
        end: SpillKey,
    ) -> impl Iterator<Item = (SpillKey, u64)> {
        self.counts.range(first..end).map(|(&key, &copies)| (key, copies))
    }

    /// Takes out all copies under these keys.
    pub(crate) fn remove_all(&mut self, entries: &[(SpillKey, u64)]) {
        entries.iter().for_each(|(key, _)| self.remove(key));
    }

    /// Takes out all entries of a segment.
    pub(crate) fn drain(&mut self, segment: u32) -> Vec<(SpillKey, u64)> {
        let entries: Vec<_> = self.segment(segment).collect();
        self.remove_all(&entries);
        entries
    }

    /// The entries, in segments whose numbers are higher by `first`.
    pub(crate) fn shifted(&self, first: u64) -> Vec<(SpillKey, u64)> {
        let first = u32::try_from(first).expect("a segment's number");
        let shifted = |(key, copies): (SpillKey, u64)| {
            (SpillKey { segment: key.segment + first, ..key }, copies)
        };
        self.iter().map(shifted).collect()
    }

    /// Adds copies.
    pub(crate) fn extend(&mut self, copies: impl IntoIterator<Item = (SpillKey, u64)>) {
        copies.into_iter().for_each(|(key, copies)| self.add(key, copies));
    }

    /// Moves all copies that equal `from` except for the value to `to`, and keeps their values.
    pub(crate) fn rename(&mut self, from: SpillKey, to: SpillKey) {
        let values: Vec<_> = self.values(from).collect();
        for (value, copies) in values {
            self.remove(&SpillKey { value, ..from });
            self.add(SpillKey { value, ..to }, copies);
        }
    }

    /// The spilled keys, and the number of copies of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SpillKey, u64)> {
        self.counts.iter().map(|(&key, &copies)| (key, copies))
    }

    /// How many different copies are spilled.
    pub(crate) fn entries(&self) -> u64 {
        self.counts.len() as u64
    }

    /// All spilled copies.
    pub(crate) fn copies(&self) -> u64 {
        self.copies
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes of the list, nearly.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        // An entry, and what a tree's nodes of 6 to 11 entries have empty.
        self.counts.len() as u64 * (size_of::<(SpillKey, u64)>() as u64) * 4 / 3
    }
}
