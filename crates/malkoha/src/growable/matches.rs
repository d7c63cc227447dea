//! The slots that match a key.

use super::segment::Position;
use super::shape::LANES;

/// A slot that matches a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Match {
    pub(super) fingerprint: u64,
    pub(super) value: u64,
    pub(super) at: Position,
}

/// Slots of two buckets.
pub(super) const MOST_MATCHES: usize = 2 * LANES as usize;

/// The slots of two buckets that match a key.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Matches {
    matches: [Match; MOST_MATCHES],
    len: usize,
}

impl Matches {
    #[inline]
    pub(super) fn push(&mut self, found: Match) {
        self.matches[self.len] = found;
        self.len += 1;
    }

    fn as_slice(&self) -> &[Match] {
        &self.matches[..self.len]
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        // At most 8.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let len = self.len as u32;
        len
    }

    /// The fingerprint that knows most of its key. All that match begin each other.
    #[inline]
    pub(super) fn longest(&self) -> Option<u64> {
        let fingerprints = self.as_slice().iter().map(|found| found.fingerprint);
        fingerprints.min_by_key(|fingerprint| fingerprint.trailing_zeros())
    }

    /// Slots with this fingerprint.
    #[inline]
    pub(super) fn copies(&self, fingerprint: u64) -> u32 {
        self.as_slice().iter().map(|found| u32::from(found.fingerprint == fingerprint)).sum()
    }

    /// Removing in this order takes the key's own slot, or one whose key still matches it.
    pub(super) fn longest_first(&mut self) -> &mut [Match] {
        let found = &mut self.matches[..self.len];
        found.sort_by_key(|found| found.fingerprint.trailing_zeros());
        found
    }

    /// The values.
    #[inline]
    pub(super) fn values(self) -> impl Iterator<Item = u64> {
        self.matches.into_iter().take(self.len).map(|found| found.value)
    }

    /// The fingerprints, each once.
    pub(super) fn fingerprints(self) -> impl Iterator<Item = u64> {
        let fingerprint = move |i: usize| self.matches[i].fingerprint;
        let is_first = move |&i: &usize| (0..i).all(|j| fingerprint(j) != fingerprint(i));
        (0..self.len).filter(is_first).map(fingerprint)
    }
}
