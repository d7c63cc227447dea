//! Restoring below a directory on Windows.
//!
//! No link below it is followed that exists when its name is checked. Unlike other systems, Windows
//! cannot look names up relative to an open directory, so nobody else may change the directory
//! meanwhile. Times of files are restored, permissions are not.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io;
use std::os::windows::fs::{OpenOptionsExt, symlink_file};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use malkoha_store::Metadata;

/// The flag that opens a directory, and the right to change its times.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;
const WRITE_ATTRIBUTES: u32 = 0x0100;

/// A directory that is restored into. Names in it have only parts that are names of files to
/// Windows.
pub(super) struct Target {
    path: PathBuf,
}

impl Target {
    /// Creates the directory if it does not exist. The path to it may contain links.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = || format!("cannot restore into '{}'", path.display());
        fs::create_dir_all(path).with_context(failed)?;
        Ok(Self { path: path.canonicalize().with_context(failed)? })
    }

    /// Writes a file, whole or not at all: an existing file stays until the new one is whole.
    pub(super) fn file(
        &self,
        name: &Path,
        metadata: Metadata,
        write: impl FnOnce(&File) -> Result<()>,
    ) -> Result<()> {
        let failed = || self.cannot_write(name);
        let (parent, last) = self.place(name)?;
        let file = tempfile::Builder::new().prefix(".malkoha-").tempfile_in(&parent);
        let file = file.with_context(failed)?;
        write(file.as_file())?;
        describe(file.as_file(), metadata).with_context(failed)?;
        file.persist(parent.join(last)).map_err(|error| error.error).with_context(failed)?;
        Ok(())
    }

    /// Makes a link, in place of a link that has the name.
    pub(super) fn link(&self, name: &Path, target: &[u8]) -> Result<()> {
        let failed = || self.cannot_write(name);
        let (parent, last) = self.place(name)?;
        let place = parent.join(last);
        if place.is_symlink() {
            fs::remove_file(&place).with_context(failed)?;
        }
        let target = std::str::from_utf8(target).with_context(failed)?;
        symlink_file(target, place).with_context(failed)
    }

    /// Creates a directory, if it does not exist, so that more can be restored into it.
    pub(super) fn directory(&self, name: &Path, _: Metadata) -> Result<()> {
        self.enter(name).map(drop)
    }

    /// Gives a directory its time, when its content is complete.
    pub(super) fn finish_directory(&self, name: &Path, metadata: Metadata) -> Result<()> {
        let path = self.enter(name)?;
        let mut options = OpenOptions::new();
        let options = options.access_mode(WRITE_ATTRIBUTES).custom_flags(BACKUP_SEMANTICS);
        let directory = options.open(path).with_context(|| self.cannot_write(name))?;
        describe(&directory, metadata).with_context(|| self.cannot_write(name))
    }

    /// The directory that a name lies in, and the last part of the name.
    fn place<'n>(&self, name: &'n Path) -> Result<(PathBuf, &'n OsStr)> {
        let last = name.file_name().with_context(|| self.cannot_write(name))?;
        Ok((self.enter(name.parent().unwrap_or(Path::new("")))?, last))
    }

    /// A directory below this one, created if it does not exist. Follows no links.
    fn enter(&self, name: &Path) -> Result<PathBuf> {
        let mut path = self.path.clone();
        for part in name {
            path.push(part);
            match fs::create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(error).with_context(|| self.cannot_write(name));
                }
                _ => {}
            }
            // Neither a link nor another reparse point.
            let found = fs::symlink_metadata(&path).with_context(|| self.cannot_write(name))?;
            if !found.is_dir() {
                bail!(
                    "'{}' is a link or a file, and nothing is restored through it: move it away, \
                     forget it with 'rm' if it is from the store, or restore elsewhere",
                    path.display()
                );
            }
        }
        Ok(path)
    }

    fn cannot_write(&self, name: &Path) -> String {
        format!("cannot write '{}'", self.path.join(name).display())
    }
}

/// Gives a file or a directory the time that is known.
fn describe(file: &File, metadata: Metadata) -> io::Result<()> {
    let times = metadata.modified.map(|time| FileTimes::new().set_modified(time));
    times.map_or(Ok(()), |times| file.set_times(times))
}
