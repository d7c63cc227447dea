//! What lies in a filter or a map of fixed size, slot by slot: for tools.

use std::ops::{Deref, Range};

use crate::addressing::Probe;
use crate::filter::CuckooFilter;
use crate::layout::CopyLayout;
use crate::spill::{Spill, SpillKey};

/// Places whose slots are read at a time.
const PLACES_AT_ONCE: u64 = 1024;

/// What an occupied slot holds, or copies beside the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The number of the segment, from 0.
    pub segment: u32,
    /// The number of the bucket in its segment, from 0; in gap windows, the slot at which the
    /// fingerprint's window begins. For spilled copies, the lesser of their two places.
    pub place: u32,
    /// The fingerprint, at least 1.
    pub fingerprint: u32,
    /// The value; 0 in a set.
    pub value: u64,
    /// 1 for a slot; more, maybe, for spilled copies.
    pub copies: u64,
}

impl<B: Deref<Target = [u8]>> CuckooFilter<B> {
    /// All that is in, slot by slot and then the spilled copies: for tools. Copies add up to
    /// [`len`](Self::len).
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.table().entries()
    }

    /// Copies that lie beside the table.
    #[must_use]
    pub fn spilled(&self) -> u64 {
        self.table().spill().copies()
    }
}

impl Entry {
    fn of(probe: &Probe, value: u64) -> Self {
        Self { value, ..Self::in_slot(probe.segment, probe.first, probe.fingerprint) }
    }

    pub(crate) fn in_slot(segment: u64, place: u64, fingerprint: u64) -> Self {
        // Segments and places are numbered by 32 bits, and fingerprints have as many.
        let narrow = |number: u64| u32::try_from(number).expect("at most 32 bits");
        let (segment, place, fingerprint) = (narrow(segment), narrow(place), narrow(fingerprint));
        Self { segment, place, fingerprint, value: 0, copies: 1 }
    }

    pub(crate) fn spilled(key: SpillKey, copies: u64) -> Self {
        let SpillKey { segment, place, fingerprint, value } = key;
        Self { segment, place, fingerprint, value, copies }
    }
}

/// Segment by segment, then the spilled copies. `read` reads some places of a segment.
pub(crate) fn entries<'a>(
    segments: u32,
    places: u64,
    spill: &'a Spill,
    read: impl Fn(u64, Range<u64>) -> Vec<Entry> + 'a,
) -> impl Iterator<Item = Entry> + 'a {
    let starts = (0..places).step_by(usize::try_from(PLACES_AT_ONCE).expect("small"));
    let parts = (0..u64::from(segments))
        .flat_map(move |segment| starts.clone().map(move |start| (segment, start)));
    let slots = parts
        .flat_map(move |(segment, start)| read(segment, start..places.min(start + PLACES_AT_ONCE)));
    slots.chain(spill.iter().map(|(key, copies)| Entry::spilled(key, copies)))
}

/// The occupied slots of some places.
pub(crate) fn of_places<L: CopyLayout>(
    layout: &L,
    bytes: &[u8],
    segment: u64,
    places: Range<u64>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    for place in places {
        layout.for_each_occupant(bytes, segment, place, |probe, value| {
            entries.push(Entry::of(&probe, value));
        });
    }
    entries
}
