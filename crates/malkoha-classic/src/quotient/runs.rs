//! Runs and clusters: finding, opening and closing them.
//!
//! A run starts at or after the slot of its quotient. Within a cluster, runs lie in the order of
//! their quotients, so that the n-th run belongs to the n-th occupied quotient.

use super::blocks::{Bit, Blocks, slot};
use crate::arch::{count_both, select};

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

    /// Where the run of a quotient starts, or would start if it has none: at or after its slot, so
    /// perhaps beyond the last slot. The slot is not empty.
    ///
    /// Counted from the cluster's start: of the runs that start from the quotient's slot on, those
    /// of smaller quotients come first.
    #[inline(always)]
    fn run_start(&self, quotient: u64, [occupied, continuation, shifted]: [u64; 3]) -> u64 {
        let own = slot(quotient);
        let (up_to, from) = (u64::MAX >> (63 - own), u64::MAX << own);
        let unshifted = !shifted & up_to;
        if unshifted != 0 {
            let cluster = u64::MAX << (63 - unshifted.leading_zeros());
            let below = cluster & (up_to >> 1);
            // Occupied quotients below, less the run starts below: those are the slots that are
            // neither outside nor continue a run.
            let n = count_both(occupied & below, continuation | !below) - 64;
            if let Ok(start) = select(!continuation & from, n) {
                return quotient - u64::from(own) + u64::from(start);
            }
        }
        self.far_run_start(quotient)
    }

    /// [`run_start`](Self::run_start) where the cluster's start, or the run's, is in another block.
    #[inline(never)]
    fn far_run_start(&self, quotient: u64) -> u64 {
        let mut below = u64::MAX >> (63 - slot(quotient)) >> 1;
        let mut position = quotient;
        // Occupied quotients less run starts: never negative in the whole, but in a block perhaps.
        let mut n = 0;
        let mut own = 1 << slot(quotient);
        loop {
            let [occupied, continuation, shifted] = self.blocks.metadata(position);
            let unshifted = !shifted & (below | own);
            let cluster = if unshifted == 0 {
                u64::MAX
            } else {
                u64::MAX << (63 - unshifted.leading_zeros())
            };
            n += i64::from((occupied & cluster & below).count_ones());
            n -= i64::from((!continuation & cluster & below).count_ones());
            if unshifted != 0 {
                break;
            }
            (below, own) = (u64::MAX, 0);
            position = position.wrapping_sub(64);
        }
        let n = u32::try_from(n).expect("runs start at or after their quotients");
        self.nth_start(quotient, n)
    }

    /// The position of slot number `n`, counted from 0 and from `position` on, that continues no
    /// run: it starts one or is empty.
    #[inline(always)]
    fn nth_start(&self, position: u64, n: u32) -> u64 {
        let mut left = n;
        let mut block = position & !63;
        let mut starts = !self.blocks.bits(Bit::Continuation, block) & u64::MAX << slot(position);
        loop {
            match select(starts, left) {
                Ok(start) => return block + u64::from(start),
                Err(count) => left -= count,
            }
            block += 64;
            starts = !self.blocks.bits(Bit::Continuation, block);
        }
    }

    #[inline(always)]
    pub(super) fn contains(&self, quotient: u64, remainder: u64) -> bool {
        let metadata = self.blocks.metadata(quotient);
        if metadata[0] >> slot(quotient) & 1 == 0 {
            return false;
        }
        // The order within the run is no help: a branch on it would be mispredicted half the time.
        let mut position = self.run_start(quotient, metadata);
        while self.blocks.remainder(position) != remainder {
            position += 1;
            if !self.blocks.get(Bit::Continuation, position) {
                return false;
            }
        }
        true
    }

    pub(super) fn count(&self, quotient: u64, remainder: u64) -> u64 {
        if !self.blocks.get(Bit::Occupied, quotient) {
            return 0;
        }
        let start = self.run_start(quotient, self.blocks.metadata(quotient));
        let Some(mut position) = self.first_not_below(start, remainder) else { return 0 };
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
        let metadata @ [occupied, continuation, shifted] = self.blocks.metadata(quotient);
        let bit = 1 << slot(quotient);
        if (occupied | continuation | shifted) & bit == 0 {
            self.blocks.set(Bit::Occupied, quotient, true);
            self.blocks.set_remainder(quotient, remainder);
            return;
        }
        let start = self.run_start(quotient, metadata);
        let (position, starts_run, demotes) = if occupied & bit == 0 {
            // The new run begins where the run before it ends.
            (start, true, false)
        } else {
            match self.first_not_below(start, remainder) {
                Some(position) => (position, position == start, position == start),
                None => (self.nth_start(start + 1, 0), false, false),
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
        let start = self.run_start(quotient, self.blocks.metadata(quotient));
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
        if position == end {
            self.blocks.empty(position);
        } else {
            self.blocks.close(position, end);
        }
        if removes_start && !next_continues {
            self.blocks.set(Bit::Occupied, quotient, false);
        }
        if position < end {
            self.settle(quotient, removes_start && next_continues, position, end);
        }
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
    ///
    /// A run is at home where its start and its quotient are in one slot, and as many quotients as
    /// runs lie between `quotient` and there.
    fn settle(&mut self, quotient: u64, own_first: bool, from: u64, end: u64) {
        if own_first && from == quotient {
            self.blocks.set(Bit::Shifted, from, false);
        }
        let others = from + u64::from(own_first);
        let mut block = quotient & !63;
        let mut waiting = 0;
        while block < end {
            let [occupied, continuation, _] = self.blocks.metadata(block);
            let quotients = occupied & part(block, quotient + 1, end);
            let starts = !continuation & part(block, others, end);
            let mut candidates = quotients & starts;
            while candidates != 0 {
                let candidate = candidates.trailing_zeros();
                let up_to = u64::MAX >> (63 - candidate);
                if waiting + (quotients & up_to).count_ones() == (starts & up_to).count_ones() {
                    self.blocks.set(Bit::Shifted, block + u64::from(candidate), false);
                }
                candidates &= candidates - 1;
            }
            waiting = waiting + quotients.count_ones() - starts.count_ones();
            block += 64;
        }
    }
}

/// The bits of the block that starts at `block` for positions in `from..end`.
#[inline(always)]
const fn part(block: u64, from: u64, end: u64) -> u64 {
    let (from, end) = (from.saturating_sub(block), end.saturating_sub(block));
    let above = if from < 64 { u64::MAX << from } else { 0 };
    let below = if end < 64 { !(u64::MAX << end) } else { u64::MAX };
    above & below
}
