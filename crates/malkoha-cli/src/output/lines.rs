//! Lines to standard output, through a large buffer.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use anyhow::{Context, Result};

use super::stdout;
use crate::failure::{CANNOT_WRITE, tell};
use crate::records::shown;

const BUFFER: usize = 1 << 18;

/// Bytes of a header that is shown as a whole, and of a longer one before where it differs.
const LONG: usize = 60;
const BEFORE: usize = 20;

/// A header as it is compared with others.
fn without_ends(header: &[u8]) -> &[u8] {
    header.trim_ascii_end()
}

/// Writes lines, each with its terminator.
pub(crate) struct LineWriter {
    out: BufWriter<Stdout>,
    separator: u8,
    /// Somebody waits, so what is found is written at once.
    prompt: bool,
    /// The header that was written, and whether files with other headers have been reported.
    header: Option<(Vec<u8>, bool)>,
}

impl LineWriter {
    /// `prompt` as on a terminal, where it always is.
    pub(crate) fn stdout(separator: u8, prompt: bool) -> Result<Self> {
        stdout::is_open().context(CANNOT_WRITE)?;
        let stdout = io::stdout();
        let prompt = prompt || stdout.is_terminal();
        Ok(Self { out: BufWriter::with_capacity(BUFFER, stdout), separator, prompt, header: None })
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

    /// Writes the header of the first file, and reports the first file that has another.
    pub(crate) fn head(&mut self, header: &[u8], file: &str) -> io::Result<()> {
        let names = without_ends(header);
        match &mut self.header {
            None => {
                self.header = Some((names.to_vec(), false));
                self.write(header)
            }
            Some((first, told)) => {
                if first != names && !std::mem::replace(told, true) {
                    // A long one is shown from shortly before the difference on.
                    let same = first.iter().zip(names).take_while(|(a, b)| a == b).count();
                    let [first, names] = [&first[..], names].map(|it| {
                        let start = if it.len() > LONG { same.saturating_sub(BEFORE) } else { 0 };
                        format!("{}{}", if start > 0 { "..." } else { "" }, shown(&it[start..]))
                    });
                    tell(&format!(
                        "malkoha: the header that is printed is '{first}', but {file} has '{names}'"
                    ));
                }
                Ok(())
            }
        }
    }

    /// Call this between batches.
    pub(crate) fn end_batch(&mut self) -> io::Result<()> {
        if self.prompt { self.out.flush() } else { Ok(()) }
    }

    /// Call this at the end, to see errors that only appear then.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
