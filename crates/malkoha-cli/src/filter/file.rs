//! Filter files that are read as a whole, to be changed or united.

use std::path::{Path, PathBuf};

use anyhow::Result;
use malkoha::tables::{Ages, Expiring, Fixed, Growing};
use malkoha::{FileKind, Filter, Keys, Values};

use super::lookup::{kind, named, read_at};
use super::{Lines, Table};
use crate::failure::Outcome;
use crate::output::Held;
use crate::time::Now;

/// A filter file of known kind.
pub(crate) struct FilterFile {
    path: PathBuf,
    pub(crate) kind: FileKind,
}

/// An operation of a command on the content of a file of any kind.
pub(crate) trait Task {
    fn run<T: Table, C: Lines>(self, filter: Filter<T, C>) -> Result<Outcome>;
}

impl FilterFile {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), kind: named(path, kind(path))? })
    }

    /// Opens it to be changed, by nobody else meanwhile.
    pub(crate) fn open_held(path: &Path, wait: bool) -> Result<(Self, Held)> {
        // A file that is no filter is an error before another process is waited for.
        Self::open(path)?;
        let held = Held::of(path, wait)?;
        Ok((Self::open(path)?, held))
    }

    /// Reads the content, and checks every byte.
    pub(crate) fn read<T: Table, C: Lines>(&self) -> Result<Filter<T, C>> {
        named(&self.path, Filter::open(&self.path))
    }

    /// Reads the content, whose lines expire, and sets its time to `now`.
    pub(crate) fn read_at<T: Table + Ages>(&self, now: Now) -> Result<Filter<Expiring<T>>> {
        named(&self.path, read_at(&self.path, now))
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
