//! Room beforehand, for a number of keys that is known: segments are split and widened while there
//! is little in them to move.

use super::directory::Form;
use super::grid::{Grid, MAX_BUCKETS, PLACES};
use super::shape::{ROOM, buckets_for};
use super::table::{GrowTable, Record, narrow};

impl GrowTable {
    /// Makes room for so many keys in all, with values of so many bits. Segments that cannot be
    /// split stay as they are, and grow when they must.
    pub(super) fn reserve(&mut self, keys: u64, value_bits: u32) {
        let of_root = keys.div_ceil(self.shape.roots.into());
        let buckets = |depth: u32| buckets_for((of_root >> depth) * ROOM / 100);
        let depth = (0..self.shape.bits).find(|&depth| buckets(depth) <= MAX_BUCKETS);
        let depth = depth.unwrap_or(self.shape.bits);
        let mut number = 0;
        // Splits add segments at the end.
        while number < self.segments.len() {
            while self.records[number].home.depth < depth
                && self.reform(number, PLACES, value_bits)
                && self.split(number)
            {}
            self.reform(number, buckets(depth), value_bits);
            number += 1;
        }
    }

    /// Gives a segment at least so many buckets and bits; `false` if its keys do not fit then.
    fn reform(&mut self, number: usize, buckets: u64, value_bits: u32) -> bool {
        let Record { form, .. } = self.records[number];
        let buckets = buckets.min(MAX_BUCKETS).max(form.grid.buckets());
        let grid = Grid::new(narrow(buckets));
        let form = Form { grid, value_bits: value_bits.max(form.value_bits) };
        form == self.records[number].form || self.rebuild(number, form)
    }
}
