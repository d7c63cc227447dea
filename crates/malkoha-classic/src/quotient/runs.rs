//! Runs and clusters: finding, opening and closing them.
//!
//! A run starts at or after the slot of its quotient. Within a cluster, runs lie in the order of
//! their quotients, so that the n-th run belongs to the n-th occupied quotient.

use super::blocks::{Bit, Blocks, slot};
use crate::arch::select;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    blocks: Blocks,
}

impl Table {
    pub(super) const fn new(blocks: Blocks) -> Self {
        Self { blocks }
    }

    pub(super) const fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// How many runs of quotients up to `quotient` start after its slot. The slot is not empty.
    ///
    /// Counted back to the cluster's start: occupied quotients less run starts.
    #[inline(always)]
    fn runs_after(&self, quotient: u64) -> u32 {
        let [occupied, continuation, shifted] = self.blocks.metadata(quotient);
        let up_to = u64::MAX >> (63 - slot(quotient));
        let unshifted = !shifted & up_to;
        if unshifted != 0 {
            let cluster = up_to & (u64::MAX << (63 - unshifted.leading_zeros()));
            return (occupied & cluster).count_ones() - (!continuation & cluster).count_ones();
        }
        self.runs_after_from_far(quotient, occupied & up_to, !continuation & up_to)
    }

    /// [`runs_after`](Self::runs_after) of a cluster that starts in an earlier block.
    fn runs_after_from_far(&self, quotient: u64, occupied: u64, starts: u64) -> u32 {
        // Run starts never outnumber occupied quotients in the whole, but they may in a block.
        let mut surplus = i64::from(occupied.count_ones()) - i64::from(starts.count_ones());
        let mut position = quotient;
        loop {
            position = position.wrapping_sub(64);
            let [occupied, continuation, shifted] = self.blocks.metadata(position);
            let from = if shifted == u64::MAX {
                u64::MAX
            } else {
                u64::MAX << (63 - (!shifted).leading_zeros())
            };
            surplus += i64::from((occupied & from).count_ones());
            surplus -= i64::from((!continuation & from).count_ones());
            if shifted != u64::MAX {
                return u32::try_from(surplus).expect("runs start at or after their quotients");
            }
        }
    }

    /// The position of the `n`-th slot after `position`, counted from 1, that continues no run: it
    /// starts one or is empty.
    #[inline(always)]
    fn nth_start(&self, position: u64, n: u32) -> u64 {
        let mut left = n;
        let mut block = position & !63;
        let after = !self.blocks.bits(Bit::Continuation, block);
        let mut starts = after & u64::MAX << slot(position) << 1;
        loop {
            let count = starts.count_ones();
            if left <= count {
                return block + u64::from(select(starts, left - 1));
            }
            left -= count;
            block += 64;
            starts = !self.blocks.bits(Bit::Continuation, block);
        }
    }

    /// The start of the run of an occupied quotient; at or after it, so perhaps beyond the slots.
    #[inline(always)]
    fn run_start(&self, quotient: u64) -> u64 {
        match self.runs_after(quotient) {
            0 => quotient,
            n => self.nth_start(quotient, n),
        }
    }

    #[inline(always)]
    pub(super) fn contains(&self, quotient: u64, remainder: u64) -> bool {
        if !self.blocks.get(Bit::Occupied, quotient) {
            return false;
        }
        let position = self.first_not_below(self.run_start(quotient), remainder);
        position.is_some_and(|position| self.blocks.remainder(position) == remainder)
    }

    pub(super) fn count(&self, quotient: u64, remainder: u64) -> u64 {
        if !self.blocks.get(Bit::Occupied, quotient) {
            return 0;
        }
        let Some(mut position) = self.first_not_below(self.run_start(quotient), remainder) else {
            return 0;
        };
        let mut copies = 0;
        while self.blocks.remainder(position) == remainder {
            copies += 1;
            position += 1;
            if !self.blocks.get(Bit::Continuation, position) {
                break;
            }
        }
        copies
    }

    /// The first slot of the run at `start` whose remainder is not below `remainder`.
    #[inline(always)]
    fn first_not_below(&self, start: u64, remainder: u64) -> Option<u64> {
        let mut position = start;
        while self.blocks.remainder(position) < remainder {
            position += 1;
            if !self.blocks.get(Bit::Continuation, position) {
                return None;
            }
        }
        Some(position)
    }

