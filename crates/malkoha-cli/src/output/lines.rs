//! Lines to standard output, through a large buffer.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};

use super::stdout;
use crate::failure::CANNOT_WRITE;

const BUFFER: usize = 1 << 18;

/// Writes lines, each with its terminator.
pub(crate) struct LineWriter {
    out: BufWriter<Stdout>,
    separator: u8,
    /// Somebody waits: what is found is written at once.
    prompt: bool,
}

impl LineWriter {
    /// `prompt` as on a terminal, where it always is.
    pub(crate) fn stdout(separator: u8, prompt: bool) -> Result<Self> {
        stdout::is_open().context(CANNOT_WRITE)?;
        let stdout = io::stdout();
        let prompt = prompt || stdout.is_terminal();
        Ok(Self { out: BufWriter::with_capacity(BUFFER, stdout), separator, prompt })
    }

    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    #[inline]
    pub(crate) fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        self.out.write_all(&[self.separator])
    }

    /// Writes lines that have their terminators.
    pub(crate) fn write_all(&mut self, lines: &[u8]) -> io::Result<()> {
        self.out.write_all(lines)
    }

    /// To be called between batches.
    pub(crate) fn end_batch(&mut self) -> io::Result<()> {
        if self.prompt { self.out.flush() } else { Ok(()) }
    }

    /// To be called at the end: an error that only shows then is an error too.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
