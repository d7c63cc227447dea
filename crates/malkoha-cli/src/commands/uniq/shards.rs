//! Distinct lines in parts by their hashes, so that several threads can be busy with them.
//!
//! ```text
//! block 0:  part 0  part 1  part 2  part 3
//! block 1:          part 0  part 1  part 2  part 3
//! ```
//!
//! Whether a line is new depends on all lines before it that are in the same part, and on no
//! others. So each part takes the blocks in their order, and blocks follow each other from part to
//! part.

use anyhow::Result;

use crate::pipeline::{Read, Turn};

/// Parts for each thread: enough that threads seldom wait for each other, few enough that a part
/// has many lines of a block.
const PARTS_A_THREAD: usize = 4;

/// Parts of a whole. Each part takes blocks in the order of their numbers.
pub(super) struct Shards<T>(Vec<Turn<T>>);

impl<T> Shards<T> {
    /// The number of parts for this many threads: a power of two.
    pub(super) fn count(threads: usize) -> usize {
        (threads * PARTS_A_THREAD).next_power_of_two()
    }

    /// Made of these parts, a power of two.
    pub(super) fn new(parts: Vec<T>) -> Self {
        Self(parts.into_iter().map(Turn::new).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of the part that has a hash, by bits that tables hardly use.
    #[inline]
    pub(super) fn of(&self, hash: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "masked")]
        let number = hash as usize & (self.len() - 1);
        number
    }

    /// Takes a block through all parts in order: `each` gets the number of a part and the part
    /// when it is the block's turn there. Behind a block that fails the turn never comes: the
    /// pipeline ends without the blocks that wait.
    pub(super) fn pass(
        &self,
        block: u64,
        mut each: impl FnMut(usize, &mut T) -> Result<()>,
    ) -> Result<()> {
        for (number, turn) in self.0.iter().enumerate() {
            let mut done = Ok(());
            turn.pass((0, block), |part| {
                done = each(number, part);
                Ok(Read::Block)
            });
            done?;
        }
        Ok(())
    }

    /// All parts, when all blocks have passed.
    pub(super) fn take(&self) -> Vec<T> {
        self.0.iter().for_each(|turn| turn.end(Ok(())));
        self.0.iter().filter_map(|turn| turn.wait().1).collect()
    }
}
