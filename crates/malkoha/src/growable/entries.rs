//! What lies in a growable filter or map, slot by slot: for tools.

use super::segment::{Segment, Slot};
use super::table::{GrowTable, narrow, with_codec};
use crate::layout::bits::Word;

/// An occupied slot, or copies beside the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrowableEntry {
    /// The number of the segment, from 0.
    pub segment: u32,
    /// The number of the bucket in its segment, from 0.
    pub bucket: u32,
    /// What the slot holds of the key's string: a number of `bits` bits.
    pub fingerprint: u32,
    /// Bits that are left to the fingerprint; each split of its segment took one.
    pub bits: u32,
    /// The value; 0 in a set.
    pub value: u64,
    /// 1 for a slot; more, maybe, for spilled copies.
    pub copies: u64,
}

impl GrowTable {
    /// Segment by segment, then the spilled copies.
    pub(super) fn entries(&self) -> impl Iterator<Item = GrowableEntry> {
        let slots = (0..self.segments()).flat_map(|number| self.entries_of(number));
        slots.chain(self.spill().iter().map(|(key, copies)| {
            let number = key.segment as usize;
            with_codec!(&self.kernel, codec => {
                let segment = self.segment(codec, number);
                let place = key.place.into();
                let [bucket, _] = segment.buckets_of([place, place], key.fingerprint.into());
                entry(&segment, number, bucket, key.fingerprint.into(), key.value, copies)
            })
        }))
    }

    fn entries_of(&self, number: usize) -> Vec<GrowableEntry> {
        let bytes = self.bytes(number);
        with_codec!(&self.kernel, codec => {
            let segment = self.segment(codec, number);
            let mut entries = Vec::new();
            segment.for_each_occupant(bytes, |bucket, Slot { fingerprint, value, .. }, _| {
                entries.push(entry(&segment, number, bucket, fingerprint, value, 1));
            });
            entries
        })
    }
}

fn entry<W: Word>(
    segment: &Segment<'_, W>,
    number: usize,
    bucket: u64,
    fingerprint: u64,
    value: u64,
    copies: u64,
) -> GrowableEntry {
    let bits = segment.codec.length(fingerprint);
    GrowableEntry {
        segment: narrow(number as u64),
        bucket: narrow(bucket),
        fingerprint: narrow(fingerprint >> (segment.codec.bits - bits + 1)),
        bits,
        value,
        copies,
    }
}
