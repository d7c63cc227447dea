//! Memory that a file's bytes lie in. All `unsafe` of the storage is here.

#[cfg(unix)]
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{MmapOptions, MmapRaw};

#[cfg(unix)]
use super::sigbus::Watch;

/// Whether any byte of any file was lost since the process began: one flag for all readers.
static ANY_LOST: AtomicBool = AtomicBool::new(false);

/// Whether any byte of any file was lost.
#[inline(always)]
pub(crate) fn any_lost() -> bool {
    ANY_LOST.load(Ordering::Acquire)
}

/// Notes that a byte was lost. A signal handler may call it.
pub(super) fn note_lost() {
    ANY_LOST.store(true, Ordering::Release);
}

/// The bytes of a file, or of a simulated one, at the time of mapping.
///
/// # Writers
///
/// A log is written once: [`get`](Self::get) returns bytes only after they were written, and they
/// are never written again. All writers in this process keep to that, and the store's lock keeps
/// other processes from writing. Opening a store read-only searches for the end of the log, where
/// another process might be writing: bytes that do not match their checksum there are not used.
///
/// # Lost pages
///
/// A page that the device cannot read is zero from then on, and [`is_lost`](Self::is_lost) reports
/// that there is one. The system may drop a page from memory, so any access can lose it: ask after
/// the last one.
pub struct Mapping {
    /// Of a file. Dropped before the mapping.
    #[cfg(unix)]
    watch: Option<Watch>,
    map: MmapRaw,
    bytes: usize,
    writable: bool,
}

impl Mapping {
    /// Maps a file, for reading or for writing too.
    #[cfg(unix)]
    pub fn file(file: &File, writable: bool) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let bytes = usize::try_from(length).map_err(io::Error::other)?;
        if bytes == 0 {
            return Self::memory(0);
        }
        let options = MmapOptions::new();
        let map =
            if writable { options.map_raw(file)? } else { options.map_raw_read_only(file)? };
        advise(&map);
        let watch = Some(Watch::new(map.as_ptr() as usize, bytes));
        Ok(Self { watch, map, bytes, writable })
    }

    /// Zero bytes that no file holds.
    pub fn memory(bytes: usize) -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            watch: None,
            map: MmapOptions::new().len(bytes.max(1)).map_anon()?.into(),
            bytes,
            writable: true,
        })
    }

    /// Whether a part of it could not be read or written. That part shows as zeros.
    pub fn is_lost(&self) -> bool {
        #[cfg(unix)]
        return any_lost() && self.watch.as_ref().is_some_and(Watch::is_lost);
        #[cfg(not(unix))]
        false
    }

    /// Length in bytes.
    pub const fn length(&self) -> usize {
        self.bytes
    }

    /// `len` bytes at `offset`, or `None` if it ends before them.
    #[inline(always)]
    pub fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let offset = usize::try_from(offset).ok()?;
        let end = offset.checked_add(len)?;
        if end > self.bytes {
            return None;
        }
        // SAFETY: the range lies in the mapping, which `self.map` keeps. Its bytes are not written
        // while the slice lives, as "Writers" above argues.
        Some(unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(offset), len) })
    }

    /// Writes bytes that nobody reads yet. An error if the mapping is too short or read-only.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).map_err(io::Error::other)?;
        if offset.checked_add(bytes.len()).is_none_or(|end| end > self.bytes) {
            return Err(io::Error::other("a write beyond the mapping"));
        }
        if !self.writable {
            return Err(io::Error::other("a write to what is mapped for reading"));
        }
        // SAFETY: the range lies in the mapping, which is writable, `bytes` does not overlap it as
        // nobody has a slice of bytes that are to be written, and one thread writes at a time.
        unsafe {
            let target = self.map.as_mut_ptr().add(offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
        }
        Ok(())
    }

    /// Makes all writes durable without the descriptor of the file, if
    /// [`SYNCS_FILES`](Self::SYNCS_FILES). The mapping has the file itself, so the system also
    /// reports writes that failed since the file was opened. A lost page is an error: the mapping
    /// no longer has it, so the system would leave it out and report success.
    pub fn sync(&self) -> io::Result<()> {
        self.map.flush()?;
        // Checked last, because a page that was lost meanwhile may have been skipped too.
        if self.is_lost() {
            return Err(io::Error::other("a page of it could not be read, and cannot be synced"));
        }
        Ok(())
    }

    /// Whether syncing a mapping is as good as syncing its file. On Linux `msync` calls the file
    /// system's `fdatasync`, for the whole file's metadata; elsewhere it may only write pages.
    pub const SYNCS_FILES: bool = cfg!(target_os = "linux");

    /// Asks the system to find memory for these bytes, which will be written and for which there is
    /// room on the device. Otherwise the first write waits for it.
    pub fn populate(&self, bytes: Range<u64>) {
        // For writing: the first write to pages that are mapped for reading splits huge ones up.
        #[cfg(target_os = "linux")]
        self.advise_range(memmap2::Advice::PopulateWrite, bytes);
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }

    /// Asks the system to read bytes that are not in memory, without waiting for them.
    pub fn will_need(&self, bytes: Range<u64>) {
        #[cfg(unix)]
        self.advise_range(memmap2::Advice::WillNeed, bytes);
        #[cfg(not(unix))]
        let _ = bytes;
    }

    #[cfg(unix)]
    fn advise_range(&self, advice: memmap2::Advice, bytes: Range<u64>) {
        if let (Ok(start), Ok(end)) = (usize::try_from(bytes.start), usize::try_from(bytes.end))
            && start < end
            && end <= self.bytes
        {
            let _ = self.map.advise_range(advice, start, end - start);
        }
    }

    /// Prefetches cache lines of the record at `offset`.
    #[inline(always)]
    pub fn prefetch(&self, offset: u64, lines: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Ok(offset) = usize::try_from(offset)
            && offset + 64 * lines < self.bytes
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            for line in 0..lines {
                // SAFETY: the address lies in the mapping; a prefetch reads nothing that is seen.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(self.map.as_ptr().add(offset + 64 * line).cast())
                };
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (offset, lines);
    }
}

/// Nothing is read ahead: an access to a record that is not in memory reads only its page. The
/// advice for huge pages would make the system read 2 MiB each time, whatever else it is advised.
#[cfg(unix)]
fn advise(map: &MmapRaw) {
    // Only speed depends on it; systems differ in what they know.
    let _ = map.advise(memmap2::Advice::Random);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_for_reading_is_not_written() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(8).unwrap();
        assert!(Mapping::file(&file, false).unwrap().write(0, b"cuckoo").is_err());
        let map = Mapping::file(&file, true).unwrap();
        assert!(map.write(3, b"cuckoo").is_err());
        map.write(2, b"cuckoo").unwrap();
        assert_eq!(map.get(0, 8).unwrap(), b"\0\0cuckoo");
    }
}
