//! Filter files that are read as a whole, to be changed or united.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use malkoha::tables::{Ages, Expiring, Fixed, Growing};
use malkoha::{FileKind, Filter, Keys, Values};
use same_file::Handle;

use super::lookup::{kind, named};
use super::{Lines, Table};
use crate::failure::Outcome;
use crate::time::Now;

/// A filter file of known kind.
pub(crate) struct FilterFile {
    path: PathBuf,
    kind: FileKind,
    _lock: Option<File>,
}

/// An operation of a command on the content of a file of any kind.
pub(crate) trait Task {
    fn run<T: Table, C: Lines>(self, filter: Filter<T, C>) -> Result<Outcome>;
}

impl FilterFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::of(path, Ok(None))
    }

    /// Opens it to be changed. While this lives, no other process can do the same.
    pub(crate) fn open_locked(path: &Path) -> Result<Self> {
        Self::of(path, lock(path).map(Some))
    }

    fn of(path: &Path, lock: io::Result<Option<File>>) -> Result<Self> {
        let kind = named(path, kind(path))?;
        let lock = named(path, lock.map_err(Into::into))?;
        Ok(Self { path: path.to_path_buf(), kind, _lock: lock })
    }

    pub(crate) fn kind(&self) -> FileKind {
        self.kind
    }

    /// Reads the content, and checks every byte.
    pub(crate) fn read<T: Table, C: Lines>(&self) -> Result<Filter<T, C>> {
        named(&self.path, Filter::open(&self.path))
    }

    /// Reads the content, whose lines expire, and sets its time to `now`.
    pub(crate) fn read_at<T: Table + Ages>(&self, now: Now) -> Result<Filter<Expiring<T>>> {
        let mut filter = self.read::<Expiring<T>, Keys>()?;
        filter.advance(now.of(filter.now()));
        Ok(filter)
    }

    /// Reads the content, at this time if lines expire, and passes it on.
    pub(crate) fn run(&self, now: Now, task: impl Task) -> Result<Outcome> {
        match self.kind {
            FileKind::ExpiringSet => task.run(self.read_at::<Fixed>(now)?),
            FileKind::GrowableExpiringSet => task.run(self.read_at::<Growing>(now)?),
            FileKind::GrowableSet => task.run(self.read::<Growing, Keys>()?),
            FileKind::Map => task.run(self.read::<Fixed, Values>()?),
            FileKind::GrowableMap => task.run(self.read::<Growing, Values>()?),
            _ => task.run(self.read::<Fixed, Keys>()?),
        }
    }
}

/// Opens and locks the file that `path` names when the lock is taken: another process may have
/// replaced the one that it named before.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if Handle::from_file(file.try_clone()?)? == Handle::from_path(path)? {
            return Ok(file);
        }
    }
}
