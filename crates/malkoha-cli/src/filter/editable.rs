//! Filter files that are read to be changed.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail};
use malkoha::{CuckooFilter, FileKind, GrowableCuckooFilter};
use same_file::Handle;

use super::Members;
use super::lookup::kind;
use crate::input::name;

/// A set that was read to be changed. While this lives, no other such reader gets it.
pub(crate) struct Editable {
    pub(crate) filter: Members,
    _lock: File,
}

impl Editable {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = || format!("cannot open filter {}", name(path));
        let file = lock(path).with_context(failed)?;
        let reader = BufReader::new(&file);
        let filter = match kind(path).with_context(failed)? {
            FileKind::Map | FileKind::GrowableMap => {
                bail!(
                    "{} holds a map, in which lines have values: this command has none",
                    name(path)
                )
            }
            FileKind::GrowableSet => {
                let filter = GrowableCuckooFilter::read_from(reader).with_context(failed)?;
                Members::Growable(filter)
            }
            _ => Members::Fixed(CuckooFilter::read_from(reader).with_context(failed)?),
        };
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
