//! A list that lies in memory as a whole: a mapped file, or bytes that were read from a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use memmap2::Mmap;

use super::{content, is_dash, name};

/// The bytes of a list of lines.
///
/// A regular file is mapped, so the system can reclaim its memory at any time. It must not change
/// while it is mapped: rewritten lines are compared in their new form, and a truncated file ends
/// the program with SIGBUS.
pub(crate) enum List {
    /// From this byte on, which follows a mark.
    Mapped(Mmap, usize),
    Read(Vec<u8>),
    Shared(Arc<[u8]>),
}

impl List {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = || format!("cannot open list {}", name(path));
        if is_dash(path) {
            return Self::read(Box::new(io::stdin())).with_context(failed);
        }
        let file = File::open(path).with_context(failed)?;
        let metadata = file.metadata().with_context(failed)?;
        if metadata.is_dir() {
            bail!("cannot open list {}: it is a directory", name(path));
        }
        // Pipes cannot be mapped, and neither can empty files.
        if !metadata.is_file() || metadata.len() == 0 {
            return Self::read(Box::new(file)).with_context(failed);
        }
        match Self::mapped(&file).with_context(failed)? {
            Some(list) => Ok(list),
            None => Self::read(Box::new(file)).with_context(failed),
        }
    }

    /// A file that has lines as they are, mapped.
    fn mapped(file: &File) -> io::Result<Option<Self>> {
        let start = match content::start_of(file)? {
            None => 0,
            Some(content::Content::Marked) => content::BOM.len(),
            Some(_) => return Ok(None),
        };
        // SAFETY: the map is only read. The contract that nobody changes the file meanwhile cannot
        // be enforced; the help text states it. Reads of it go through plain byte slices, whose
        // contents nothing relies on for memory safety.
        let map = unsafe { Mmap::map(file) };
        // Some files of the system cannot be mapped.
        Ok(map.ok().map(|map| Self::Mapped(map, start)))
    }

    /// Whether [`open`](Self::open) would open it, as far as that is known without reading a pipe.
    pub(crate) fn is_readable(path: &Path) -> bool {
        let Ok(metadata) = path.metadata() else { return false };
        if !metadata.is_file() {
            return !metadata.is_dir();
        }
        let start = File::open(path).and_then(|file| content::start_of(&file));
        start.is_ok_and(|start| !matches!(start, Some(content::Content::NoLines(_))))
    }

    /// A regular file of lines that are not compressed, if it is one that can be read.
    pub(crate) fn map(path: &Path) -> Option<Self> {
        // A pipe must not be opened here, because its writer would find it closed again.
        if is_dash(path) || !path.metadata().ok()?.is_file() {
            return None;
        }
        let file = File::open(path).ok()?;
        if file.metadata().ok()?.len() == 0 {
            // Files of /proc have no size, but content.
            let is_empty = (&file).read(&mut [0]).ok()? == 0;
            return is_empty.then(|| Self::Read(Vec::new()));
        }
        Self::mapped(&file).ok()?
    }

    /// Bytes that were read, if they are lines that are not compressed.
    pub(super) fn of_bytes(bytes: &Arc<[u8]>) -> Option<Self> {
        content::start_of_bytes(bytes).is_none().then(|| Self::Shared(Arc::clone(bytes)))
    }

    fn read(source: Box<dyn Read + Send>) -> io::Result<Self> {
        let mut bytes = Vec::new();
        content::lines(source)?.read_to_end(&mut bytes)?;
        Ok(Self::Read(bytes))
    }

    /// The length of its file, where it is one.
    pub(crate) fn bytes_of_file(&self) -> u64 {
        let mark = if let Self::Mapped(_, start) = self { *start } else { 0 };
        (mark + self.len()) as u64
    }
}

impl Deref for List {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map, start) => &map[*start..],
            Self::Read(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}
