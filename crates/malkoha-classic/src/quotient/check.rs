//! Whether a quotient filter could have made a table: for files, whose bytes may be hostile.
//! Here, blocks have the metadata of files.

use super::blocks::{Blocks, slot};

/// Checks all metadata and the order of all remainders, in one pass over the slots.
pub(super) fn check(blocks: &Blocks, len: u64) -> Result<(), &'static str> {
    if blocks.words().last() != Some(&0) {
        return Err("the word after the last block is not zero");
    }
    // From an empty slot, one full pass meets every cluster from its start to its end.
    let slots = blocks.slots();
    let Some(origin) = (0..slots).find(|&position| is_empty(blocks, position)) else {
        return Err("no slot is empty");
    };
    let mut counted = 0;
    let mut cluster = Cluster::default();
    for position in origin..origin + slots {
        if is_empty(blocks, position) {
            cluster.end()?;
            if blocks.remainder(position) != 0 {
                return Err("an empty slot has a remainder");
            }
        } else {
            cluster.add(blocks, position)?;
            counted += 1;
        }
    }
    cluster.end()?;
    if counted == len { Ok(()) } else { Err("the header counts other than the table") }
}

/// A slot's `is_occupied`, `is_continuation` and `is_shifted`.
fn bits(blocks: &Blocks, position: u64) -> [bool; 3] {
    blocks.metadata(position).map(|word| word >> slot(position) & 1 != 0)
}

fn is_empty(blocks: &Blocks, position: u64) -> bool {
    bits(blocks, position) == [false; 3]
}

/// The cluster that the pass is in.
#[derive(Default)]
struct Cluster {
    /// Quotients that were seen and whose runs have not come yet.
    waiting: std::collections::VecDeque<u64>,
    previous: Option<u64>,
}

impl Cluster {
    fn add(&mut self, blocks: &Blocks, position: u64) -> Result<(), &'static str> {
        let [occupied, continuation, shifted] = bits(blocks, position);
        if occupied {
            self.waiting.push_back(position);
        }
        let remainder = blocks.remainder(position);
        if continuation {
            let Some(previous) = self.previous else { return Err("a run without a start") };
            if !shifted || remainder < previous {
                return Err("a run out of order");
            }
        } else {
            let Some(quotient) = self.waiting.pop_front() else {
                return Err("a run without a quotient");
            };
            if shifted != (quotient != position) {
                return Err("a wrong shifted bit");
            }
        }
        self.previous = Some(remainder);
        Ok(())
    }

    fn end(&mut self) -> Result<(), &'static str> {
        self.previous = None;
        if self.waiting.is_empty() { Ok(()) } else { Err("a quotient without a run") }
    }
}
