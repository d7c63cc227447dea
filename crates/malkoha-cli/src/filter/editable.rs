//! Filter files that are read to be changed.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use same_file::Handle;

use super::Members;
use crate::input::name;

/// A set that was read to be changed. While this lives, no other such reader gets it.
pub(crate) struct Editable {
    pub(crate) filter: Members,
    _lock: File,
}

impl Editable {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = lock(path).with_context(|| format!("cannot open filter {}", name(path)))?;
        Ok(Self { filter: Members::open(path, &file)?, _lock: file })
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
