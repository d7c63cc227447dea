//! The spill list: copies of a key beyond those that its slots hold.
//!
//! A copy is spilled only while equal copies are in the table, and removals take from the list
//! first. So a lookup never reads it, and a filter without heavy duplicates has none.

use std::collections::BTreeMap;

/// Equal copies of a key in the table before further ones are spilled.
pub(crate) const MAX_COPIES: u32 = 2;

/// What equal copies have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpillKey {
    pub(crate) segment: u32,
    /// The smaller of the two places.
    pub(crate) place: u32,
    pub(crate) fingerprint: u32,
}

/// Ordered, so that equal filters are equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spill {
    counts: BTreeMap<SpillKey, u64>,
}

impl Spill {
    pub(crate) fn add(&mut self, key: SpillKey, copies: u64) {
        let count = self.counts.entry(key).or_default();
        *count = count.saturating_add(copies);
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
        let Some(count) = self.counts.get_mut(key) else { return false };
        *count -= 1;
        if *count == 0 {
            self.counts.remove(key);
        }
        true
    }

    /// Takes out all entries of a segment.
    pub(crate) fn drain(&mut self, segment: u32) -> Vec<(SpillKey, u64)> {
        if self.counts.is_empty() {
            return Vec::new();
        }
        let first = SpillKey { segment, place: 0, fingerprint: 0 };
        let last = SpillKey { segment, place: u32::MAX, fingerprint: u32::MAX };
        let entries: Vec<_> = self.counts.range(first..=last).map(|(&k, &n)| (k, n)).collect();
        for (key, _) in &entries {
            self.counts.remove(key);
        }
        entries
    }

    /// All spilled copies.
    pub(crate) fn copies(&self) -> u64 {
        self.counts.values().fold(0, |sum, &count| sum.saturating_add(count))
    }

    pub(crate) fn clear(&mut self) {
        self.counts.clear();
    }

    /// Bytes of the list, nearly.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        // An entry, and what a tree's nodes of 6 to 11 entries have empty.
        self.counts.len() as u64 * (size_of::<(SpillKey, u64)>() as u64) * 4 / 3
    }
}
