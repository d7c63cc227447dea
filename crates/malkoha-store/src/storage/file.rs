//! A file of the operating system.

use std::fs::File;
use std::io;
use std::ops::Range;
#[cfg(windows)]
use std::os::windows::fs::FileExt;
use std::sync::{Arc, OnceLock};

use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
#[cfg(target_os = "linux")]
use rustix::fs::{FallocateFlags, fallocate};
#[cfg(unix)]
use rustix::fs::{SeekFrom, seek};
#[cfg(unix)]
use rustix::io::Errno;

use super::view::Reader;
use super::{Mapping, StorageFile, View};

/// How files are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writing {
    /// Through the mapping of a file that is mapped, which saves a system call each.
    #[default]
    Mapped,
    /// By system calls, if nearly every write will be synced at once: syncing writes through a
    /// mapping takes a third longer.
    Calls,
}

/// A file, mapped or not.
pub(super) struct OsFile {
    /// `None` once it is closed. A thread that syncs holds a reference of its own, so closing does
    /// not wait for the sync.
    file: RwLock<Option<Arc<File>>>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "files are mapped on Unix alone"))]
    writable: bool,
    writing: Writing,
    view: OnceLock<Arc<View>>,
    /// Whether it is mapped to be read.
    maps: bool,
}

impl OsFile {
    pub(super) fn new(file: File, writable: bool, maps: bool, writing: Writing) -> Self {
        Self {
            file: RwLock::new(Some(Arc::new(file))),
            writable,
            writing,
            view: OnceLock::new(),
            maps,
        }
    }

    fn file(&self) -> io::Result<MappedRwLockReadGuard<'_, File>> {
        let closed = |_| io::Error::other("the file is closed");
        RwLockReadGuard::try_map(self.file.read(), Option::as_deref).map_err(closed)
    }

    fn mapping(&self) -> Option<&Mapping> {
        match &**self.view.get()? {
            View::Mapped(mapping) => Some(mapping),
            View::Read(_) => None,
        }
    }

    #[cfg(unix)]
    fn mapped(&self) -> io::Result<View> {
        Mapping::file(&*self.file()?, self.writable).map(View::Mapped)
    }

    #[cfg(not(unix))]
    fn mapped(&self) -> io::Result<View> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read_by_calls(&self) -> io::Result<View> {
        let closed = || io::Error::other("the file is closed");
        let file = self.file.read().clone().ok_or_else(closed)?;
        Reader::new(file).map(View::Read)
    }
}

impl StorageFile for OsFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file()?.metadata()?.len())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let file = self.file()?;
        let old = file.metadata()?.len();
        if bytes <= old {
            return file.set_len(bytes);
        }
        reserve(&file, old..bytes).inspect_err(|_| {
            // Returns the reserved room, and reports the first error.
            let _ = file.set_len(old);
        })
    }

    fn reserve(&self, bytes: Range<u64>) -> io::Result<()> {
        if bytes.is_empty() { Ok(()) } else { reserve(&*self.file()?, bytes) }
    }

    fn release(&self, from: u64) -> io::Result<()> {
        let bytes = self.length()?.saturating_sub(from);
        if bytes == 0 {
            return Ok(());
        }
        make_hole(&*self.file()?, from, bytes)
    }

    #[cfg(unix)]
    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let file = self.file()?;
        let begin = match seek(&*file, SeekFrom::Data(from)) {
            Err(Errno::NXIO) => return Ok(None),
            // The system does not know.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                let end = file.metadata()?.len();
                return Ok((from < end).then_some(from..end));
            }
            begin => begin?,
        };
        Ok(Some(begin..seek(&*file, SeekFrom::Hole(begin))?))
    }

    /// The system does not report this for files that are not sparse.
    #[cfg(not(unix))]
    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>> {
        let end = self.length()?;
        Ok((from < end).then_some(from..end))
    }

    #[cfg(unix)]
    fn is_reserved(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        // The unit of this number is not that of the file system.
        const BLOCK: u64 = 512;
        let metadata = self.file()?.metadata()?;
        Ok(metadata.blocks() * BLOCK >= metadata.len())
    }

    fn is_shared(&self) -> io::Result<bool> {
        is_shared(&*self.file()?)
    }

    fn view(&self) -> io::Result<Arc<View>> {
        if let Some(view) = self.view.get() {
            return Ok(Arc::clone(view));
        }
        let view = if self.maps { self.mapped() } else { self.read_by_calls() }?;
        Ok(Arc::clone(self.view.get_or_init(|| Arc::new(view))))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if let (Some(map), Writing::Mapped) = (self.mapping(), self.writing) {
            map.write(offset, bytes)?;
            if !map.is_lost() {
                return Ok(());
            }
            // A page that the device refuses is lost. The device reports the reason.
        }
        write_all_at(&*self.file()?, bytes, offset)
    }

    fn prepare(&self, bytes: Range<u64>) {
        // If pages need room, nothing must be written through a mapping.
        if let (Some(map), Writing::Mapped) = (self.mapping(), self.writing) {
            map.populate(bytes);
        }
    }

    fn sync(&self) -> io::Result<()> {
        let file = self.file.read().clone();
        match (file, self.mapping()) {
            (Some(file), _) => file.sync_data(),
            (None, Some(map)) if Mapping::SYNCS_FILES => map.sync(),
            (None, _) => Err(io::Error::other("the file is closed")),
        }
    }

    fn close(&self) {
        if !matches!(self.view.get().map(|view| &**view), Some(View::Read(_))) {
            *self.file.write() = None;
        }
    }
}

#[cfg(unix)]
pub(super) fn is_shared(file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(file.metadata()?.nlink() > 1)
}

#[cfg(windows)]
fn is_shared(file: &File) -> io::Result<bool> {
    Ok(winapi_util::file::information(file)?.number_of_links() > 1)
}

/// Room for zero bytes: without it a write into a mapping would be the first to find the device
/// full, and would end the process.
fn reserve(file: &File, bytes: Range<u64>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match fallocate(file, FallocateFlags::empty(), bytes.start, bytes.end - bytes.start) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        done => return Ok(done?),
    }
    // Other systems reserve only at the end of a file, or not on all file systems.
    write_zeros(file, bytes)
}

/// Returns room. If that is impossible, the file keeps it.
fn make_hole(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(file, hole, from, bytes) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            done => done?,
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, from, bytes);
    Ok(())
}

fn write_zeros(file: &File, range: Range<u64>) -> io::Result<()> {
    let zeros = vec![0; 1 << 16];
    let mut offset = range.start;
    while offset < range.end {
        let bytes = zeros.len().min(usize::try_from(range.end - offset).unwrap_or(usize::MAX));
        write_all_at(file, &zeros[..bytes], offset)?;
        offset += bytes as u64;
    }
    Ok(())
}

/// Bytes at an offset, at most as many as there is room for; none at the end of the file.
pub(super) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, bytes, offset);
    #[cfg(windows)]
    match file.seek_read(bytes, offset) {
        // Windows reports with this error that a file ends before this offset.
        Err(error) if error.raw_os_error() == Some(38) => Ok(0),
        read => read,
    }
}

/// Writes all of the bytes at an offset.
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let (mut bytes, mut offset) = (bytes, offset);
        while !bytes.is_empty() {
            match file.seek_write(bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => {
                    bytes = &bytes[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}
