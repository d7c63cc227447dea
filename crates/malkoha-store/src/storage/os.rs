//! A directory of the operating system.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
use rustix::fs::{
    AtFlags, CWD, Dir, FallocateFlags, Mode, OFlags, SeekFrom, fallocate, linkat, openat, renameat,
    seek, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

use super::{Mapping, Room, Storage, StorageFile};

/// A directory of the operating system: the same one whatever becomes of the path that led to it,
/// so that a store that is moved while it is open does not go on where another may be by then.
#[derive(Debug)]
pub struct OsStorage {
    directory: File,
    system: FileSystem,
    writing: Writing,
}

/// File systems that are not treated like any other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileSystem {
    Ext4,
    Tmpfs,
    Other,
}

/// How files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    /// Through the mapping of a file that is mapped, which saves a system call each.
    #[default]
    Mapped,
    /// The same, but by system calls where [`StorageFile::prepare`] has not been yet: those take
    /// what memory they need, where a mapping takes two MiB at a time.
    Prepared,
    /// By system calls, if nearly every write will be synced at once: syncing what was stored into
    /// a mapping takes a third longer.
    Calls,
}

impl OsStorage {
    /// The directory at `path`.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))?;
        let directory = directory.into();
        Ok(Self { system: file_system(&directory), directory, writing: Writing::default() })
    }

    /// The same with files that are written in this way, or by system calls where a page that was
    /// written before may need room on the device once more.
    #[must_use]
    pub fn writing(self, writing: Writing) -> Self {
        // Those that copy on write (Btrfs, XFS after a copy by reflink, ZFS) need room for each
        // write, and a full one would end the process where that is a write into a mapping.
        let keeps_blocks = self.system != FileSystem::Other;
        let writing = if keeps_blocks { writing } else { Writing::Calls };
        Self { writing, ..self }
    }

    pub(super) fn open_at(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let mode = Mode::from_raw_mode(0o666);
        let open = || openat(&self.directory, name, flags | OFlags::CLOEXEC, mode);
        Ok(retry_on_intr(open)?.into())
    }

    fn file(&self, file: File, writable: bool) -> Box<OsFile> {
        let mapped_until =
            AtomicU64::new(if self.writing == Writing::Mapped { u64::MAX } else { 0 });
        let (file, map) = (RwLock::new(Some(Arc::new(file))), OnceLock::new());
        Box::new(OsFile { file, writable, mapped_until, map })
    }
}

