//! Reading inputs, a block of whole lines at a time.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use indicatif::ProgressBar;
use memchr::memchr_iter;
use same_file::Handle;

use super::{Inputs, content, is_dash, name};
use crate::failure::pass_over;
use crate::records::{Form, Source};

/// Bytes that are read at once, unless a record is longer. They fit a processor's cache.
pub(super) const BLOCK: usize = 1 << 18;

/// Whole records of one file, in memory that is used again for the next ones.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    filled: usize,
    /// Bytes of the header before the lines.
    start: usize,
    header: Option<Arc<[u8]>>,
    /// The name of the file, if the header is in this block.
    name: String,
    /// Blocks of all files before this one.
    pub(crate) number: u64,
    /// The number of the file that the lines are from, from 0.
    pub(crate) file: usize,
    /// Bytes of the file before these lines, as they are read.
    pub(crate) offset: u64,
    line: u64,
}

impl Block {
    /// The records with their terminators, which the last one of a file may lack.
    pub(crate) fn source(&self) -> Source<'_> {
        Source {
            text: &self.bytes[self.start..self.filled],
            header: self.header.as_deref(),
            file: self.file,
            lines_before: self.line,
        }
    }

    /// The header that these records follow, and the name of their file, if they are its first.
    pub(crate) fn header_before(&self) -> Option<(&[u8], &str)> {
        self.header.as_deref().filter(|_| self.start > 0).map(|header| (header, &*self.name))
    }

    /// Takes its first record for the header of its file.
    fn behead(&mut self, form: Form) -> Arc<[u8]> {
        let header: Arc<[u8]> = form.header(&self.bytes[..self.filled]).into();
        self.start = (header.len() + 1).min(self.filled);
        header
    }
}

/// The files that are left to read.
pub(crate) struct Blocks {
    inputs: Inputs,
    /// Blocks that have been handed over.
    handed: u64,
    /// Files that have been opened.
    opened: usize,
    /// The header of the file.
    header: Option<Arc<[u8]>>,
    /// Bytes of the file that have been handed over, and lines.
    offset: u64,
    line: u64,
    source: Option<(PathBuf, Box<dyn Read + Send>)>,
    /// The beginning of a record whose end has not been read.
    rest: Vec<u8>,
    progress: ProgressBar,
}

impl Blocks {
    pub(super) fn new(inputs: Inputs, progress: ProgressBar) -> Self {
        Self {
            inputs,
            handed: 0,
            opened: 0,
            header: None,
            offset: 0,
            line: 0,
            source: None,
            rest: Vec::new(),
            progress,
        }
    }

