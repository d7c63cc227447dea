//! The content of a table, slot by slot, for tools.

use crate::spill::SpillKey;

/// The content of an occupied slot, or of copies outside the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The number of the segment, from 0.
    pub segment: u32,
    /// The number of the bucket in its segment, from 0; in gap windows, the slot at which the
    /// fingerprint's window begins. For spilled copies, the lesser of their two places.
    pub place: u32,
    /// The fingerprint: a number of `fingerprint_bits` bits, at least 1 in a table that does not
    /// grow.
    pub fingerprint: u32,
    /// Bits of this fingerprint. In a growable table each split of its segment took one.
    pub fingerprint_bits: u32,
    /// The value; 0 in a set.
    pub value: u64,
    /// 1 for a slot; 1 or more for spilled copies.
    pub copies: u64,
}

impl Entry {
    pub(crate) fn new(key: SpillKey, copies: u64, fingerprint_bits: u32) -> Self {
        let SpillKey { segment, place, fingerprint, value } = key;
        Self { segment, place, fingerprint, fingerprint_bits, value, copies }
    }
}
