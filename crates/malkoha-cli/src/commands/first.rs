//! Lines that are not in a filter, which then has them.

use anyhow::{Context, Result};
use malkoha::Filter;

use super::keeping::{Save, Saving};
use crate::failure::CANNOT_WRITE;
use crate::filter::{Lines, Table};
use crate::output::LineWriter;
use crate::pipeline::Sink;
use crate::records::Hashed;

/// Adds lines, and prints those that are new, or all others.
pub(super) struct New<T: Table, C: Lines> {
    pub(super) filter: Filter<T, C>,
    /// Which lines of a block are new.
    new: Vec<bool>,
    out: LineWriter,
    repeated: bool,
    pub(super) lines: u64,
    pub(super) added: u64,
    pub(super) printed: u64,
    saving: Option<Saving>,
}

impl<T: Table, C: Lines> New<T, C> {
    pub(super) fn of(
        filter: Filter<T, C>,
        out: LineWriter,
        repeated: bool,
        saving: Option<Saving>,
    ) -> Self {
        Self { filter, new: Vec::new(), out, repeated, lines: 0, added: 0, printed: 0, saving }
    }
}

impl<T: Table, C: Lines> Save for New<T, C> {
    fn save(&mut self) -> Result<()> {
        self.out.finish().context(CANNOT_WRITE)?;
        self.saving.as_mut().map_or(Ok(()), |saving| saving.save(&self.filter))
    }
}

impl<T: Table, C: Lines> Sink for New<T, C> {
    type Made = Hashed;

    fn head(&mut self, header: &[u8]) -> Result<()> {
        self.out.head(header).context(CANNOT_WRITE)
    }

    fn take(&mut self, block: &mut Hashed) -> Result<()> {
        self.new.resize(block.hashes.len(), false);
        C::insert_new(&mut self.filter, &block.hashes, &mut self.new)?;
        let before = self.added;
        for (line, fit) in block.records() {
            // One that equals no other is always new, and not remembered.
            let is_new = fit.is_none_or(|i| self.new[i]);
            self.added += u64::from(is_new && fit.is_some());
            if is_new != self.repeated {
                self.printed += 1;
                self.out.write(line).context(CANNOT_WRITE)?;
            }
        }
        self.lines += block.len() as u64;
        self.saving.iter_mut().for_each(|saving| saving.changed |= self.added > before);
        block.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}