impl Storage for OsStorage {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.directory)? {
            // Names of ours are text.
            match entry?.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        Ok(names)
    }

    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>> {
        let file = self.open_at(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        let file = self.file(file, true);
        if let Err(error) = file.set_len(bytes) {
            // Nothing half-made stays. If even that fails, opening removes it later.
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
        if self.system != FileSystem::Ext4 {
            return Ok(());
        }
        // ext4 begins a transaction before it finds that there is no such attribute, and that fails
        // if the journal has failed. Any other error says nothing about the journal.
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

    fn link(&self, name: &str, directory: &Path) -> io::Result<()> {
        let to = directory.join(name);
        let link = || linkat(&self.directory, name, CWD, &to, AtFlags::empty());
        match retry_on_intr(link) {
            Err(Errno::EXIST) => Err(Errno::EXIST.into()),
            // Another device, or a file system without links.
            Err(_) => copy(&mut self.open_at(name, OFlags::RDONLY)?, &to),
            Ok(()) => Ok(()),
        }
    }
}

/// A new file at `to` that has the same bytes; durable when it returns.
fn copy(from: &mut File, to: &Path) -> io::Result<()> {
    let mut copy = OpenOptions::new().write(true).create_new(true).open(to)?;
    let copied = from.metadata().and_then(|metadata| {
        copy.set_permissions(metadata.permissions())?;
        io::copy(from, &mut copy)?;
        copy.sync_all()
    });
    copied.inspect_err(|_| {
        // What is half a copy goes; the first error is the one to tell.
        let _ = std::fs::remove_file(to);
    })
}

/// A file, mapped or not.
struct OsFile {
    /// `None` once it is closed. Who syncs it has it for itself until that is done: closing does not
    /// wait for that, as writers would.
    file: RwLock<Option<Arc<File>>>,
    writable: bool,
    /// What lies before this offset is written through the mapping, if there is one.
    mapped_until: AtomicU64,
    map: OnceLock<Mapping>,
}

impl OsFile {
    fn file(&self) -> io::Result<MappedRwLockReadGuard<'_, File>> {
        let closed = |_| io::Error::other("the file is closed");
        RwLockReadGuard::try_map(self.file.read(), Option::as_deref).map_err(closed)
    }
}

impl StorageFile for OsFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file()?.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let file = self.file()?;
        let old = file.metadata()?.len();
        if bytes <= old {
            return file.set_len(bytes);
        }
        reserve(&file, old..bytes).inspect_err(|_| {
            // The room that was found goes back; the first error is the one to tell.
            let _ = file.set_len(old);
        })
    }

    fn reserve(&self, bytes: Range<u64>) -> io::Result<()> {
        reserve(&*self.file()?, bytes)
    }

    fn release(&self, from: u64) -> io::Result<()> {
        let bytes = self.len()?.saturating_sub(from);
        if bytes == 0 {
            return Ok(());
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&*self.file()?, hole, from, bytes) {
            // Then the room stays with the file.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            done => Ok(done?),
        }
    }

    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let file = self.file()?;
        let begin = match seek(&*file, SeekFrom::Data(from)) {
            Err(Errno::NXIO) => return Ok(None),
            // The system cannot tell.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                let end = file.metadata()?.len();
                return Ok((from < end).then_some(from..end));
            }
            begin => begin?,
        };
        Ok(Some(begin..seek(&*file, SeekFrom::Hole(begin))?))
    }

    fn is_shared(&self) -> io::Result<bool> {
        is_shared(&*self.file()?)
    }

    fn map(&self) -> io::Result<Mapping> {
        if let Some(map) = self.map.get() {
            return Ok(map.clone());
        }
        let map = Mapping::file(&*self.file()?, self.writable)?;
        Ok(self.map.get_or_init(|| map).clone())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        match self.map.get() {
            Some(map)
                if offset + bytes.len() as u64 <= self.mapped_until.load(Ordering::Relaxed) =>
            {
                map.write(offset, bytes)?;
                // Bytes in a page that the device does not take are nowhere: it says why by itself.
                if map.is_lost() { self.file()?.write_all_at(bytes, offset) } else { Ok(()) }
            }
            _ => self.file()?.write_all_at(bytes, offset),
        }
    }

    fn prepare(&self, bytes: Range<u64>) {
        if let Some(map) = self.map.get() {
            map.populate(bytes.clone());
            self.mapped_until.fetch_max(bytes.end, Ordering::Relaxed);
        }
    }

    fn sync(&self) -> io::Result<()> {
        let file = self.file.read().clone();
        match (file, self.map.get()) {
            (Some(file), _) => file.sync_data(),
            (None, Some(map)) if Mapping::SYNCS_FILES => map.sync(),
            (None, _) => Err(io::Error::other("the file is closed")),
        }
    }

    fn close(&self) {
        *self.file.write() = None;
    }
}

#[cfg(target_os = "linux")]
fn file_system(directory: &File) -> FileSystem {
    // EXT4_SUPER_MAGIC and TMPFS_MAGIC.
    match rustix::fs::fstatfs(directory).map(|system| system.f_type) {
        Ok(0xef53) => FileSystem::Ext4,
        Ok(0x0102_1994) => FileSystem::Tmpfs,
        _ => FileSystem::Other,
    }
}

#[cfg(not(target_os = "linux"))]
fn file_system(_directory: &File) -> FileSystem {
    FileSystem::Other
}

pub(super) fn is_shared(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
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
        file.write_all_at(&zeros[..bytes], offset)?;
        offset += bytes as u64;
    }
    Ok(())
}
