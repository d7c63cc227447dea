//! Checks whether a table from outside is one that these operations could have made.
//!
//! No operation panics or reads outside a segment, whatever slots hold. But a table with slots that
//! lookups pass over, or with copies that fit no slot, could become unreadable after a change.

use super::grid::MIX_BITS;
use super::record::Record;
use super::shape::Shape;
use super::table::{Growing, Known, known_bits};
use crate::spill::SpillKey;

/// Occupied slots of a segment, of which `known` then counts how much each knows of its key's
/// string; `None` if some of them cannot be: occupied ones come first in their buckets, where
/// lookups find them, and know as many bits as they must.
pub(crate) fn count_slots(
    shape: &Shape,
    record: &Record,
    bytes: &[u8],
    known: &mut Known,
) -> Option<u32> {
    let segment = record.segment(shape);
    let grid = record.form.grid;
    let depth = record.home.depth;
    let (mut is_valid, mut len) = (true, 0);
    for bucket in 0..grid.buckets() {
        let mut occupied = 0;
        segment.for_each_in(bytes, bucket, |slot, mix| {
            occupied += 1;
            is_valid &= segment.codec.length(slot.fingerprint) >= MIX_BITS
                && grid.bucket(slot.place, mix) == bucket;
            known[known_bits(shape, depth, slot.fingerprint)] += 1;
        });
        is_valid &= occupied == segment.codec.len(segment.load(bytes, bucket));
        len += occupied;
    }
    is_valid.then_some(len)
}

impl Growing {
    /// Takes an entry of a spill list, unless it cannot be: its place is not the first, it knows
    /// too few bits, or a slot cannot take its value.
    pub(crate) fn take_spilled(&mut self, key: SpillKey, copies: u64) -> bool {
        let is_valid = self.is_valid(&key);
        if is_valid && self.has_slot(&key) {
            self.spill.add(key, copies);
        } else if is_valid {
            self.stash(key, copies);
        }
        is_valid
    }

    fn is_valid(&self, key: &SpillKey) -> bool {
        let number = key.segment as usize;
        let record = self.record(number);
        let (place, fingerprint) = (u64::from(key.place), u64::from(key.fingerprint));
        let segment = record.segment(&self.shape);
        fingerprint >> segment.codec.width == 0
            && place <= segment.mix(fingerprint).alternate(place)
            && segment.codec.length(fingerprint) >= MIX_BITS
            && u64::BITS - key.value.leading_zeros() <= record.form.value_bits
    }
}
