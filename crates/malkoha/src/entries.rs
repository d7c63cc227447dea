//! The content of a table, slot by slot, for tools.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addressing::Probe;
use crate::spill::{Spill, SpillKey};

/// Places whose slots are read at a time.
const PLACES_AT_ONCE: u64 = 1024;

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

/// Segment by segment, then the spilled copies. `read` calls a function with what lies in some
/// places of a segment.
pub(crate) fn entries<'a>(
    segments: u32,
    places: u64,
    fingerprint_bits: u32,
    spill: &'a Spill,
    read: impl Fn(u64, Range<u64>, &mut dyn FnMut(Probe, u64)) + 'a,
) -> impl Iterator<Item = Entry> + 'a {
    let entry = move |key, copies| Entry::new(key, copies, fingerprint_bits);
    let starts = (0..places).step_by(usize::try_from(PLACES_AT_ONCE).expect("small"));
    let parts = (0..u64::from(segments))
        .flat_map(move |segment| starts.clone().map(move |start| (segment, start)));
    let slots = parts.flat_map(move |(segment, start)| {
        let mut entries = Vec::new();
        read(segment, start..places.min(start + PLACES_AT_ONCE), &mut |probe, value| {
            // Segments have at most 2^18 places.
            let place = u32::try_from(probe.first).expect("a place of a segment");
            entries.push(Entry { place, ..entry(SpillKey::of(&probe, value), 1) });
        });
        entries
    });
    slots.chain(spill.iter().map(move |(key, copies)| entry(key, copies)))
}
