//! Standard output: lines through a large buffer, and those that are selected from blocks of input.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};

use crate::arguments::PrintArgs;
use crate::failure::{CANNOT_WRITE, tell};
use crate::input::{Inputs, is_dash};
use crate::pipeline::Sink;
use crate::records::{Added, Keys, shown};

const BUFFER: usize = 1 << 18;

/// Bytes of a header that is shown as a whole, and of a longer one before where it differs.
const LONG: usize = 60;
const BEFORE: usize = 20;

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
        is_open()?;
        let stdout = io::stdout();
        let prompt = prompt || stdout.is_terminal();
        Ok(Self { out: BufWriter::with_capacity(BUFFER, stdout), separator, prompt, header: None })
    }

    pub(crate) fn separator(&self) -> u8 {
        self.separator
    }

    #[inline]
    pub(crate) fn write(&mut self, line: &[u8]) -> Result<()> {
        self.write_all(line)?;
        self.write_all(&[self.separator])
    }

    /// Writes lines that have their terminators.
    #[inline]
    pub(crate) fn write_all(&mut self, lines: &[u8]) -> Result<()> {
        self.out.write_all(lines).context(CANNOT_WRITE)
    }

    /// Writes the header of the first file, and reports the first file that has another.
    pub(crate) fn head(&mut self, header: &[u8], file: &str) -> Result<()> {
        let names = header.trim_ascii_end();
        match &mut self.header {
            None => {
                self.header = Some((names.to_vec(), false));
                self.write(header)
            }
            Some((first, is_reported)) => {
                if first != names && !std::mem::replace(is_reported, true) {
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
    pub(crate) fn end_batch(&mut self) -> Result<()> {
        if self.prompt { self.finish() } else { Ok(()) }
    }

    /// Call this at the end, to see errors that only appear then.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.out.flush().context(CANNOT_WRITE)
    }
}

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
    /// Where each of them ends, if not all are wanted.
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
    /// Those that can be skipped.
    inputs: Option<Inputs>,
    /// Lines of each file that were selected, if it matters.
    in_files: Vec<u64>,
    printed: Printed,
}

impl Printer {
    pub(crate) fn new(separator: u8, print: &PrintArgs) -> Result<Self> {
        let out = LineWriter::stdout(separator, print.line_buffered)?;
        let printed = Printed { lines: 0, selected: 0 };
        Ok(Self { out, show: Show::default(), inputs: None, in_files: Vec::new(), printed })
    }

    /// Prints something else of lines of these inputs.
    pub(crate) fn showing(self, show: Show, inputs: &Inputs) -> Self {
        Self {
            in_files: vec![0; inputs.paths().len()],
            inputs: show.most.is_some().then(|| inputs.clone()),
            show,
            ..self
        }
    }

    pub(crate) fn finish(mut self) -> Result<Printed> {
        if self.show.counts {
            for (name, count) in self.show.files.iter().zip(&self.in_files) {
                let mut line = name.clone();
                write!(line, ":{count}").context(CANNOT_WRITE)?;
                self.out.write(&line)?;
            }
        }
        self.out.finish()?;
        Ok(self.printed)
    }

    /// Prints a selected line behind all pages.
    pub(crate) fn write(&mut self, line: &[u8]) -> Result<()> {
        self.printed.selected += 1;
        self.out.write(line)
    }

    /// Drops lines of a page beyond the limit of its file.
    fn limit(&mut self, page: &mut Page) {
        let Some(in_file) = self.in_files.get_mut(page.file) else { return };
        if let (Some(most), Some(inputs)) = (self.show.most, &self.inputs) {
            let left = most - *in_file;
            if page.selected >= left {
                page.selected = left;
                let end = usize::try_from(left).ok().and_then(|left| left.checked_sub(1));
                let end = end.map_or(Some(0), |last| page.ends.get(last).copied());
                page.text.truncate(end.unwrap_or(page.text.len()));
                inputs.skip(page.file);
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
            return self.out.head(header, file);
        };
        keys.refuse_column(*added, header)?;
        let mut with_it = Vec::new();
        keys.push_with(*added, None, header, &mut with_it);
        self.out.head(&with_it, file)
    }

    fn take(&mut self, page: &mut Page) -> Result<()> {
        self.limit(page);
        self.printed.lines += std::mem::take(&mut page.lines);
        self.printed.selected += std::mem::take(&mut page.selected);
        self.out.write_all(&page.text)?;
        page.text.clear();
        page.ends.clear();
        self.out.end_batch()
    }

    fn is_done(&self) -> bool {
        self.inputs.as_ref().is_some_and(Inputs::are_skipped)
    }
}

/// The name of a file as it is printed in front of lines.
pub(crate) fn prefix_of(path: &Path) -> Vec<u8> {
    if is_dash(path) {
        return b"(standard input)".to_vec();
    }
    path.as_os_str().as_encoded_bytes().to_vec()
}

/// An error if the process was started without a standard output, as by `>&-`. Output would be
/// lost, because the runtime puts the null device in its place.
pub(crate) fn is_open() -> Result<()> {
    #[cfg(target_os = "linux")]
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed")).context(CANNOT_WRITE);
    }
    Ok(())
}

#[cfg(target_os = "linux")]
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before `main` and before the runtime, which would hide what it looks for.
#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: this asks for the flags of a descriptor, open or not, and changes nothing.
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

// SAFETY: the section holds pointers to functions that the loader calls with arguments that C
// functions may ignore; this one uses neither the runtime nor memory that is not static.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
