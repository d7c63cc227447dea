//! A file that is read by system calls, where mapping it is impossible or harmful. On Windows a
//! mapped file cannot be removed, and a page that cannot be read ends the process.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::lost::note_lost;
use super::positional::{read_at, read_exact_at};

/// The bytes of a file, each time read anew. Keeps the file open.
#[derive(Clone)]
pub struct Reader(Arc<Shared>);

struct Shared {
    file: Arc<File>,
    bytes: u64,
    lost: AtomicBool,
}

impl Reader {
    /// Of a file as long as it is now.
    pub(super) fn new(file: Arc<File>) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self(Arc::new(Shared { file, bytes, lost: AtomicBool::new(false) })))
    }

    pub(super) fn len(&self) -> u64 {
        self.0.bytes
    }

    /// Whether a read has failed.
    pub(super) fn is_lost(&self) -> bool {
        self.0.lost.load(Ordering::Acquire)
    }

    /// `len` bytes at `offset`, if it has so many: zeros if they cannot be read.
    pub(super) fn get(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        // Before anything is allocated for them.
        if offset.checked_add(len as u64)? > self.0.bytes {
            return None;
        }
        let mut bytes = vec![0; len];
        self.read(offset, &mut bytes);
        Some(bytes)
    }

    /// The `N` bytes at `offset`, likewise.
    pub(super) fn get_array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        if offset.checked_add(N as u64)? > self.0.bytes {
            return None;
        }
        let mut bytes = [0; N];
        self.read(offset, &mut bytes);
        Some(bytes)
    }

    /// Replaces the content of `bytes` by at most `len` bytes at an offset, as far as they can be
    /// read. Lost bytes are reported when they are requested.
    pub(super) fn read_some(&self, offset: u64, len: usize, bytes: &mut Vec<u8>) {
        let left = usize::try_from(self.0.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        bytes.resize(len.min(left), 0);
        let mut done = 0;
        while done < bytes.len() {
            match read_at(&self.0.file, &mut bytes[done..], offset + done as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(count) => done += count,
            }
        }
        bytes.truncate(done);
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) {
        if read_exact_at(&self.0.file, bytes, offset).is_err() {
            bytes.fill(0);
            self.0.lost.store(true, Ordering::Release);
            note_lost();
        }
    }
}
