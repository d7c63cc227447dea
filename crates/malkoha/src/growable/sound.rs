//! Whether a table from outside is one that these operations could have made.
//!
//! No operation panics or reads outside a segment, whatever slots hold. But slots that lookups pass
//! over, or copies without a slot, would make a changed table one that cannot be read again.

use super::segment::Segment;
use super::shape::Shape;
use super::table::{Growing, Kernel, Record, with_codec};
use crate::spill::SpillKey;

/// Whether all slots of a segment can be: occupied ones come first in their buckets, where lookups
/// find them, and know as many bits as they must.
pub(crate) fn is_sound(shape: &Shape, record: &Record, bytes: &[u8]) -> bool {
    with_codec!(&Kernel::new(shape), codec => {
        let segment = Segment::new(codec, record.form, record.home);
        let grid = record.form.grid;
        let least = shape.least_length(record.home.depth);
        let mut is_sound = true;
        for (bucket, stretch) in (0..).zip(grid.stretches()) {
            let mut occupied = 0;
            segment.for_each_in(bytes, bucket, stretch, |slot, mix| {
                occupied += 1;
                is_sound &= codec.length(slot.fingerprint) >= least
                    && grid.bucket(slot.place, mix) == bucket;
            });
            is_sound &= occupied == codec.len(segment.load(bytes, bucket));
        }
        is_sound
    })
}

impl Growing {
    /// The number of the first spilled entry without a slot of its fingerprint that can take its
    /// value.
    pub(crate) fn first_without_slot(&self) -> Option<usize> {
        self.spill.iter().position(|(key, _)| !self.has_slot(&key))
    }

    fn has_slot(&self, key: &SpillKey) -> bool {
        let number = key.segment as usize;
        let (place, fingerprint) = (u64::from(key.place), u64::from(key.fingerprint));
        let bytes = self.bytes(number);
        with_codec!(&self.kernel, codec => {
            let segment = self.segment(codec, number);
            let places = [place, segment.mix(fingerprint).alternate(place)];
            let mut has = false;
            let buckets = segment.buckets_of(places, fingerprint);
            segment.for_each_match(bytes, places, buckets, fingerprint, |at| {
                has |= segment.fingerprint(bytes, at) == fingerprint;
            });
            // A removal from the slot brings the value into it.
            let fits = u64::BITS - key.value.leading_zeros() <= segment.form.value_bits;
            has && fits && place <= places[1]
        })
    }
}
