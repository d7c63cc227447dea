//! Keeps other runs away from an output directory or a state.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use same_file::Handle;

use crate::input::name;

/// A locked file, which goes when the run ends. One that a killed run leaves is taken over.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Locks the file at `path`, which stands for `what`.
    pub(super) fn take(path: PathBuf, what: &Path) -> Result<Self> {
        let failed = || format!("cannot lock {}", name(&path));
        loop {
            let mut options = OpenOptions::new();
            let file = options.create(true).write(true).truncate(false).open(&path);
            let file = file.with_context(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => bail!("another run writes to {}", name(what)),
                Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
            }
            // A run that ended meanwhile may have removed the file.
            let locked = file.try_clone().and_then(Handle::from_file).with_context(failed)?;
            if Handle::from_path(&path).is_ok_and(|there| there == locked) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
