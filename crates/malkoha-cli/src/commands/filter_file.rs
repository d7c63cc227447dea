//! Opening filter files.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use malkoha::{CuckooFilter, MappedFilter};
use same_file::Handle;

use crate::input::name;

/// Maps the filter at `path`; checks its header only.
pub(super) fn map(path: &Path) -> Result<MappedFilter> {
    // SAFETY: nobody may change a filter file in place, which the documentation of the command
    // says; this command replaces filter files by renaming, which a map does not notice.
    let filter = unsafe { MappedFilter::open(path) };
    filter.with_context(|| format!("cannot open filter {}", name(path)))
}

/// Maps the filter at `path` and checks all of it.
pub(super) fn map_verified(path: &Path) -> Result<MappedFilter> {
    let filter = map(path)?;
    filter.verify().with_context(|| format!("cannot use filter {}", name(path)))?;
    Ok(filter)
}

/// A filter that was read to be changed. While this lives, no other such reader gets it.
pub(super) struct Editable {
    pub(super) filter: CuckooFilter,
    _lock: File,
}

impl Editable {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = || format!("cannot open filter {}", name(path));
        let file = lock(path).with_context(failed)?;
        let filter = CuckooFilter::read_from(BufReader::new(&file)).with_context(failed)?;
        Ok(Self { filter, _lock: file })
    }
}

/// Opens and locks the file that `path` names at the moment the lock is had: another process may
/// have replaced the one that it named before.
fn lock(path: &Path) -> std::io::Result<File> {
    loop {
        let file = File::open(path)?;
        file.lock()?;
        if Handle::from_file(file.try_clone()?)? == Handle::from_path(path)? {
            return Ok(file);
        }
    }
}
