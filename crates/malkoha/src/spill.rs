//! The spill list: copies of a key beyond those that its slots hold.
//!
//! A copy is spilled only while equal copies are in the table, and removals take from the list
//! first. So a lookup never reads it, and a filter without heavy duplicates has none.

use alloc::collections::btree_map::{BTreeMap, Entry};
use alloc::vec::Vec;

use crate::addressing::Probe;

/// Equal copies of a key in the table before further ones are spilled.
pub(crate) const MAX_COPIES: u32 = 2;

/// Copies that a filter can have: more than anybody can insert, and few enough to add one more.
pub(crate) const MAX_LEN: u64 = 1 << 63;

/// What equal copies have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpillKey {
    pub(crate) segment: u32,
    /// The smaller of the two places.
    pub(crate) place: u32,
    pub(crate) fingerprint: u32,
    /// 0 in a set. Last, so that the values of a key lie together.
    pub(crate) value: u64,
}

impl SpillKey {
    /// What copies of this key and value have in common.
    pub(crate) fn of(probe: &Probe, value: u64) -> Self {
        let place = probe.first.min(probe.second);
        // Segments and places are numbered by 32 bits, and fingerprints have as many.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let (segment, place, fingerprint) =
            (probe.segment as u32, place as u32, probe.fingerprint as u32);
        Self { segment, place, fingerprint, value }
    }
}

/// A [`SpillKey`] among those of its segment, in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Within {
    /// Place and fingerprint in one number: comparing it is most of what a lookup does.
    place: u64,
    value: u64,
}

impl Within {
    #[inline]
    fn of(key: SpillKey) -> Self {
        let place = u64::from(key.place) << 32 | u64::from(key.fingerprint);
        Self { place, value: key.value }
    }

    fn key(self, segment: u32) -> SpillKey {
        // The halves of the number.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let (place, fingerprint) = ((self.place >> 32) as u32, self.place as u32);
        SpillKey { segment, place, fingerprint, value: self.value }
    }
}

/// The spilled copies of a segment. Ordered, so that equal filters are equal bytes, and because no
/// choice of keys makes a lookup in a tree long.
type Counts = BTreeMap<Within, u64>;

/// A list for each segment: short ones, which lie in caches, and which a segment that is split or
/// moved takes along.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spill {
    /// Of those that have any, which may be the last of very many.
    segments: BTreeMap<u32, Counts>,
    /// Entries of all.
    entries: usize,
    /// Copies of all.
    copies: u64,
}

impl Spill {
    pub(crate) fn add(&mut self, key: SpillKey, copies: u64) {
        match self.segments.entry(key.segment).or_default().entry(Within::of(key)) {
            Entry::Vacant(place) => {
                place.insert(copies);
                self.entries += 1;
            }
            Entry::Occupied(mut place) => *place.get_mut() = place.get().saturating_add(copies),
        }
        self.copies = self.copies.saturating_add(copies);
    }

    /// The list of a segment, if there may be any.
    #[inline]
    fn of(&self, segment: u32) -> Option<&Counts> {
        self.segments.get(&segment)
    }

    #[inline]
    pub(crate) fn count(&self, key: &SpillKey) -> u64 {
        let count = self.of(key.segment).and_then(|counts| counts.get(&Within::of(*key)));
        count.copied().unwrap_or(0)
    }

    /// Takes one copy, if there is one.
    #[inline]
    pub(crate) fn take(&mut self, key: &SpillKey) -> bool {
        let Some(counts) = self.segments.get_mut(&key.segment) else { return false };
        match counts.get_mut(&Within::of(*key)) {
            Some(copies) if *copies > 1 => {
                *copies -= 1;
                self.copies = self.copies.saturating_sub(1);
            }
            Some(_) => self.remove(key),
            None => return false,
        }
        true
    }

    /// Takes out all copies.
    pub(crate) fn remove(&mut self, key: &SpillKey) {
        let Some(counts) = self.segments.get_mut(&key.segment) else { return };
        if let Some(copies) = counts.remove(&Within::of(*key)) {
            if counts.is_empty() {
                self.segments.remove(&key.segment);
            }
            self.entries -= 1;
            self.copies = self.copies.saturating_sub(copies);
        }
    }

