//! Reducing lines to hashes, or to pairs of hash and value, each once.

use anyhow::{Result, anyhow};
use malkoha::KeyHasher;

use crate::filter::Item;
use crate::input::{Block, Inputs, Side, name};
use crate::pipeline::{Sink, both, in_order};
use crate::progress::Progress;
use crate::records::Candidate;

mod runs;

use runs::Runs;

/// The most items that are in memory, and that are passed on at once.
const IN_MEMORY: usize = 1 << 20;

/// The items of an input: 8 bytes per line in a set, 16 in a map. Many items are in a temporary
/// file.
pub(super) struct Items<T> {
    /// Those that are not in a run. Sorted when all lines were read.
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
    pub(super) hasher: KeyHasher,
    /// Bits of a value, at most.
    pub(super) value_bits: u32,
    /// Keep equal ones.
    pub(super) copies: bool,
    /// Keep what some would be, written otherwise.
    pub(super) looks: bool,
}

impl<T: Item> Items<T> {
    /// Reduces all records of the input to their keys, or to keys and values with a tab between
    /// them. Unless copies are wanted, equal lines count once. They are recognised by equal hashes:
    /// two different lines have the same 64 bits in one of n^2 / 2^65 lists.
    ///
    /// The items are then sorted, or in sorted runs, so that the table is filled from one end to
    /// the other.
    pub(super) fn read(
        side: &Side,
        how: Reducing,
        threads: usize,
        progress: &Progress,
    ) -> Result<Self> {
        let copies = how.copies;
        let (inputs, work) = reducing(side, how);
        let none = Self { few: Vec::new(), runs: None, copies, threads, lines: 0 };
        let mut all = in_order(&inputs, progress, threads, work, none)?;
        all.sort();
        if let Some(runs) = &mut all.runs {
            runs.push(&all.few)?;
            all.few = Vec::new();
        }
        Ok(all)
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

/// The work of reducing blocks of a side, and its inputs.
pub(super) fn reducing<T: Item>(
    Side { inputs, keys }: &Side,
    Reducing { hasher, value_bits, looks, .. }: Reducing,
) -> (Inputs, impl Fn(&Block, &mut Reduced<T>) -> Result<()> + Send + Sync + use<T>) {
    let inputs = inputs.clone().numbered(T::WORDS > 1 || !keys.are_lines());
    let keys = if T::WORDS > 1 { keys.with_value() } else { keys.clone() };
    let names = inputs.clone();
    let work = move |block: &Block, made: &mut Reduced<T>| {
        keys.read(block.source(), |batch| {
            made.items.reserve(batch.len());
            for (i, key) in batch.fit() {
                let item = T::of(key, hasher, value_bits).map_err(|wrong| {
                    let file = name(&names.paths()[block.file]);
                    anyhow!("line {} of {file} {wrong}", batch.line(i))
                });
                made.items.push(item?);
            }
            made.lines += batch.len() as u64;
            // Keys with values are more than keys.
            if looks && T::WORDS == 1 {
                for candidate in batch.candidates(batch.len(), true, |i| batch.is_fit(i)) {
                    if let Ok(item) = T::of(batch.keys[candidate.record], hasher, value_bits) {
                        made.candidates.push((item, candidate));
                    }
                }
                made.file = name(&names.paths()[block.file]);
            }
            Ok(())
        })
    };
    (inputs, work)
}

/// The items of a block.
#[derive(Default)]
pub(super) struct Reduced<T> {
    pub(super) items: Vec<T>,
    pub(super) lines: u64,
    /// Other forms of some of the keys, and the file.
    pub(super) candidates: Vec<(T, Candidate)>,
    pub(super) file: String,
}

impl<T: Item> Sink for Items<T> {
    type Made = Reduced<T>;

    fn take(&mut self, made: &mut Reduced<T>) -> Result<()> {
        self.lines += std::mem::take(&mut made.lines);
        if self.few.len() + made.items.len() > IN_MEMORY {
            self.make_room()?;
        }
        self.few.append(&mut made.items);
        Ok(())
    }
}

impl<T: Item> Items<T> {
    /// Makes one more run of the items, unless most of them are repeated.
    fn make_room(&mut self) -> Result<()> {
        self.sort();
        if self.few.len() > IN_MEMORY / 2 {
            let runs = match &mut self.runs {
                Some(runs) => runs,
                none => none.insert(Runs::new()?),
            };
            runs.push(&self.few)?;
            self.few.clear();
        }
        Ok(())
    }

    fn sort(&mut self) {
        sort(&mut self.few, self.threads);
        if !self.copies {
            self.few.dedup();
        }
    }
}

/// Fewer items are sorted before a thread has started.
const MIN_ITEMS_A_THREAD: usize = 1 << 15;

/// Sorts on up to `threads` threads: each takes those that belong between two of them. The standard
/// library's sort is so much faster than rayon's that a pool would take a quarter longer.
pub(super) fn sort<T: Item>(items: &mut [T], threads: usize) {
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
