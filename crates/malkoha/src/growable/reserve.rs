//! Reserves room for a known number of keys: segments are split and widened while they hold little
//! that must be moved.

use super::grid::{Grid, MAX_BUCKETS, PLACES};
use super::partitions::PARTITION_BITS;
use super::rebuild::Misfit;
use super::record::Record;
use super::segment::Form;
use super::shape::ROOM;
use super::table::{Growing, narrow};
use super::widths::MAX_DEPTH;
use crate::table::memory;
use crate::table::traits::Lookup;

/// Room for a batch in segments, in hundredths of what their keys fill: some get more than their
/// share.
const BATCH_ROOM: u64 = 104;
/// More keys than any memory holds.
const MOST_KEYS: u64 = 1 << 50;

impl Growing {
    /// Makes room for `keys` keys in total, with values of `value_bits` bits. Segments that cannot
    /// be split stay as they are, and grow when they must. If the system would not give the memory,
    /// nothing changes, and the error is the number of bytes needed.
    pub(crate) fn reserve(&mut self, keys: u64, value_bits: u32) -> Result<(), u64> {
        self.reserve_more(keys, value_bits, ROOM)
    }

    /// The same with `room` hundredths of the room that the keys fill. In a partition, makes room
    /// for its share of `keys` keys in the whole tree.
    fn reserve_more(&mut self, keys: u64, value_bits: u32, room: u64) -> Result<(), u64> {
        let (depth, buckets) = self.to_reserve(keys, value_bits, room)?;
        let mut number = 0;
        // Splits add segments at the end.
        while number < self.segments.len() {
            self.split_to(number, depth, value_bits);
            self.reform(number, buckets, value_bits);
            number += 1;
        }
        Ok(())
    }

    /// Makes room for this many keys in the whole tree, of which this can be a partition. Without
    /// the memory, the table grows as the keys come.
    pub(crate) fn make_room_to(&mut self, keys: u64) {
        let _ = self.reserve_more(keys, 0, BATCH_ROOM);
    }

    /// Splits segments that will belong to several partitions when there is
    /// [room](Self::make_room_to).
    pub(crate) fn split_for_room(&mut self, keys: u64) {
        let Ok((depth, _)) = self.to_reserve(keys, 0, BATCH_ROOM) else { return };
        let mut number = 0;
        while number < self.segments.len() {
            self.split_to(number, depth.min(PARTITION_BITS), 0);
            number += 1;
        }
    }

    /// How deep segments will lie, and how many buckets each will have, if `keys` keys in the whole
    /// tree have room. If the system would not give the memory for this partition's share, the
    /// error is the number of bytes needed.
    fn to_reserve(&self, keys: u64, value_bits: u32, room: u64) -> Result<(u32, u64), u64> {
        let keys = keys.min(MOST_KEYS);
        let buckets = |depth: u32| self.shape.buckets_for((keys >> depth) * room / 100);
        let depth = (0..).find(|&depth| buckets(depth) <= MAX_BUCKETS).unwrap_or(0);
        let form = Form { grid: Grid::new(narrow(buckets(depth).max(1))), value_bits };
        let below = depth.saturating_sub(self.directory.within().depth);
        let bytes =
            (1_u64 << below).saturating_mul(form.segment_bytes(self.shape.widths.at(depth)) as u64);
        if !memory::can_allocate(bytes.saturating_sub(self.size_in_bytes())) {
            return Err(bytes);
        }
        let depth = depth.min(MAX_DEPTH);
        Ok((depth, buckets(depth)))
    }

    /// Splits a segment down to a depth, as far as it can be split.
    fn split_to(&mut self, number: usize, depth: u32, value_bits: u32) {
        while self.records[number].home.depth < depth
            && self.reform(number, PLACES, value_bits)
            && self.split(number)
        {}
    }

    /// Gives a segment at least this many buckets and bits; `false` if its keys do not fit then.
    fn reform(&mut self, number: usize, buckets: u64, value_bits: u32) -> bool {
        let Record { form, .. } = self.records[number];
        let buckets = buckets.min(MAX_BUCKETS).max(form.grid.buckets());
        let grid = Grid::new(narrow(buckets));
        let form = Form { grid, value_bits: value_bits.max(form.value_bits) };
        form == self.records[number].form || self.rebuild(number, form, Misfit::Refuse)
    }
}