    /// The values of all copies that differ from `key` in nothing else, and how many have each. A
    /// file may claim any number of copies, so nothing is done for each of them.
    pub(crate) fn values(&self, key: SpillKey) -> impl Iterator<Item = (u64, u64)> {
        let within = Within::of(key);
        let (first, last) = (Within { value: 0, ..within }, Within { value: u64::MAX, ..within });
        let values = self.of(key.segment).map(|counts| counts.range(first..=last));
        values.into_iter().flatten().map(|(within, &count)| (within.value, count))
    }

    /// How many copies differ from `key` in nothing but the value.
    pub(crate) fn count_values(&self, key: SpillKey) -> u64 {
        self.values(key).fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Takes one copy that differs from `key` in nothing but the value; returns its value.
    pub(crate) fn pop(&mut self, key: SpillKey) -> Option<u64> {
        if self.is_empty() {
            return None;
        }
        let (value, _) = self.values(key).next()?;
        Some(value).filter(|&value| self.take(&SpillKey { value, ..key }))
    }

    /// The entries of a segment.
    pub(crate) fn segment(&self, segment: u32) -> impl Iterator<Item = (SpillKey, u64)> {
        let entries = self.of(segment).into_iter().flatten();
        entries.map(move |(within, &copies)| (within.key(segment), copies))
    }

    /// The entries from one key up to another of the same segment.
    pub(crate) fn between(
        &self,
        first: SpillKey,
        end: SpillKey,
    ) -> impl Iterator<Item = (SpillKey, u64)> {
        debug_assert_eq!(first.segment, end.segment);
        let range = Within::of(first)..Within::of(end);
        let entries = self.of(first.segment).map(|counts| counts.range(range));
        let key = move |(within, &copies): (&Within, &u64)| (within.key(first.segment), copies);
        entries.into_iter().flatten().map(key)
    }

    /// Takes out all copies under these keys.
    pub(crate) fn remove_all(&mut self, entries: &[(SpillKey, u64)]) {
        entries.iter().for_each(|(key, _)| self.remove(key));
    }

    /// Takes out all entries of a segment.
    pub(crate) fn drain(&mut self, segment: u32) -> Vec<(SpillKey, u64)> {
        let counts = self.segments.remove(&segment).unwrap_or_default();
        self.entries -= counts.len();
        let copies = counts.values().fold(0_u64, |sum, &copies| sum.saturating_add(copies));
        self.copies = self.copies.saturating_sub(copies);
        counts.into_iter().map(|(within, copies)| (within.key(segment), copies)).collect()
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

    /// Makes all that differs from `from` in nothing but the value differ from `to` in nothing
    /// else.
    pub(crate) fn rename(&mut self, from: SpillKey, to: SpillKey) {
        let values: Vec<_> = self.values(from).collect();
        for (value, copies) in values {
            self.remove(&SpillKey { value, ..from });
            self.add(SpillKey { value, ..to }, copies);
        }
    }

    /// What is spilled, and how many copies of it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SpillKey, u64)> {
        self.segments.iter().flat_map(|(&segment, counts)| {
            counts.iter().map(move |(within, &copies)| (within.key(segment), copies))
        })
    }

    /// How many different copies are spilled.
    pub(crate) fn entries(&self) -> u64 {
        self.entries as u64
    }

    /// All spilled copies.
    pub(crate) fn copies(&self) -> u64 {
        self.copies
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Bytes of the list, nearly.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        // What a tree's nodes of 6 to 11 entries have empty comes on top.
        let entries = self.entries * size_of::<(Within, u64)>();
        let segments = self.segments.len() * size_of::<(u32, Counts)>();
        ((entries + segments) * 4 / 3) as u64
    }
}

impl PartialEq for Spill {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries && self.iter().eq(other.iter())
    }
}

impl Eq for Spill {}
