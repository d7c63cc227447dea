//! A directory of the operating system.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::{Errno, retry_on_intr};

use super::directory::copy;
use super::file::{OsFile, Writing};
use super::{Room, Storage, StorageFile};

/// A directory of the operating system. It stays the same one if its path changes, so a store that
/// is moved while it is open does not write to another directory.
#[derive(Debug)]
pub struct OsStorage {
    directory: File,
    system: FileSystem,
    writing: Writing,
    maps: bool,
}

/// File systems that are not treated like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux reports it"))]
enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
    Tmpfs,
    Other,
}

impl OsStorage {
    /// The directory at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))?;
        let directory = directory.into();
        let (system, writing) = (file_system(&directory), Writing::default());
        let storage = Self { directory, system, writing, maps: !cfg!(malkoha_calls) };
        Ok(storage.writing(writing))
    }

    /// The same with files that are read and written by system calls, as on Windows. Each file
    /// keeps its descriptor open.
    pub fn unmapped(self) -> Self {
        Self { maps: false, ..self }
    }

    /// The same with files that are written in this way. They are written by system calls if a page
    /// that was written before may need room on the device again.
    pub fn writing(self, writing: Writing) -> Self {
        // Those that copy on write (Btrfs, XFS after a copy by reflink, ZFS) need room for each
        // write. On a full device, a write into a mapping would end the process.
        let keeps_blocks = matches!(self.system, FileSystem::Ext4 | FileSystem::Tmpfs);
        let writing = if keeps_blocks { writing } else { Writing::Calls };
        Self { writing, ..self }
    }

    /// Opens a file, without waiting for anybody. A link could lead to any file, which would then
    /// be overwritten, and opening a pipe waits until somebody writes to it.
    pub(super) fn open_at(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let file = self.open_any(name, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK);
        let file = file.map_err(|error| match error {
            Errno::LOOP | Errno::MLINK => not_a_file(),
            other => other.into(),
        })?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(not_a_file()) }
    }

    /// Opens the directory once more, for a lock of its own.
    pub(super) fn reopen(&self) -> io::Result<File> {
        Ok(self.open_any(".", OFlags::RDONLY | OFlags::DIRECTORY)?)
    }

    fn open_any(&self, name: &str, flags: OFlags) -> rustix::io::Result<File> {
        let mode = Mode::from_raw_mode(0o666);
        let open = || openat(&self.directory, name, flags | OFlags::CLOEXEC, mode);
        retry_on_intr(open).map(File::from)
    }

    /// Asks Btrfs to write a new file in place. Otherwise each write into a page that was synced
    /// needs a new page, so a full device refuses deletes although room is reserved for them.
    #[cfg(target_os = "linux")]
    fn write_in_place(&self, file: &File) {
        use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
        if self.system == FileSystem::Btrfs {
            let _ = ioctl_getflags(file).and_then(|is| ioctl_setflags(file, is | IFlags::NOCOW));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn write_in_place(&self, _file: &File) {}

    fn file(&self, file: File, writable: bool) -> Box<OsFile> {
        Box::new(OsFile::new(file, writable, self.maps, self.writing))
    }
}

impl Storage for OsStorage {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.directory)? {
            // Our names are text.
            match entry?.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        let file = self.open_at(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        self.write_in_place(&file);
        let file = self.file(file, true);
        if let Err(error) = file.set_len(bytes) {
            // Leaves nothing incomplete. If even that fails, opening removes it later.
            let _ = self.remove(name);
            return Err(error);
        }
        Ok(file)
    }

    fn open(&self, name: &str, writable: bool) -> io::Result<Box<dyn StorageFile>> {
        let flags = if writable { OFlags::RDWR } else { OFlags::RDONLY };
        Ok(self.file(self.open_at(name, flags)?, writable))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(retry_on_intr(|| renameat(&self.directory, from, &self.directory, to))?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        Ok(retry_on_intr(|| unlinkat(&self.directory, name, AtFlags::empty()))?)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.directory.sync_all()
    }

    #[cfg(target_os = "linux")]
    fn still_writes(&self) -> io::Result<()> {
        if !matches!(self.system, FileSystem::Ext4 | FileSystem::Xfs | FileSystem::Btrfs) {
            return Ok(());
        }
        // These begin a transaction, or check whether they were shut down, before they find that
        // there is no such attribute. Any other error says nothing about the journal.
        match rustix::fs::fremovexattr(&self.directory, "user.malkoha.none") {
            Err(error @ (Errno::ROFS | Errno::IO)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn room(&self) -> io::Result<Option<Room>> {
        let system = rustix::fs::fstatvfs(&self.directory)?;
        let bytes = |blocks: u64| blocks.saturating_mul(system.f_frsize);
        Ok(Some(Room { total: bytes(system.f_blocks), free: bytes(system.f_bavail) }))
    }

    fn link(&self, name: &str, directory: &Path) -> io::Result<bool> {
        let to = directory.join(name);
        let link = || linkat(&self.directory, name, CWD, &to, AtFlags::empty());
        match retry_on_intr(link) {
            Err(Errno::EXIST) => Err(Errno::EXIST.into()),
            linked => Ok(linked.is_ok()),
        }
    }

    fn copy(&self, name: &str, directory: &Path) -> io::Result<()> {
        copy(&mut self.open_at(name, OFlags::RDONLY)?, &directory.join(name))
    }
}

fn not_a_file() -> io::Error {
    io::Error::other("it is a link, a pipe or the like, and a store has only regular files")
}

#[cfg(target_os = "linux")]
fn file_system(directory: &File) -> FileSystem {
    match rustix::fs::fstatfs(directory).map(|system| system.f_type) {
        Ok(0xef53) => FileSystem::Ext4,
        Ok(0x5846_5342) => FileSystem::Xfs,
        Ok(0x9123_683e) => FileSystem::Btrfs,
        Ok(0x0102_1994) => FileSystem::Tmpfs,
        _ => FileSystem::Other,
    }
}

#[cfg(not(target_os = "linux"))]
fn file_system(_directory: &File) -> FileSystem {
    FileSystem::Other
}
