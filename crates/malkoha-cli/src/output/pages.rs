//! Lines that were selected from a block of input, printed block by block.

use anyhow::{Context, Result};

use super::LineWriter;
use crate::cli::PrintArgs;
use crate::failure::CANNOT_WRITE;
use crate::pipeline::Sink;

/// What is to be printed of some lines.
#[derive(Default)]
pub(crate) struct Page {
    /// Lines that were looked at.
    pub(crate) lines: u64,
    pub(crate) selected: u64,
    /// The selected lines, with their terminators.
    pub(crate) text: Vec<u8>,
}

/// How many lines there were.
pub(crate) struct Printed {
    pub(crate) lines: u64,
    pub(crate) selected: u64,
}

/// Prints pages to standard output.
pub(crate) struct Printer {
    out: LineWriter,
    printed: Printed,
}

impl Printer {
    pub(crate) fn new(separator: u8, print: &PrintArgs) -> Result<Self> {
        let out = LineWriter::stdout(separator, print.line_buffered)?;
        Ok(Self { out, printed: Printed { lines: 0, selected: 0 } })
    }

    pub(crate) fn finish(self) -> Result<Printed> {
        self.out.finish().context(CANNOT_WRITE)?;
        Ok(self.printed)
    }
}

impl Sink for Printer {
    type Made = Page;

    fn take(&mut self, page: &mut Page) -> Result<()> {
        self.printed.lines += std::mem::take(&mut page.lines);
        self.printed.selected += std::mem::take(&mut page.selected);
        self.out.write_all(&page.text).context(CANNOT_WRITE)?;
        page.text.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }
}
