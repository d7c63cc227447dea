//! Filter files that are read as a whole, to be changed or united.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use malkoha::{FileKind, ReadError};
use same_file::Handle;

use super::Contents;
use super::lookup::kind;
use crate::input::name;

/// An open filter file, of which the kind is known.
pub(crate) struct FilterFile {
    path: PathBuf,
    kind: FileKind,
    file: File,
}

impl FilterFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::of(path, File::open(path))
    }

    /// Opens it to be changed: while this lives, no other such reader gets it.
    pub(crate) fn open_locked(path: &Path) -> Result<Self> {
        Self::of(path, lock(path))
    }

    fn of(path: &Path, file: io::Result<File>) -> Result<Self> {
        let failed = || format!("cannot open filter {}", name(path));
        let file = file.with_context(failed)?;
        let kind = kind(path).with_context(failed)?;
        Ok(Self { path: path.to_path_buf(), kind, file })
    }

    pub(crate) fn holds_map(&self) -> bool {
        matches!(self.kind, FileKind::Map | FileKind::GrowableMap)
    }

    /// Reads what it holds, and checks every byte.
    pub(crate) fn read<C: Contents>(&self) -> Result<C> {
        whole(&self.file, |reader| C::read(self.kind, reader))
            .with_context(|| format!("cannot open filter {}", name(&self.path)))
    }
}

/// What `read` makes of a file, which must be all of it.
pub(super) fn whole<F: Read + Seek, C>(
    file: F,
    read: impl FnOnce(&mut BufReader<F>) -> Result<C, ReadError>,
) -> Result<C, ReadError> {
    let mut reader = BufReader::new(file);
    let contents = read(&mut reader)?;
    let after = io::copy(&mut reader, &mut io::sink())?;
    if after == 0 {
        return Ok(contents);
    }
    let found = reader.stream_position()?;
    Err(ReadError::Length { expected: found - after, found })
}

/// Opens and locks the file that `path` names at the moment the lock is had: another process may
/// have replaced the one that it named before.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if Handle::from_file(file.try_clone()?)? == Handle::from_path(path)? {
            return Ok(file);
        }
    }
}
