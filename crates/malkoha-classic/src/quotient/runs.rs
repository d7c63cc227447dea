//! Runs: finding, opening and closing them.
//!
//! A run starts at or after the slot of its quotient, and runs lie in the order of their quotients.
//! So of the quotients of one block, the n-th that is occupied has the n-th run that ends from the
//! block's offset on: one count and one search for a set bit find it, however long the cluster of
//! runs is that it lies in (Pandey, Bender, Johnson and Patro, SIGMOD 2017, section 2).

use super::blocks::{Bit, Blocks, slot};
use crate::arch::{Select, by_bit_instructions};

by_bit_instructions! { Blocks {
    /// Whether this remainder of a quotient is in.
    fn contains, contains_fast, contains_by(&Blocks, quotient: u64, remainder: u64) -> bool;
    /// How many copies of it are in.
    fn count, count_fast, count_by(&Blocks, quotient: u64, remainder: u64) -> u64;
    /// Inserts a remainder. At least two slots are empty.
    fn insert, insert_fast, insert_by(&mut Blocks, quotient: u64, remainder: u64) -> ();
    /// Removes one copy of a remainder; returns whether there was one.
    fn remove, remove_fast, remove_by(&mut Blocks, quotient: u64, remainder: u64) -> bool;
} }

impl Blocks {
    /// The first slot behind the runs of all quotients before this one. Not behind `quotient` if
    /// none of them reaches that slot.
    #[inline(always)]
    fn behind_earlier<S: Select>(
        &self,
        bits: S,
        quotient: u64,
        [occupied, ends, offset]: [u64; 3],
    ) -> u64 {
        let (block, below) = (quotient & !63, occupied & !(u64::MAX << slot(quotient)));
        let runs = below.count_ones();
        if runs == 0 {
            return block + offset;
        }
        // The end of the last of them: the ends are counted from 0, from the block's offset on.
        let (mut left, mut first) = (runs - 1, block + (offset & !63));
        let mut ends = if offset < 64 { ends } else { self.bits(Bit::End, first) };
        ends &= u64::MAX << slot(offset);
        loop {
            match bits.select(ends, left) {
                Ok(end) => return first + u64::from(end) + 1,
                Err(count) => left -= count,
            }
            first += 64;
            ends = self.bits(Bit::End, first);
        }
    }

    /// The first slot of a quotient's run, if it has one.
    #[inline(always)]
    fn run_start<S: Select>(&self, bits: S, quotient: u64) -> Option<u64> {
        let metadata = self.metadata(quotient);
        if metadata[0] >> slot(quotient) & 1 == 0 {
            return None;
        }
        Some(quotient.max(self.behind_earlier(bits, quotient, metadata)))
    }

    #[inline(always)]
    fn contains_by<S: Select>(&self, bits: S, quotient: u64, remainder: u64) -> bool {
        let start = self.run_start(bits, quotient);
        start.is_some_and(|start| self.run_has(start, remainder))
    }

    #[inline(always)]
    fn count_by<S: Select>(&self, bits: S, quotient: u64, remainder: u64) -> u64 {
        let Some(start) = self.run_start(bits, quotient) else { return 0 };
        let Ok(mut position) = self.first_not_below(start, remainder) else { return 0 };
        let mut copies = 0;
        while self.remainder(position) == remainder {
            copies += 1;
            if self.get(Bit::End, position) {
                break;
            }
            position += 1;
        }
        copies
    }

    /// A lower bound on the slots that the runs of quotients up to `position` take behind the first
    /// `passed` slots of its block. `passed` counts the slots up to `position`, with or without it.
    #[inline(always)]
    fn taken(&self, position: u64, passed: u32) -> u64 {
        let [occupied, ends, offset] = self.metadata(position);
        let runs = u64::from((occupied & u64::MAX >> (63 - slot(position))).count_ones());
        let passed = u64::from(passed);
        if offset >= passed {
            return offset - passed + runs;
        }
        // The ends of runs in the slots from the offset to `passed`.
        let ended = ends & u64::MAX << offset & u64::MAX >> (64 - passed);
        runs - u64::from(ended.count_ones())
    }

    /// The first slot from `position` on that is empty.
    #[inline(always)]
    fn first_empty(&self, position: u64) -> u64 {
        let mut position = position;
        loop {
            match self.taken(position, slot(position)) {
                0 => return position,
                taken => position += taken,
            }
        }
    }

    /// The last slot that moves when one at or before `end`, where a run ends, is freed: the slot
    /// behind it is empty, or a run starts there in the slot of its quotient.
    #[inline(always)]
    fn last_moved(&self, end: u64) -> u64 {
        let mut end = end;
        loop {
            match self.taken(end, slot(end) + 1) {
                0 => return end,
                taken => end += taken,
            }
        }
    }

    #[inline(always)]
    fn insert_by<S: Select>(&mut self, bits: S, quotient: u64, remainder: u64) {
        let metadata = self.metadata(quotient);
        let has_run = metadata[0] >> slot(quotient) & 1 != 0;
        let start = self.behind_earlier(bits, quotient, metadata);
        if !has_run && start <= quotient {
            self.set(Bit::Occupied, quotient, true);
            self.set(Bit::End, quotient, true);
            self.set_remainder(quotient, remainder);
            return;
        }
        let inner = if has_run {
            self.first_not_below(quotient.max(start), remainder)
        } else {
            Err(start - 1)
        };
        let (position, behind) = match inner {
            Ok(position) => (position, self.run_end(position) + 1),
            Err(last) => (last + 1, last + 1),
        };
        let empty = self.first_empty(behind);
        self.open(position, empty);
        self.set_remainder(position, remainder);
        if inner.is_err() {
            if has_run {
                self.set(Bit::End, position - 1, false);
            }
            self.set(Bit::End, position, true);
        }
        self.set(Bit::Occupied, quotient, true);
        self.move_offsets(quotient, empty, 1);
    }

    #[inline(always)]
    fn remove_by<S: Select>(&mut self, bits: S, quotient: u64, remainder: u64) -> bool {
        let Some(start) = self.run_start(bits, quotient) else { return false };
        let Ok(position) = self.first_not_below(start, remainder) else { return false };
        if self.remainder(position) != remainder {
            return false;
        }
        let end = self.run_end(position);
        let last = self.last_moved(end);
        self.close(position, last);
        if position == end && position > start {
            self.set(Bit::End, position - 1, true);
        } else if position == end {
            self.set(Bit::Occupied, quotient, false);
        }
        self.move_offsets(quotient, last, -1);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Portable;
    use crate::words::derive;

    /// Tests the form for processors without bit instructions too: on processors that have them,
    /// the tests of the filter do not reach it.
    #[test]
    fn tables_are_the_same_by_arithmetic_and_by_instructions() {
        let empty = || Blocks::new(10, 5).unwrap();
        let (mut one, mut other) = (empty(), empty());
        let keys = (0..1000).map(|n| derive(n, 0)).map(|hash| (hash >> 54, hash & 31));
        for (quotient, remainder) in keys.clone() {
            one.insert(quotient, remainder);
            other.insert_by(Portable, quotient, remainder);
        }
        assert_eq!(one, other);
        for (quotient, remainder) in keys.clone() {
            assert!(other.contains_by(Portable, quotient, remainder));
            let copies = other.count_by(Portable, quotient, remainder);
            assert_eq!(one.count(quotient, remainder), copies);
        }
        for (quotient, remainder) in keys.step_by(2) {
            assert!(one.remove(quotient, remainder));
            assert!(other.remove_by(Portable, quotient, remainder));
        }
        assert_eq!(one, other);
    }
}