    /// The first slot from `position` on that is empty.
    #[inline(always)]
    fn first_empty(&self, position: u64) -> u64 {
        let mut block = position & !63;
        let mut from = u64::MAX << slot(position);
        loop {
            let [occupied, continuation, shifted] = self.blocks.metadata(block);
            let empty = !(occupied | continuation | shifted) & from;
            if empty != 0 {
                return block + u64::from(empty.trailing_zeros());
            }
            from = u64::MAX;
            block += 64;
        }
    }

    /// Inserts a remainder. At least two slots are empty.
    #[inline]
    pub(super) fn insert(&mut self, quotient: u64, remainder: u64) {
        let [occupied, continuation, shifted] = self.blocks.metadata(quotient);
        let bit = 1 << slot(quotient);
        if (occupied | continuation | shifted) & bit == 0 {
            self.blocks.set(Bit::Occupied, quotient, true);
            self.blocks.set_remainder(quotient, remainder);
            return;
        }
        let after = self.runs_after(quotient);
        let (position, starts_run, demotes) = if occupied & bit == 0 {
            // The new run begins where the run before it ends.
            (self.nth_start(quotient, after + 1), true, false)
        } else {
            let start = if after == 0 { quotient } else { self.nth_start(quotient, after) };
            match self.first_not_below(start, remainder) {
                Some(position) => (position, position == start, position == start),
                None => (self.nth_start(start, 1), false, false),
            }
        };
        self.blocks.set(Bit::Occupied, quotient, true);
        self.blocks.open(position, self.first_empty(position));
        self.blocks.set_remainder(position, remainder);
        self.blocks.set(Bit::Continuation, position, !starts_run);
        self.blocks.set(Bit::Shifted, position, position != quotient);
        if demotes {
            self.blocks.set(Bit::Continuation, position + 1, true);
        }
    }

    /// Removes one copy of a remainder; answers whether there was one.
    #[inline]
    pub(super) fn remove(&mut self, quotient: u64, remainder: u64) -> bool {
        if !self.blocks.get(Bit::Occupied, quotient) {
            return false;
        }
        let start = self.run_start(quotient);
        let Some(position) = self.first_not_below(start, remainder) else { return false };
        if self.blocks.remainder(position) != remainder {
            return false;
        }
        let next_continues = self.blocks.get(Bit::Continuation, position + 1);
        let removes_start = position == start;
        if removes_start && next_continues {
            // The second of the run becomes its first.
            self.blocks.set(Bit::Continuation, position + 1, false);
        }
        let end = self.first_unshifted(position + 1) - 1;
        self.blocks.close(position, end);
        if removes_start && !next_continues {
            self.blocks.set(Bit::Occupied, quotient, false);
        }
        self.settle(quotient, removes_start && next_continues, position, end);
        true
    }

    /// The first slot from `position` on that is empty or starts a cluster.
    #[inline(always)]
    fn first_unshifted(&self, position: u64) -> u64 {
        let mut block = position & !63;
        let mut from = u64::MAX << slot(position);
        loop {
            let unshifted = !self.blocks.bits(Bit::Shifted, block) & from;
            if unshifted != 0 {
                return block + u64::from(unshifted.trailing_zeros());
            }
            from = u64::MAX;
            block += 64;
        }
    }

    /// Corrects the shifted bits of the runs that start in `from..end`, after all in it moved down
    /// by one slot: those that came home to their quotient's slot are not shifted any more. The
    /// first of them is the run of `quotient` or, if not `own_first`, that of the next quotient.
    fn settle(&mut self, quotient: u64, own_first: bool, from: u64, end: u64) {
        let mut start = from;
        if self.blocks.get(Bit::Continuation, from) {
            start = self.nth_start(from, 1);
        }
        let mut run_quotient = quotient;
        let mut known = own_first;
        while start < end {
            if !known {
                run_quotient = self.next_occupied(run_quotient);
            }
            if start == run_quotient {
                self.blocks.set(Bit::Shifted, start, false);
            }
            known = false;
            start = self.nth_start(start, 1);
        }
    }

    /// The first occupied quotient after `quotient`. There is one.
    #[inline(always)]
    fn next_occupied(&self, quotient: u64) -> u64 {
        let mut block = quotient & !63;
        let mut occupied = self.blocks.bits(Bit::Occupied, block) & u64::MAX << slot(quotient) << 1;
        while occupied == 0 {
            block += 64;
            occupied = self.blocks.bits(Bit::Occupied, block);
        }
        block + u64::from(occupied.trailing_zeros())
    }
}
