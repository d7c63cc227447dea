//! A directory of the operating system.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

use super::{Mapping, Storage, StorageFile};

/// The name of the file that the writing process locks, beside the directory itself.
const LOCK: &str = "LOCK";

/// A directory of the operating system.
#[derive(Debug)]
pub struct OsStorage {
    directory: PathBuf,
    writing: Writing,
}

/// How files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    /// Through the mapping of a file that is mapped, which saves a system call each.
    #[default]
    Mapped,
    /// The same, but by system calls where [`StorageFile::prepare`] has not been yet: those take what
    /// memory they need, where a mapping takes two MiB at a time.
    Prepared,
    /// By system calls, if nearly every write will be synced at once: syncing what was stored into a
    /// mapping takes a third longer.
    Calls,
}

/// The right to write, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    _directory: File,
}

impl OsStorage {
    /// The directory at `path`, which may not be there yet.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { directory: path.into(), writing: Writing::default() }
    }

    /// The same with files that are written in this way.
    #[must_use]
    pub fn writing(self, writing: Writing) -> Self {
        Self { writing, ..self }
    }

    fn file(&self, file: File, writable: bool) -> OsFile {
        let mapped_until =
            AtomicU64::new(if self.writing == Writing::Mapped { u64::MAX } else { 0 });
        OsFile { file, writable, mapped_until, map: OnceLock::new() }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory, if it is not there.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn make(&self) -> io::Result<()> {
        fs::create_dir_all(&self.directory)
    }

    /// The right to write: `None` if another process has it.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let path = self.directory.join(LOCK);
        let open = || OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let directory = File::open(&self.directory)?;
        let is_ours = match directory.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Not every file system locks directories. Some do so within one machine only: there
            // the file excludes the others.
            Err(TryLockError::Error(_)) => false,
        };
        let mut file = open()?;
        // In a copy by hard links it is also the file of another directory, which may be in use.
        if is_ours && is_shared(&file)? {
            fs::remove_file(&path)?;
            file = open()?;
        }
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file, _directory: directory })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Storage for OsStorage {
    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.directory)?.map(|entry| Ok(entry?.file_name()));
        let names = names.collect::<io::Result<Vec<_>>>()?;
        Ok(names.into_iter().filter_map(|name| name.into_string().ok()).collect())
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        let path = self.directory.join(name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        let file = self.file(file, true);
        if let Err(error) = file.set_len(bytes) {
            // Nothing half-made stays. If even that fails, opening removes it later.
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        Ok(Box::new(file))
    }

    fn open(&self, name: &str, writable: bool) -> io::Result<Box<dyn StorageFile>> {
        let path = self.directory.join(name);
        let file = OpenOptions::new().read(true).write(writable).open(path)?;
        Ok(Box::new(self.file(file, writable)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.directory.join(from), self.directory.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.directory.join(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }

    fn link(&self, name: &str, directory: &Path) -> io::Result<()> {
        let (from, to) = (self.directory.join(name), directory.join(name));
        match fs::hard_link(&from, &to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Another device, or a file system without links.
            Err(_) => {
                let copied = fs::copy(&from, &to).and_then(|_| File::open(&to)?.sync_all());
                copied.inspect_err(|_| {
                    // What is half a copy goes; the first error is the one to tell.
                    let _ = fs::remove_file(&to);
                })
            }
            Ok(()) => Ok(()),
        }
    }
}

/// A file, mapped or not.
struct OsFile {
    file: File,
    writable: bool,
    /// What lies before this offset is written through the mapping, if there is one.
    mapped_until: AtomicU64,
    map: OnceLock<Mapping>,
}

impl StorageFile for OsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let old = self.len()?;
        if bytes <= old {
            return self.file.set_len(bytes);
        }
        reserve(&self.file, old..bytes).inspect_err(|_| {
            // The room that was found goes back; the first error is the one to tell.
            let _ = self.file.set_len(old);
        })
    }

    fn reserve(&self, bytes: Range<u64>) -> io::Result<()> {
        reserve(&self.file, bytes)
    }

    fn release(&self, from: u64) -> io::Result<()> {
        let bytes = self.len()?.saturating_sub(from);
        if bytes == 0 {
            return Ok(());
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, hole, from, bytes) {
            // Then the room stays with the file.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            done => Ok(done?),
        }
    }

    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let begin = match seek(&self.file, SeekFrom::Data(from)) {
            Err(Errno::NXIO) => return Ok(None),
            // The system cannot tell.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                let end = self.len()?;
                return Ok((from < end).then_some(from..end));
            }
            begin => begin?,
        };
        Ok(Some(begin..seek(&self.file, SeekFrom::Hole(begin))?))
    }

    fn is_shared(&self) -> io::Result<bool> {
        is_shared(&self.file)
    }

    fn map(&self) -> io::Result<Mapping> {
        if let Some(map) = self.map.get() {
            return Ok(map.clone());
        }
        let map = Mapping::file(&self.file, self.writable)?;
        Ok(self.map.get_or_init(|| map).clone())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.map.get() {
            Some(map)
                if offset + bytes.len() as u64 <= self.mapped_until.load(Ordering::Relaxed) =>
            {
                map.write(offset, bytes)
            }
            _ => write_all_at(&self.file, offset, bytes),
        }
    }

    fn prepare(&self, bytes: Range<u64>) {
        if let Some(map) = self.map.get() {
            map.populate(bytes.clone());
            self.mapped_until.fetch_max(bytes.end, Ordering::Relaxed);
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

#[cfg(unix)]
fn is_shared(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() > 1)
}

#[cfg(unix)]
fn write_all_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    file.write_all_at(bytes, offset)
}

/// Room for zero bytes: without it a write into a mapping would be the first to find the device
/// full, and would end the process.
fn reserve(file: &File, bytes: Range<u64>) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), bytes.start, bytes.end - bytes.start) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => write_zeros(file, bytes),
        Err(error) => Err(error.into()),
    }
}

fn write_zeros(file: &File, range: Range<u64>) -> io::Result<()> {
    let zeros = vec![0; 1 << 16];
    let mut offset = range.start;
    while offset < range.end {
        let bytes = zeros.len().min(usize::try_from(range.end - offset).unwrap_or(usize::MAX));
        write_all_at(file, offset, &zeros[..bytes])?;
        offset += bytes as u64;
    }
    Ok(())
}
