//! Restoring below a directory, and nowhere else: no link below it is followed, whoever made it.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use malkoha_store::Metadata;
use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;

/// The permission bits that are restored. The others grant rights of the owner, who is not
/// restored.
const PERMISSIONS: u32 = 0o777;

/// A directory that is restored into. Names have no `.` or `..` parts.
pub(super) struct Target {
    path: PathBuf,
    directory: File,
}

impl Target {
    /// Creates the directory if it does not exist. The path to it may contain links.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let failed = || format!("cannot restore into '{}'", path.display());
        fs::create_dir_all(path).with_context(failed)?;
        let directory = File::open(path).with_context(failed)?;
        Ok(Self { path: path.to_owned(), directory })
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
        // Without a mode it gets the default mode of a new file.
        let mode = if metadata.mode.is_some() { 0o600 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let open = |new: &str| openat(&parent, new, flags, Mode::from_raw_mode(mode));
        let (file, new) = Temporary::make(&parent, open).with_context(failed)?;
        let file = File::from(file);
        write(&file)?;
        describe(&file, metadata).with_context(failed)?;
        new.rename(last).with_context(failed)
    }

    /// Makes a link, and replaces what has the name.
    pub(super) fn link(&self, name: &Path, target: &[u8]) -> Result<()> {
        let failed = || self.cannot_write(name);
        let (parent, last) = self.place(name)?;
        let link = |new: &str| symlinkat(target, &parent, new);
        let ((), new) = Temporary::make(&parent, link).with_context(failed)?;
        new.rename(last).with_context(failed)
    }

    /// Creates a directory, if it does not exist, so that more can be restored into it.
    pub(super) fn directory(&self, name: &Path, metadata: Metadata) -> Result<()> {
        let directory = self.enter(name)?;
        // Nobody else may see what is restored, and its owner may write.
        let mode = metadata.mode.map(|mode| mode | 0o700);
        describe(&directory, Metadata { mode, modified: None })
            .with_context(|| self.cannot_write(name))
    }

    /// Gives a directory its mode and its time, when its content is complete.
    pub(super) fn finish_directory(&self, name: &Path, metadata: Metadata) -> Result<()> {
        describe(&self.enter(name)?, metadata).with_context(|| self.cannot_write(name))
    }

    /// The directory that a name lies in, and the last part of the name.
    fn place<'n>(&self, name: &'n Path) -> Result<(File, &'n OsStr)> {
        let last = name.file_name().with_context(|| self.cannot_write(name))?;
        Ok((self.enter(name.parent().unwrap_or(Path::new("")))?, last))
    }

    /// A directory below this one, created if it does not exist. Follows no links.
    fn enter(&self, name: &Path) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut directory = self.directory.try_clone().with_context(|| self.cannot_write(name))?;
        let mut path = PathBuf::new();
        for part in name {
            path.push(part);
            let open = || openat(&directory, part, flags, Mode::empty());
            let opened = match open() {
                Err(Errno::NOENT) => match mkdirat(&directory, part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => open(),
                    Err(error) => Err(error),
                },
                opened => opened,
            };
            directory = match opened {
                Ok(directory) => directory.into(),
                Err(Errno::LOOP | Errno::NOTDIR) => bail!(
                    "'{}' is a link or a file, and nothing is restored through it: move it away, \
                     forget it with 'rm' if it is from the store, or restore elsewhere",
                    self.path.join(path).display()
                ),
                Err(error) => {
                    return Err(io::Error::from(error)).with_context(|| self.cannot_write(&path));
                }
            };
        }
        Ok(directory)
    }

    fn cannot_write(&self, name: &Path) -> String {
        format!("cannot write '{}'", self.path.join(name).display())
    }
}

/// Gives a file or a directory the mode and the time that are known.
fn describe(file: &File, metadata: Metadata) -> io::Result<()> {
    if let Some(mode) = metadata.mode {
        file.set_permissions(Permissions::from_mode(mode & PERMISSIONS))?;
    }
    if let Some(time) = metadata.modified {
        file.set_times(FileTimes::new().set_modified(time))?;
    }
    Ok(())
}

/// Something new under a temporary name, which is removed unless it is renamed.
struct Temporary<'d> {
    directory: &'d File,
    name: String,
    is_renamed: bool,
}

impl<'d> Temporary<'d> {
    /// Calls `make`, which must refuse a name that is taken.
    fn make<T>(
        directory: &'d File,
        make: impl Fn(&str) -> rustix::io::Result<T>,
    ) -> io::Result<(T, Self)> {
        let mut number = 0_u64;
        loop {
            let name = format!(".malkoha-{}-{number}", std::process::id());
            match make(&name) {
                Err(Errno::EXIST) => number += 1,
                made => return Ok((made?, Self { directory, name, is_renamed: false })),
            }
        }
    }

    fn rename(mut self, name: &OsStr) -> io::Result<()> {
        renameat(self.directory, &self.name, self.directory, name)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            // There is an error to report already.
            let _ = unlinkat(self.directory, &self.name, AtFlags::empty());
        }
    }
}
