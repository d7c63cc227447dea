//! Lines that were selected from a block of input, printed block by block.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

use super::LineWriter;
use crate::arguments::PrintArgs;
use crate::failure::CANNOT_WRITE;
use crate::input::{Inputs, Skipper, is_stdin};
use crate::pipeline::Sink;
use crate::records::{Added, Keys};

/// The output for some lines.
#[derive(Default)]
pub(crate) struct Page {
    /// The number of their file.
    pub(crate) file: usize,
    /// Lines that were looked at.
    pub(crate) lines: u64,
    pub(crate) selected: u64,
    /// The selected lines, with their terminators.
    pub(crate) text: Vec<u8>,
    /// Where each of them ends, if not all may be wanted.
    pub(crate) ends: Vec<usize>,
}

/// How many lines there were.
pub(crate) struct Printed {
    pub(crate) lines: u64,
    pub(crate) selected: u64,
}

/// The output that replaces the lines of all files.
#[derive(Default)]
pub(crate) struct Show {
    /// The header of the first file, if there is one.
    pub(crate) header: bool,
    /// Lines of each file, at most.
    pub(crate) most: Option<u64>,
    /// The names of files instead of their lines.
    pub(crate) names: bool,
    /// How many lines were selected of each file.
    pub(crate) counts: bool,
    /// The names of all files.
    pub(crate) files: Vec<Vec<u8>>,
    /// The column or member that each record gets. The header gets its name.
    pub(crate) added: Option<(Keys, Added)>,
}

/// Prints pages to standard output.
pub(crate) struct Printer {
    out: LineWriter,
    show: Show,
    skipper: Option<Skipper>,
    /// Lines of each file that were selected, if it matters.
    in_files: Vec<u64>,
    printed: Printed,
}

impl Printer {
    pub(crate) fn new(separator: u8, print: &PrintArgs) -> Result<Self> {
        let out = LineWriter::stdout(separator, print.line_buffered)?;
        let printed = Printed { lines: 0, selected: 0 };
        Ok(Self { out, show: Show::default(), skipper: None, in_files: Vec::new(), printed })
    }

    /// Prints something else of lines of these inputs.
    pub(crate) fn showing(self, show: Show, inputs: &Inputs) -> Self {
        Self {
            in_files: vec![0; inputs.paths().len()],
            skipper: show.most.is_some().then(|| inputs.skipper()),
            show,
            ..self
        }
    }

    pub(crate) fn finish(mut self) -> Result<Printed> {
        if self.show.counts {
            for (name, count) in self.show.files.iter().zip(&self.in_files) {
                let mut line = name.clone();
                write!(line, ":{count}").context(CANNOT_WRITE)?;
                self.out.write(&line).context(CANNOT_WRITE)?;
            }
        }
        self.out.finish().context(CANNOT_WRITE)?;
        Ok(self.printed)
    }

    /// Drops lines of a page beyond the limit of its file.
    fn limit(&mut self, page: &mut Page) {
        let Some(in_file) = self.in_files.get_mut(page.file) else { return };
        if let (Some(most), Some(skipper)) = (self.show.most, &self.skipper) {
            let left = most - *in_file;
            if page.selected >= left {
                page.selected = left;
                let end = usize::try_from(left).ok().and_then(|left| left.checked_sub(1));
                let end = end.map_or(Some(0), |last| page.ends.get(last).copied());
                page.text.truncate(end.unwrap_or(page.text.len()));
                skipper.skip(page.file);
            }
        }
        if self.show.names && *in_file == 0 && page.selected > 0 {
            page.text.clone_from(&self.show.files[page.file]);
            page.text.push(self.out.separator());
        }
        *in_file += page.selected;
    }
}

impl Sink for Printer {
    type Made = Page;

    fn head(&mut self, header: &[u8], file: &str) -> Result<()> {
        if !self.show.header {
            return Ok(());
        }
        let Some((keys, added)) = &self.show.added else {
            return self.out.head(header, file).context(CANNOT_WRITE);
        };
        keys.refuse_column(*added, header)?;
        let mut with_it = Vec::new();
        keys.push_with(*added, None, header, &mut with_it);
        self.out.head(&with_it, file).context(CANNOT_WRITE)
    }

    fn take(&mut self, page: &mut Page) -> Result<()> {
        self.limit(page);
        self.printed.lines += std::mem::take(&mut page.lines);
        self.printed.selected += std::mem::take(&mut page.selected);
        self.out.write_all(&page.text).context(CANNOT_WRITE)?;
        page.text.clear();
        page.ends.clear();
        self.out.end_batch().context(CANNOT_WRITE)
    }

    fn is_done(&self) -> bool {
        self.skipper.as_ref().is_some_and(Skipper::skips_all)
    }
}

/// The name of a file as it is printed in front of lines.
pub(crate) fn shown(path: &Path) -> Vec<u8> {
    if is_stdin(path) {
        return b"(standard input)".to_vec();
    }
    path.as_os_str().as_encoded_bytes().to_vec()
}
