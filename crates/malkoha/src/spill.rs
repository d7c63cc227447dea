//! The spill list: copies of a key beyond those that its slots hold.
//!
//! A copy is spilled only while equal copies are in the table, and removals take from the list
//! first. So a lookup never reads it, and a filter without heavy duplicates has none.

use alloc::collections::btree_map::{BTreeMap, Entry};
use alloc::vec::Vec;

use crate::addressing::{LOW_32, MIX, Probe, index, scale};

/// Equal copies of a key in the table before further ones are spilled.
pub(crate) const MAX_COPIES: u32 = 2;

/// The most copies of a filter: more than anybody can insert, and few enough that adding one does
/// not overflow.
pub(crate) const MAX_LEN: u64 = 1 << 63;

/// The fields that equal copies share, in an order in which the values of a key lie together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpillKey {
    pub(crate) segment: u32,
    /// The smaller of the two places.
    pub(crate) place: u32,
    pub(crate) fingerprint: u32,
    /// 0 in a set.
    pub(crate) value: u64,
}

impl SpillKey {
    /// The fields that copies of this key and value share.
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
#[derive(Clone, Debug, Default)]
pub(crate) struct Spill {
    counts: BTreeMap<SpillKey, u64>,
    /// Copies of all.
    copies: u64,
    hint: Hint,
}

impl PartialEq for Spill {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl Eq for Spill {}

impl Spill {
    pub(crate) fn add(&mut self, key: SpillKey, copies: u64) {
        let count = self.counts.entry(key).or_insert_with(|| {
            self.hint.add(&key);
            0
        });
        *count = count.saturating_add(copies);
        self.copies = self.copies.saturating_add(copies);
        if self.hint.is_full() {
            self.hint = Hint::of(&self.counts);
        }
    }

    /// Forgets keys that are gone, where [`may_hold`](Self::may_hold) still takes them for listed.
    pub(crate) fn shrink(&mut self) {
        self.hint = Hint::of(&self.counts);
    }

    #[inline]
    pub(crate) fn count(&self, key: &SpillKey) -> u64 {
        if self.hint.may_hold(key) { self.counts.get(key).copied().unwrap_or(0) } else { 0 }
    }

    /// Whether copies that equal `key` are possible, whatever their value: `false` is right, and
    /// fast.
    #[inline]
    pub(crate) fn may_hold(&self, key: &SpillKey) -> bool {
        self.hint.may_hold(key)
    }

    /// Takes one copy, if there is one.
    #[inline]
    pub(crate) fn take(&mut self, key: &SpillKey) -> bool {
        if !self.hint.may_hold(key) {
            return false;
        }
        let Entry::Occupied(mut count) = self.counts.entry(*key) else { return false };
        if *count.get() > 1 {
            *count.get_mut() -= 1;
        } else {
            count.remove();
            self.hint.forget(&self.counts);
        }
        self.copies = self.copies.saturating_sub(1);
        true
    }

    /// Takes out all copies.
    pub(crate) fn remove(&mut self, key: &SpillKey) {
        let copies = self.counts.remove(key).unwrap_or(0);
        self.hint.forget(&self.counts);
        self.copies = self.copies.saturating_sub(copies);
    }

    /// The values of all copies that otherwise equal `key`, and the number of copies of each. A
    /// file may claim any number of copies, so no work is done for each copy.
    #[inline]
    pub(crate) fn values(&self, key: SpillKey) -> impl Iterator<Item = (u64, u64)> {
        self.hint.may_hold(&key).then(|| self.values_in_tree(key)).into_iter().flatten()
    }

    #[cold]
    fn values_in_tree(&self, key: SpillKey) -> impl Iterator<Item = (u64, u64)> {
        let (first, last) = (SpillKey { value: 0, ..key }, SpillKey { value: u64::MAX, ..key });
        self.counts.range(first..=last).map(|(key, &count)| (key.value, count))
    }

    /// The number of copies that equal `key` except for the value.
    pub(crate) fn count_values(&self, key: SpillKey) -> u64 {
        self.values(key).fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Takes one copy that equals `key` except for the value; returns its value.
    pub(crate) fn pop(&mut self, key: SpillKey) -> Option<u64> {
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
        let entries = self.counts.len() as u64 * (size_of::<(SpillKey, u64)>() as u64) * 4 / 3;
        entries + self.hint.size_in_bytes()
    }
}

/// The keys that may have spilled copies: a bit for each of some number of their hashes. Most maps
/// of many keys spill a few values of keys that agree by chance, and then every lookup of a present
/// key would search the tree: at 100 million keys this took as long as the lookup itself.
#[derive(Clone, Debug, Default)]
struct Hint {
    /// None, if nothing is spilled.
    words: Vec<u64>,
    /// Entries since the bits were last rebuilt; those of removed entries stay set.
    added: usize,
}

/// Bits for each entry, at least: of the lookups of keys without spilled copies, at most one in
/// this many searches the tree.
const BITS: usize = 32;
/// Entries that a hint is kept for. Rebuilding the bits of more would take one insert too long; so
/// every key may then be spilled.
const MOST_HINTED: usize = 4096;

impl Hint {
    fn of(counts: &BTreeMap<SpillKey, u64>) -> Self {
        if counts.len() > MOST_HINTED {
            return Self { words: alloc::vec![u64::MAX], added: 0 };
        }
        // For twice the entries.
        let words = (counts.len() * 2 * BITS).div_ceil(64);
        let mut hint = Self { words: alloc::vec![0; words], added: 0 };
        counts.keys().for_each(|key| hint.add(key));
        hint
    }

    /// The word and the bit in it of a key, whatever its value.
    #[inline]
    fn place(&self, key: &SpillKey) -> (usize, u64) {
        let place = u64::from(key.segment) << 32 | u64::from(key.place);
        // The highest bits depend on all others.
        let mixed = (place ^ u64::from(key.fingerprint) << 16).wrapping_mul(MIX);
        let word = scale((mixed >> 26) & LOW_32, self.words.len() as u64);
        (index(word), 1 << (mixed >> 58))
    }

    #[inline]
    fn may_hold(&self, key: &SpillKey) -> bool {
        let (word, bit) = self.place(key);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    fn add(&mut self, key: &SpillKey) {
        let (word, bit) = self.place(key);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
        self.added += 1;
    }

    /// Once nothing is spilled, takes no memory.
    fn forget(&mut self, counts: &BTreeMap<SpillKey, u64>) {
        if counts.is_empty() {
            *self = Self::default();
        }
    }

    /// Whether the bits must be rebuilt.
    fn is_full(&self) -> bool {
        self.added * BITS > self.words.len() * 64
    }

    fn size_in_bytes(&self) -> u64 {
        size_of_val(&*self.words) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hint is of use, and gives up where rebuilding would take long.
    #[test]
    fn hints_are_bounded() {
        let key =
            |place| SpillKey { segment: place % 7, place, fingerprint: 1 + place % 99, value: 0 };
        let keys = || (0..).take(3 * MOST_HINTED).map(key);
        let mut spill = Spill::default();
        for (number, added) in keys().enumerate() {
            spill.add(added, 1);
            assert!(spill.may_hold(&added));
            assert!(spill.hint.words.len() <= 2 * MOST_HINTED);
            if number == 1000 {
                let hinted = (100_000..200_000).filter(|&other| spill.may_hold(&key(other)));
                assert!(hinted.count() < 2 * 100_000 / BITS);
            }
        }
        assert_eq!(spill.hint.words, [u64::MAX]);
        assert!(keys().all(|key| spill.take(&key)));
        assert_eq!(spill.size_in_bytes(), 0);
    }
}
