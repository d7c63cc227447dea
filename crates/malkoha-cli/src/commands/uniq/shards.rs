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

use anyhow::{Result, ensure};

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
    /// when it is the block's turn there.
    pub(super) fn pass(
        &self,
        block: u64,
        mut each: impl FnMut(usize, &mut T) -> Result<()>,
    ) -> Result<()> {
        for (number, turn) in self.0.iter().enumerate() {
            let mut done = Ok(());
            let passed = turn.pass((0, block), |part| {
                done = each(number, part);
                Ok(if done.is_ok() { Read::Block } else { Read::EndOfAll })
            });
            // Never reported, because the first failure is.
            ensure!(passed.is_some(), "a block before it failed");
            done?;
        }
        Ok(())
    }

    /// Runs `work` on a block, in which it [passes](Self::pass). If it fails, threads that wait for
    /// this block fail too.
    pub(super) fn attempt<R>(&self, block: u64, work: impl FnOnce() -> Result<R>) -> Result<R> {
        // Dropped in a panic too.
        let mut given_up = GivenUp { shards: self, block: Some(block) };
        let done = work()?;
        given_up.block = None;
        Ok(done)
    }

    /// All parts, when all blocks have passed or none will any more.
    pub(super) fn take(&self) -> Vec<T> {
        self.0.iter().for_each(|turn| turn.end(Ok(())));
        self.0.iter().filter_map(|turn| turn.wait().1).collect()
    }
}

struct GivenUp<'a, T> {
    shards: &'a Shards<T>,
    block: Option<u64>,
}

impl<T> Drop for GivenUp<'_, T> {
    fn drop(&mut self) {
        let Some(block) = self.block else { return };
        self.shards.0.iter().for_each(|turn| turn.give_up((0, block)));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    use anyhow::bail;

    use super::*;

    /// Blocks come to each part in order, whatever threads they are on. Behind one that fails, by
    /// an error or a panic, none hangs.
    #[test]
    fn blocks_pass_in_order_up_to_one_that_fails() {
        for (threads, ends) in [(1, None), (4, None), (4, Some(false)), (4, Some(true))] {
            let shards = Shards::new(vec![Vec::new(); 8]);
            let run = |thread: u64| {
                for block in (thread..200).step_by(usize::try_from(threads).unwrap()) {
                    let work = || {
                        shards.pass(block, |number, part| {
                            if block == 100 && number == 3 {
                                match ends {
                                    Some(true) => panic!("on purpose"),
                                    Some(false) => bail!("on purpose"),
                                    None => {}
                                }
                            }
                            part.push(block);
                            Ok(())
                        })
                    };
                    if !catch_unwind(AssertUnwindSafe(|| shards.attempt(block, work)))
                        .is_ok_and(|done| done.is_ok())
                    {
                        return;
                    }
                }
            };
            thread::scope(|scope| {
                for thread in 0..threads {
                    scope.spawn(move || run(thread));
                }
            });
            for (number, part) in shards.take().into_iter().enumerate() {
                // The block that fails, and those behind it, may have passed before that.
                let passed = match ends {
                    None => 200..=200,
                    Some(_) if number < 3 => 101..=200,
                    Some(_) => 100..=100,
                };
                assert!(part.iter().copied().eq(0..part.len() as u64), "{part:?}");
                assert!(passed.contains(&part.len()), "{number}: {}", part.len());
            }
        }
    }
}
