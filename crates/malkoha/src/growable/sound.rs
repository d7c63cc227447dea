//! Whether a table from outside is one that these operations could have made.
//!
//! No operation panics or reads outside a segment, whatever slots hold. But slots that lookups pass
//! over, or copies that no slot could take, would make a changed table one that cannot be read
//! again.

use super::kernel::{Kernel, with_codec};
use super::segment::Segment;
use super::shape::Shape;
use super::table::{Growing, Record};
use crate::spill::SpillKey;

/// Whether all slots of a segment can be: occupied ones come first in their buckets, where lookups
/// find them, and know as many bits as they must.
pub(crate) fn is_sound(shape: &Shape, record: &Record, bytes: &[u8]) -> bool {
    with_codec!(&Kernel::new(shape), codec => {
        let segment = Segment::new(codec, record.form, record.home);
        let grid = record.form.grid;
        let least = shape.least_length(record.home.depth);
        let mut is_sound = true;
        for bucket in 0..grid.buckets() {
            let mut occupied = 0;
            segment.for_each_in(bytes, bucket, |slot, mix| {
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
    /// The number of the first spilled entry that cannot be: its place is not the first, it knows
    /// too few bits, or a slot cannot take its value.
    pub(crate) fn first_unsound(&self) -> Option<usize> {
        self.spill.iter().position(|(key, _)| !self.is_sound(&key))
    }

    fn is_sound(&self, key: &SpillKey) -> bool {
        let record = self.record(key.segment as usize);
        let (place, fingerprint) = (u64::from(key.place), u64::from(key.fingerprint));
        with_codec!(&self.kernel, codec => {
            let segment = Segment::new(codec, record.form, record.home);
            place <= segment.mix(fingerprint).alternate(place)
                && codec.length(fingerprint) >= self.shape.least_length(record.home.depth)
                && u64::BITS - key.value.leading_zeros() <= record.form.value_bits
        })
    }
}
