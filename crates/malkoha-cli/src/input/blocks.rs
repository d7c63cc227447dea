//! Reading inputs, a block of whole lines at a time.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use anyhow::{Context, Result, bail};
use indicatif::ProgressBar;
use memchr::memrchr;

use super::{is_stdin, name};

/// Bytes that are read at once, unless a line is longer. They fit the cache of a processor.
pub(super) const BLOCK: usize = 1 << 18;

/// Whole lines of one file, in memory that is used again for the next ones.
#[derive(Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    filled: usize,
    file: usize,
}

impl Block {
    /// The number of the file that the lines are from, from 0.
    pub(crate) fn file(&self) -> usize {
        self.file
    }

    /// The lines with their terminators, which the last line of a file may lack.
    pub(crate) fn lines(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

/// What is left to read of some files.
pub(crate) struct Blocks {
    paths: IntoIter<PathBuf>,
    /// Files that have been opened.
    opened: usize,
    separator: u8,
    source: Option<(PathBuf, Box<dyn Read + Send>)>,
    /// The beginning of a line whose end has not been read.
    rest: Vec<u8>,
    progress: ProgressBar,
}

impl Blocks {
    pub(super) fn new(paths: Vec<PathBuf>, separator: u8, progress: ProgressBar) -> Self {
        let paths = paths.into_iter();
        Self { paths, opened: 0, separator, source: None, rest: Vec::new(), progress }
    }

    /// Reads the next lines, as many as come at once; `false` at the end of all files.
    pub(crate) fn next(&mut self, block: &mut Block) -> Result<bool> {
        loop {
            if self.source.is_none() {
                let Some(path) = self.paths.next() else { return Ok(false) };
                self.source = Some((path.clone(), open(&path)?));
                self.opened += 1;
            }
            if self.read_lines(block)? {
                block.file = self.opened - 1;
                return Ok(true);
            }
        }
    }

    /// `false` at the end of the file.
    fn read_lines(&mut self, block: &mut Block) -> Result<bool> {
        let Some((path, source)) = &mut self.source else { return Ok(false) };
        let bytes = &mut block.bytes;
        let mut filled = self.rest.len();
        bytes.resize(bytes.len().max(BLOCK).max(filled), 0);
        bytes[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        loop {
            // bytes[..filled] is the beginning of a line that is not complete yet.
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
            if let Some(last) = memrchr(self.separator, &bytes[filled..end]) {
                block.filled = filled + last + 1;
                self.rest.extend_from_slice(&bytes[block.filled..end]);
                return Ok(true);
            }
            filled = end;
        }
    }
}

fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", name(path)))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        bail!("cannot read {}: it is a directory, and lines come from files", name(path));
    }
    Ok(Box::new(file))
}
