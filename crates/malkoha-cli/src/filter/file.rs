//! Filter files that are read as a whole, to be changed or united.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use malkoha::FileKind;
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

    fn of(path: &Path, file: std::io::Result<File>) -> Result<Self> {
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
        C::read(self.kind, BufReader::new(&self.file))
            .with_context(|| format!("cannot open filter {}", name(&self.path)))
    }
}

/// Opens and locks the file that `path` names at the moment the lock is had: another process may
/// have replaced the one that it named before.
pub(crate) fn lock(path: &Path) -> std::io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if Handle::from_file(file.try_clone()?)? == Handle::from_path(path)? {
            return Ok(file);
        }
    }
}
