//! The paper's three bits per slot, which files have, and the form that replaces them in memory.
//!
//! For a slot in use, `is_continuation` says that it continues the run of the slot before, and
//! `is_shifted` that it is not the slot of its quotient.

use super::blocks::{Bit, Blocks};
use crate::arch::{Portable, Select};

/// Turns a block's metadata, `is_occupied`, `is_continuation` and `is_shifted`, into occupied, ends
/// and offset, for all blocks. At least one slot is empty.
pub(super) fn from_file(blocks: &mut Blocks) {
    let count = blocks.slots() / 64;
    let [_, first_continuations, _] = blocks.metadata(0);
    // Runs of quotients before the first slot that end at or behind it: those since the last empty
    // slot. Until the first empty slot the count means nothing, and may be negative (it wraps).
    let mut runs = 0_u64;
    for block in 0..count {
        let [occupied, continuations, shifted] = blocks.metadata(64 * block);
        let next = if block + 1 < count {
            blocks.metadata(64 * (block + 1))[1]
        } else {
            first_continuations
        };
        let used = occupied | continuations | shifted;
        let ends = used & !(continuations >> 1 | next << 63);
        blocks.set_metadata(64 * block, [occupied, ends, 0]);
        let behind_empty = u64::MAX.checked_shl(64 - used.leading_ones()).unwrap_or(0);
        if used != u64::MAX {
            runs = 0;
        }
        runs = runs
            .wrapping_add((occupied & behind_empty).count_ones().into())
            .wrapping_sub((ends & behind_empty).count_ones().into());
    }
    // The end of run number `runs`, counted from the first slot, never moves back between blocks.
    let (mut ended, mut at) = (0, 0);
    for block in 0..count {
        loop {
            let ends = u64::from(blocks.bits(Bit::End, 64 * at).count_ones());
            if ended + ends >= runs {
                break;
            }
            ended += ends;
            at += 1;
        }
        let last = runs.checked_sub(ended + 1).and_then(|n| u32::try_from(n).ok());
        let end = last.and_then(|n| Portable.select(blocks.bits(Bit::End, 64 * at), n).ok());
        let behind = end.map_or(0, |end| 64 * at + u64::from(end) + 1);
        let [occupied, ends, _] = blocks.metadata(64 * block);
        blocks.set_metadata(64 * block, [occupied, ends, behind.saturating_sub(64 * block)]);
        runs += u64::from(occupied.count_ones());
    }
}

/// The words of a file: those of the blocks with the paper's metadata.
pub(super) fn to_file(blocks: &Blocks) -> impl Iterator<Item = u64> {
    let offset = blocks.metadata(0)[2];
    let last = blocks.slots() - 1;
    let mut state = State {
        runs: (0..offset).map(|position| u64::from(blocks.get(Bit::End, position))).sum(),
        goes_on: offset > 0 && !blocks.get(Bit::End, last),
    };
    let words = blocks.words();
    let (all, end) = words.split_at(words.len() - 1);
    all.chunks(blocks.block_words())
        .flat_map(move |block| {
            let (&[occupied, ends, _], remainders) =
                block.split_first_chunk().expect("a block has its metadata");
            state.bits(occupied, ends).into_iter().chain(remainders.iter().copied())
        })
        .chain(end.iter().copied())
}

/// What the slots so far say about the next one.
struct State {
    /// Runs whose quotients have been seen and whose ends have not.
    runs: u64,
    /// The slot before is in use and does not end a run, so that the run continues.
    goes_on: bool,
}

impl State {
    /// The three bits of the next 64 slots.
    fn bits(&mut self, occupied: u64, ends: u64) -> [u64; 3] {
        let (mut continuations, mut shifted) = (0, 0);
        for slot in 0..64 {
            let is_quotient = occupied >> slot & 1;
            let is_home = !self.goes_on && self.runs == 0;
            self.runs += is_quotient;
            if self.runs > 0 {
                continuations |= u64::from(self.goes_on) << slot;
                shifted |= u64::from(!is_home) << slot;
                let is_end = ends >> slot & 1;
                self.runs -= is_end;
                self.goes_on = is_end == 0;
            }
        }
        [occupied, continuations, shifted]
    }
}
