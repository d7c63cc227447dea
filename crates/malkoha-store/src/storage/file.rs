//! A file of the operating system.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{MappedRwLockReadGuard, RwLock, RwLockReadGuard};
#[cfg(target_os = "linux")]
use rustix::fs::{FallocateFlags, fallocate};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::{Mapping, StorageFile};

/// A file, mapped or not.
pub(super) struct OsFile {
    /// `None` once it is closed. Who syncs it has it for itself until that is done: closing does
    /// not wait for that, as writers would.
    file: RwLock<Option<Arc<File>>>,
    writable: bool,
    /// What lies before this offset is written through the mapping, if there is one.
    mapped_until: AtomicU64,
    map: OnceLock<Mapping>,
}

impl OsFile {
    /// Of a file that is written through its mapping, once it is mapped: all of it, or what was
    /// [prepared](StorageFile::prepare).
    pub(super) fn new(file: File, writable: bool, all_mapped: bool) -> Self {
        Self {
            file: RwLock::new(Some(Arc::new(file))),
            writable,
            mapped_until: AtomicU64::new(if all_mapped { u64::MAX } else { 0 }),
            map: OnceLock::new(),
        }
    }

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
        if bytes.is_empty() { Ok(()) } else { reserve(&*self.file()?, bytes) }
    }

    fn release(&self, from: u64) -> io::Result<()> {
        let bytes = self.len()?.saturating_sub(from);
        if bytes == 0 {
            return Ok(());
        }
        make_hole(&*self.file()?, from, bytes)
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

pub(super) fn is_shared(file: &File) -> io::Result<bool> {
    Ok(file.metadata()?.nlink() > 1)
}

/// Room for zero bytes: without it a write into a mapping would be the first to find the device
/// full, and would end the process.
fn reserve(file: &File, bytes: Range<u64>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match fallocate(file, FallocateFlags::empty(), bytes.start, bytes.end - bytes.start) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        done => return Ok(done?),
    }
    // Other systems reserve at the end of a file alone, or not on all file systems.
    write_zeros(file, bytes)
}

/// Gives room back. Where that cannot be, it stays with the file.
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
        file.write_all_at(&zeros[..bytes], offset)?;
        offset += bytes as u64;
    }
    Ok(())
}
