//! Items beyond the memory limit: sorted runs of them in a temporary file.
//!
//! Hashes spread evenly. So the items between two hashes can be read from all runs at once, and are
//! as few as wanted, whatever the total.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::Range;

use anyhow::{Context, Result};

use crate::filter::Item;

/// Ranges of hashes whose beginnings are known in each run.
const CELLS: usize = 1024;

const KEEPING: &str = "cannot keep hashes in a temporary file (TMPDIR says where)";

/// Runs in a file without a name.
pub(super) struct Runs<T> {
    file: File,
    /// For each run, how many items of all runs lie before each cell, and behind the last one.
    starts: Vec<Box<[u64]>>,
    items: PhantomData<T>,
}

impl<T: Item> Runs<T> {
    pub(super) fn new() -> Result<Self> {
        let file = tempfile::tempfile().context(KEEPING)?;
        Ok(Self { file, starts: Vec::new(), items: PhantomData })
    }

    /// Items of all runs.
    fn len(&self) -> u64 {
        self.starts.last().map_or(0, |starts| starts[CELLS])
    }

    /// Writes sorted items as one more run.
    pub(super) fn push(&mut self, items: &[T]) -> Result<()> {
        let before = self.len();
        let end = |cell: usize| items.partition_point(|item| cell_of(item.hash()) < cell);
        let starts = (0..=CELLS).map(|cell| before + end(cell) as u64).collect();
        let mut out = BufWriter::new(&self.file);
        for word in items.iter().flat_map(|item| item.words()) {
            out.write_all(&word.to_le_bytes()).context(KEEPING)?;
        }
        out.flush().context(KEEPING)?;
        drop(out);
        self.starts.push(starts);
        Ok(())
    }

    /// Calls `each` with the items of all runs, in parts of about `wanted` items. Items of a part
    /// are below those of the next one. They come run by run, and from each run an item comes once.
    pub(super) fn for_each_part(
        &self,
        wanted: usize,
        mut each: impl FnMut(&mut Vec<T>) -> Result<()>,
    ) -> Result<()> {
        let (mut part, mut first) = (Vec::new(), 0);
        while first < CELLS {
            let items_to = |last: usize| -> u64 {
                self.starts.iter().map(|starts| starts[last] - starts[first]).sum()
            };
            // As many cells as possible, and at least one.
            let last = (first + 2..=CELLS).find(|&last| items_to(last) > wanted as u64);
            let last = last.map_or(CELLS, |last| last - 1);
            for starts in &self.starts {
                self.read(starts[first]..starts[last], false, &mut part)?;
            }
            each(&mut part)?;
            part.clear();
            first = last;
        }
        Ok(())
    }

    /// Calls `each` with one run after another, in pieces.
    pub(super) fn for_each_piece(
        &self,
        wanted: usize,
        mut each: impl FnMut(&mut Vec<T>) -> Result<()>,
    ) -> Result<()> {
        let (mut piece, len) = (Vec::new(), self.len());
        for start in (0..len).step_by(wanted) {
            self.read(start..len.min(start + wanted as u64), true, &mut piece)?;
            each(&mut piece)?;
            piece.clear();
        }
        Ok(())
    }

    /// Reads items into `into`, those that are repeated in a row once unless copies are wanted.
    fn read(&self, range: Range<u64>, copies: bool, into: &mut Vec<T>) -> Result<()> {
        let bytes = (T::WORDS * size_of::<u64>()) as u64;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(range.start * bytes)).context(KEEPING)?;
        let mut from = BufReader::with_capacity(1 << 16, file);
        let start = into.len();
        let mut words = [0; 2];
        for _ in range {
            for word in &mut words[..T::WORDS] {
                let mut bytes = [0; size_of::<u64>()];
                from.read_exact(&mut bytes).context(KEEPING)?;
                *word = u64::from_le_bytes(bytes);
            }
            let item = T::of_words(&words[..T::WORDS]);
            if copies || into[start..].last() != Some(&item) {
                into.push(item);
            }
        }
        Ok(())
    }
}

/// The cell of a hash.
fn cell_of(hash: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "ten bits are left")]
    let cell = (hash >> (u64::BITS - CELLS.trailing_zeros())) as usize;
    cell
}
