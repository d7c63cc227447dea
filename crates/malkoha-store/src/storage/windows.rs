//! A directory of Windows.
//!
//! Files are read by system calls: one that is mapped can be neither removed nor made shorter, and
//! a page of it that cannot be read ends the process. Others may remove and rename open files,
//! because Rust opens them in this mode.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;

use super::directory::{copy, sync_directory};
use super::file::{OsFile, Writing};
use super::held::{Held, Identity};
use super::{LOCK, Room, Storage, StorageFile};

/// A directory of the operating system.
#[derive(Debug)]
pub struct OsStorage {
    /// Absolute, so that the store stays valid when the process changes its directory.
    path: PathBuf,
}

/// The right to write, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    held: Held,
}

impl Lock {
    /// Whether this process was forked by the one that has the right: there is no forking here.
    pub(crate) fn is_inherited(&self) -> bool {
        self.held.is_inherited()
    }
}

impl OsStorage {
    /// The directory at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { path: std::path::absolute(path)? })
    }

    /// The same: all files are written by system calls.
    pub fn writing(self, _: Writing) -> Self {
        self
    }

    /// The same: no file is mapped.
    pub fn unmapped(self) -> Self {
        self
    }

    /// The right to write: `None` if somebody has it.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(self.path.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file, held: Held::new(self.identity()?) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Whether it is this process that has the right.
    pub(crate) fn is_held_here(&self) -> io::Result<bool> {
        Ok(Held::is_here(&self.identity()?))
    }

    fn identity(&self) -> io::Result<Identity> {
        fs::canonicalize(&self.path).map(Identity)
    }

    fn file(&self, file: File, writable: bool) -> Box<OsFile> {
        Box::new(OsFile::new(file, writable, false, Writing::Calls))
    }
}

impl Storage for OsStorage {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            // Our names are text.
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(self.path.join(name))?;
        let file = self.file(file, true);
        if let Err(error) = file.set_len(bytes) {
            // Leaves nothing incomplete. If even that fails, opening removes it later.
            let _ = self.remove(name);
            return Err(error);
        }
        Ok(file)
    }

    fn open(&self, name: &str, writable: bool) -> io::Result<Box<dyn StorageFile>> {
        let file = OpenOptions::new().read(true).write(writable).open(self.path.join(name))?;
        Ok(self.file(file, writable))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        sync_directory(&self.path)
    }

    fn room(&self) -> io::Result<Option<Room>> {
        let path: Vec<u16> = self.path.as_os_str().encode_wide().chain([0]).collect();
        let (mut free, mut total) = (0, 0);
        // SAFETY: the path ends with a zero, two pointers are to live numbers of this width, and
        // the third can be null.
        let done = unsafe {
            GetDiskFreeSpaceExW(path.as_ptr(), &raw mut free, &raw mut total, ptr::null_mut())
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(Some(Room { total, free })) }
    }

    fn link(&self, name: &str, directory: &Path) -> io::Result<bool> {
        match fs::hard_link(self.path.join(name), directory.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            linked => Ok(linked.is_ok()),
        }
    }

    fn copy(&self, name: &str, directory: &Path) -> io::Result<()> {
        copy(&mut File::open(self.path.join(name))?, &directory.join(name))
    }
}
