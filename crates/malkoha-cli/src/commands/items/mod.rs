//! Reducing lines to hashes, or to pairs of hash and value, each once.

use std::path::PathBuf;

use anyhow::{Result, bail};
use malkoha::KeyHasher;

use crate::filter::{Item, WrongLine};
use crate::input::{Block, Inputs, name, split};
use crate::keys::Keys;
use crate::pipeline::{Sink, both, in_order};
use crate::progress::Progress;

mod runs;

use runs::Runs;

/// The most items that are in memory, and that are passed on at once.
const IN_MEMORY: usize = 1 << 20;

/// The items of an input: 8 bytes per line in a set, 16 in a map. Many items are in a temporary
/// file.
pub(super) struct Items<T> {
    /// All items, sorted, unless there are runs.
    few: Vec<T>,
    runs: Option<Runs<T>>,
    copies: bool,
    threads: usize,
    /// Lines that were read, including repetitions.
    pub(super) lines: u64,
}

/// How lines are reduced.
#[derive(Clone, Debug)]
pub(super) struct Reducing {
    /// From lines to keys, or to keys and values with a tab between them.
    pub(super) keys: Keys,
    pub(super) hasher: KeyHasher,
    /// Bits of a value, at most.
    pub(super) value_bits: u32,
    /// Keep equal ones.
    pub(super) copies: bool,
}

impl<T: Item> Items<T> {
    /// Reduces all lines of the input. Unless copies are wanted, equal lines count once. They are
    /// recognised by equal hashes: two different lines have the same 64 bits in one of n^2 / 2^65
    /// lists.
    ///
    /// The items are then sorted, or in sorted runs, so that the table is filled from one end to
    /// the other.
    pub(super) fn read(
        inputs: &Inputs,
        how: Reducing,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let Reducing { keys, hasher, value_bits, copies } = how;
        let separator = inputs.separator();
        let work = move |block: &Block, made: &mut Reduced<T>| {
            (made.file, made.has_header) = (block.file(), block.header().is_some());
            let keys = keys.of_block(block)?;
            split(block.lines(), separator, |batch| {
                keys.with(batch, |keys| {
                    made.extend(keys.iter().map(|key| T::of(key, hasher, value_bits)));
                    Ok(())
                })
            })
        };
        let all = All {
            items: Vec::new(),
            runs: None,
            copies,
            threads,
            lines: 0,
            paths: inputs.paths().to_vec(),
            file: 0,
            line: 0,
        };
        let mut all = in_order(inputs, progress, threads, work, all)?;
        all.sort();
        if let Some(runs) = &mut all.runs {
            runs.push(&all.items)?;
            all.items = Vec::new();
        }
        let All { items: few, runs, lines, .. } = all;
        Ok(Self { few, runs, copies, threads, lines })
    }

    /// Calls `each` with all items in some order, each once unless copies are wanted.
    pub(super) fn for_each(&self, mut each: impl FnMut(&[T]) -> Result<()>) -> Result<()> {
        match &self.runs {
            None => each(&self.few),
            Some(runs) if self.copies => runs.for_each_piece(IN_MEMORY, |piece| each(piece)),
            Some(runs) => runs.for_each_part(IN_MEMORY, |part| {
                sort(part, self.threads);
                part.dedup();
                each(part)
            }),
        }
    }

    /// The sum of `count` over sorted items, with or without equal neighbours, in parts that have
    /// no key in common.
    pub(super) fn count(&self, count: impl Fn(&[T]) -> u64) -> Result<u64> {
        let Some(runs) = &self.runs else { return Ok(count(&self.few)) };
        let mut all = 0;
        runs.for_each_part(IN_MEMORY, |part| {
            sort(part, self.threads);
            all += count(part);
            Ok(())
        })?;
        Ok(all)
    }
}

/// The items of a block.
struct Reduced<T> {
    file: usize,
    /// The first line of the file is not one of `items`.
    has_header: bool,
    items: Vec<T>,
    /// The line after those of `items`, which ended it.
    wrong: Option<WrongLine>,
}

impl<T> Default for Reduced<T> {
    fn default() -> Self {
        Self { file: 0, has_header: false, items: Vec::new(), wrong: None }
    }
}

impl<T> Reduced<T> {
    /// Adds items, up to the first line that is not one.
    fn extend(&mut self, items: impl ExactSizeIterator<Item = Result<T, WrongLine>>) {
        if self.wrong.is_some() {
            return;
        }
        self.items.reserve(items.len());
        for item in items {
            match item {
                Ok(item) => self.items.push(item),
                Err(wrong) => return self.wrong = Some(wrong),
            }
        }
    }
}

/// The items of all blocks.
struct All<T> {
    /// Items that are not in a run. They are not sorted.
    items: Vec<T>,
    runs: Option<Runs<T>>,
    copies: bool,
    threads: usize,
    lines: u64,
    paths: Vec<PathBuf>,
    /// The number of the file that is being read, and of items that it had so far.
    file: usize,
    line: u64,
}

impl<T: Item> Sink for All<T> {
    type Made = Reduced<T>;

    fn take(&mut self, made: &mut Reduced<T>) -> Result<()> {
        if made.file != self.file {
            (self.file, self.line) = (made.file, 0);
        }
        self.line += made.items.len() as u64;
        if let Some(wrong) = &made.wrong {
            let line = self.line + 1 + u64::from(made.has_header);
            bail!("line {line} of {} {wrong}", name(&self.paths[self.file]));
        }
        self.lines += made.items.len() as u64;
        if self.items.len() + made.items.len() > IN_MEMORY {
            self.make_room()?;
        }
        self.items.append(&mut made.items);
        Ok(())
    }
}

impl<T: Item> All<T> {
    /// Makes one more run of the items, unless most of them are repeated.
    fn make_room(&mut self) -> Result<()> {
        self.sort();
        if self.items.len() > IN_MEMORY / 2 {
            let runs = match &mut self.runs {
                Some(runs) => runs,
                none => none.insert(Runs::new()?),
            };
            runs.push(&self.items)?;
            self.items.clear();
        }
        Ok(())
    }

    fn sort(&mut self) {
        sort(&mut self.items, self.threads);
        if !self.copies {
            self.items.dedup();
        }
    }
}

/// Fewer items are sorted before a thread has started.
const MIN_ITEMS_A_THREAD: usize = 1 << 15;

/// Sorts on up to `threads` threads: each takes those that belong between two of them. The standard
/// library's sort is so much faster than rayon's that a pool would take a quarter longer.
fn sort<T: Item>(items: &mut [T], threads: usize) {
    let threads = threads.min(items.len() / MIN_ITEMS_A_THREAD);
    if threads < 2 {
        return items.sort_unstable();
    }
    let half = threads / 2;
    let middle = items.len() / threads * half;
    items.select_nth_unstable(middle);
    let (low, high) = items.split_at_mut(middle);
    both(|| sort(low, half), || sort(high, threads - half));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_threads_sorts() {
        let hasher = KeyHasher::new(1);
        // Many are equal.
        let of = |n: u32| hasher.hash_bytes(&(n % 90_000).to_le_bytes());
        let hashes: Vec<u64> = (0..300_000).map(of).collect();
        let mut expected = hashes.clone();
        expected.sort_unstable();
        for threads in [1, 2, 3, 8, 1000] {
            let mut sorted = hashes.clone();
            sort(&mut sorted, threads);
            assert!(sorted == expected, "{threads}");
        }
        sort::<u64>(&mut [], 2);
    }
}
