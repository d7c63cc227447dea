//! Memory that a file's bytes lie in. All `unsafe` of the storage is here.

#[cfg(unix)]
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

#[cfg(unix)]
use super::guard::Watch;

/// The bytes of a file, or of a simulated one, at the time of mapping.
///
/// # Who may write
///
/// A log is written once: bytes are handed out by [`get`](Self::get) only after they were written,
/// and are never written again. Who writes into a mapping keeps to that, and other processes are
/// kept from writing by the store's lock. Who opens a store read-only looks for the end of the log,
/// where another process may write meanwhile: what does not match its checksum there is not handed
/// out.
///
/// # What cannot be read
///
/// A page that the device does not give is zero from then on, and [`is_lost`](Self::is_lost) tells
/// that there is one. It can be lost at any look at it, if the system had let go of it since the
/// last one: who makes something of bytes asks afterwards.
#[derive(Clone)]
pub struct Mapping {
    map: Arc<Watched>,
    bytes: usize,
    writable: bool,
}

struct Watched {
    /// Of a file. Dropped before the mapping.
    #[cfg(unix)]
    watch: Option<Watch>,
    map: MmapRaw,
}

impl Watched {
    fn as_ptr(&self) -> *const u8 {
        self.map.as_ptr()
    }
}

impl Mapping {
    /// Maps a file, for reading or for writing too.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
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
        Ok(Self { map: Arc::new(Watched { watch, map }), bytes, writable })
    }

    /// Zero bytes that no file holds.
    ///
    /// # Errors
    ///
    /// If there is no memory.
    pub fn memory(bytes: usize) -> io::Result<Self> {
        let map = MmapOptions::new().len(bytes.max(1)).map_anon()?;
        let map = Watched {
            #[cfg(unix)]
            watch: None,
            map: MmapRaw::from(map),
        };
        Ok(Self { map: Arc::new(map), bytes, writable: true })
    }

    /// Whether a part of it could not be read or written, and shows as zeros.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        #[cfg(unix)]
        return super::any_lost() && self.map.watch.as_ref().is_some_and(Watch::is_lost);
        #[cfg(not(unix))]
        false
    }

    /// Bytes of it.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// `len` bytes at `offset`, or `None` if it ends before them.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let offset = usize::try_from(offset).ok()?;
        let end = offset.checked_add(len)?;
        if end > self.bytes {
            return None;
        }
        // SAFETY: the range lies in the mapping, which `self.map` keeps. Its bytes are not written
        // while the slice lives, which "Who may write" above argues.
        Some(unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(offset), len) })
    }

    /// Writes bytes that nobody reads yet.
    ///
    /// # Errors
    ///
    /// If the mapping is too short, or read-only.
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
            let target = self.map.map.as_mut_ptr().add(offset);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
        }
        Ok(())
    }

    /// Makes what was written durable, without the descriptor of the file: the mapping has the file
    /// itself, and with it what the system knows of failed writes since it was opened. Only where
    /// [`SYNCS_FILES`](Self::SYNCS_FILES) says so.
    ///
    /// # Errors
    ///
    /// As those of `fsync`; and if a page is lost: the mapping no longer has it, so the system
    /// would leave it out and report success.
    pub fn sync(&self) -> io::Result<()> {
        self.map.map.flush()?;
        // Checked last, because a page that was lost meanwhile may have been skipped too.
        if self.is_lost() {
            return Err(io::Error::other("a page of it could not be read, and cannot be synced"));
        }
        Ok(())
    }

    /// Whether syncing a mapping is as good as syncing its file. On Linux `msync` calls the file
    /// system's `fdatasync`, for the whole file's metadata; elsewhere it may only write pages.
    pub const SYNCS_FILES: bool = cfg!(target_os = "linux");

    /// Lets the system find memory for these bytes, which are to be written and for which there is
    /// room on the device: the first write waits for that otherwise. A hint, no more.
    pub fn populate(&self, bytes: Range<u64>) {
        #[cfg(target_os = "linux")]
        if let (Ok(start), Ok(end)) = (usize::try_from(bytes.start), usize::try_from(bytes.end))
            && start < end
            && end <= self.bytes
        {
            // For writing: the first write to pages that are mapped for reading splits huge ones
            // up.
            let _ = self.map.map.advise_range(memmap2::Advice::PopulateWrite, start, end - start);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = bytes;
    }

    /// Lets the system read bytes that are not in memory, without waiting for them. A hint, no
    /// more.
    pub fn will_need(&self, bytes: Range<u64>) {
        #[cfg(unix)]
        if let (Ok(start), Ok(end)) = (usize::try_from(bytes.start), usize::try_from(bytes.end))
            && start < end
            && end <= self.bytes
        {
            let _ = self.map.map.advise_range(memmap2::Advice::WillNeed, start, end - start);
        }
        #[cfg(not(unix))]
        let _ = bytes;
    }

    /// Asks for the lines of the record at `offset`. A hint, no more.
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