    /// Reads the next records, as many as come at once; `false` at the end of all files.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<bool> {
        loop {
            if self.opened <= self.inputs.wanted.load(Ordering::Relaxed) && self.opened > 0 {
                self.source = None;
                self.rest.clear();
            }
            if self.source.is_none() {
                let Some(path) = self.inputs.paths.get(self.opened).cloned() else {
                    return Ok(false);
                };
                self.opened += 1;
                match self.open(&path) {
                    Ok(source) => {
                        (self.offset, self.line) = (0, 0);
                        self.source = Some((path, self.limited(source)));
                    }
                    Err(error) => self.fail(error)?,
                }
                continue;
            }
            match self.read_lines(block) {
                Ok(true) => {
                    block.number = self.handed;
                    self.handed += 1;
                    block.file = self.opened - 1;
                    block.start = 0;
                    let Inputs { form, headed, numbered, keys, .. } = &self.inputs;
                    if *headed && self.offset == 0 {
                        let header = block.behead(*form);
                        block.name = name(&self.inputs.paths[block.file]);
                        self.line = form.lines_of(&header);
                        self.header = Some(header);
                    }
                    block.header.clone_from(&self.header);
                    block.line = self.line;
                    block.offset = self.offset + block.start as u64;
                    // The first records may come after the header.
                    let beginning = self.header.as_ref().map_or(0, |it| it.len() as u64 + 1);
                    if let Some(keys) = keys.as_ref().filter(|_| self.offset <= beginning) {
                        keys.look_at(block.source())?;
                    }
                    self.offset += block.filled as u64;
                    if *numbered {
                        self.line +=
                            memchr_iter(form.separator, block.source().text).count() as u64;
                    }
                    return Ok(true);
                }
                Ok(false) => {}
                Err(error) => self.fail(error)?,
            }
        }
    }

    fn open(&mut self, path: &Path) -> Result<Box<dyn Read + Send>> {
        let is_output = |handle: io::Result<Handle>| handle.is_ok_and(|handle| is_stdout(&handle));
        let refuse = || anyhow!("{} is both input and output: write to another file", name(path));
        let source: Box<dyn Read + Send> = if is_dash(path) {
            ensure!(!is_output(Handle::stdin()), refuse());
            match self.inputs.begun.take() {
                Some((begun, _)) => Box::new(Cursor::new(begun).chain(io::stdin())),
                None => Box::new(io::stdin()),
            }
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", name(path)))?;
            if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                bail!("cannot read {}: it is a directory, and lines come from files", name(path));
            }
            ensure!(!is_output(file.try_clone().and_then(Handle::from_file)), refuse());
            Box::new(file)
        };
        content::lines(source).with_context(|| format!("cannot read {}", name(path)))
    }

    fn limited(&self, source: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        match &self.inputs.lengths {
            Some(lengths) => Box::new(source.take(lengths[self.opened - 1])),
            None => source,
        }
    }

    /// Handles a file that cannot be read, or not to its end.
    fn fail(&mut self, error: Error) -> Result<()> {
        self.source = None;
        self.rest.clear();
        if self.inputs.all_needed {
            return Err(error);
        }
        pass_over(&error);
        Ok(())
    }

    /// `false` at the end of the file.
    fn read_lines(&mut self, block: &mut Block) -> Result<bool> {
        let Some((path, source)) = &mut self.source else { return Ok(false) };
        let bytes = &mut block.bytes;
        let mut filled = self.rest.len();
        bytes.resize(bytes.len().max(BLOCK).max(filled), 0);
        bytes[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        // No record ends before `known`. It is looked for again when `due` bytes are there: looking
        // through a long record after each read would take quadratic time.
        let (mut known, mut due) = (filled, 0);
        loop {
            // bytes[..filled] is the beginning of a record that is not complete yet.
            if filled == bytes.len() {
                bytes.resize(bytes.len() * 2, 0);
            }
            let count = match source.read(&mut bytes[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result.with_context(|| format!("cannot read {}", name(path)))?,
            };
            self.progress.inc(count as u64);
            let end = filled + count;
            if count == 0 {
                self.source = None;
                block.filled = filled;
                return Ok(filled > 0);
            }
            filled = end;
            if end < due {
                continue;
            }
            let Inputs { form, headed, .. } = &self.inputs;
            let last = form.last_end(&bytes[..end], known);
            known = end;
            if !form.is_line() && end > BLOCK {
                due = end + end / 8;
            }
            // A line for spreadsheets comes with the header behind it.
            let lacks_header =
                |last: usize| *headed && self.offset == 0 && form.is_sep_alone(&bytes[..last]);
            if let Some(last) = last.filter(|&last| !lacks_header(last)) {
                block.filled = last;
                self.rest.extend_from_slice(&bytes[block.filled..end]);
                return Ok(true);
            }
        }
    }
}

/// Whether standard output is this regular file: what is printed would become input without end.
pub(super) fn is_stdout(file: &Handle) -> bool {
    let is_regular = file.as_file().metadata().is_ok_and(|metadata| metadata.is_file());
    is_regular && Handle::stdout().is_ok_and(|stdout| stdout == *file)
}
