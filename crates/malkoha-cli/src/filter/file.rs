//! Filter files that are read as a whole, to be changed or united.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use malkoha::tables::{Ages, Expiring, Fixed, Growing};
use malkoha::{FileKind, Filter, Keys, Values};
use same_file::Handle;

use super::lookup::{kind, named, read_at};
use super::{Lines, Table};
use crate::failure::Outcome;
use crate::input::name;
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
        Ok(Self { path: path.to_path_buf(), kind: named(path, kind(path))?, _lock: None })
    }

    /// Opens it to be changed. While this lives, no other process can do the same.
    pub(crate) fn open_locked(path: &Path, wait: bool) -> Result<Self> {
        let file = Self::open(path)?;
        let lock = lock(path, wait)?;
        Ok(Self { _lock: Some(lock), ..file })
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

/// Opens and locks the file that `path` names when the lock is taken: another process may have
/// replaced the one that it named before. If one has locked it, waits for that or fails.
pub(crate) fn lock(path: &Path, wait: bool) -> Result<File> {
    loop {
        let file = named(path, File::open(path).map_err(Into::into))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if wait => {
                named(path, file.lock().map_err(Into::into))?;
            }
            Err(TryLockError::WouldBlock) => bail!(
                "{} is being changed by {}: try again later, or wait for it with --wait",
                name(path),
                holder(&file).unwrap_or_else(|| "another process".into())
            ),
            Err(TryLockError::Error(error)) => return named(path, Err(error.into())),
        }
        if Handle::from_file(file.try_clone()?)? == Handle::from_path(path)? {
            return Ok(file);
        }
    }
}

/// The process that has locked a file, as far as the system tells.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let metadata = file.metadata().ok()?;
    let device = metadata.dev();
    let place = format!(
        "{:02x}:{:02x}:{}",
        rustix::fs::major(device),
        rustix::fs::minor(device),
        metadata.ino()
    );
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let fields = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut held = fields.filter(|fields| fields.get(1) == Some(&"FLOCK"));
    let process = held.find(|fields| fields.get(5) == Some(&place.as_str()))?[4].to_owned();
    let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ");
    Some(format!("process {process} ({})", command.trim_end()))
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<String> {
    None
}
