//! The bytes of a file, for reading: mapped, or read by system calls.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::file::read_at;
use super::mapping::{Mapping, note_lost};
use crate::log::{PAGE, to_usize};

/// The bytes of a file, as many as it had when it was opened.
///
/// Bytes that the device cannot read are zero. From then on [`is_lost`](Self::is_lost) says so. A
/// mapping can lose bytes at any access, so ask after the last one.
pub enum View {
    /// Borrowed from memory.
    Mapped(Mapping),
    /// Copied for each read.
    Read(Reader),
}

impl View {
    /// Length in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Self::Mapped(mapping) => mapping.length() as u64,
            Self::Read(reader) => reader.length(),
        }
    }

    /// `len` bytes at `offset`, or `None` if the file ends before them.
    #[inline(always)]
    pub fn get(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Mapped(mapping) => mapping.get(offset, len).map(Cow::Borrowed),
            Self::Read(reader) => reader.get(offset, len).map(Cow::Owned),
        }
    }

    /// For sequential access.
    pub(crate) fn sequential(&self) -> Sequential<'_> {
        Sequential { view: self, start: 0, bytes: Vec::new() }
    }

    /// Parts of pages among these bytes that are not zero.
    pub(crate) fn nonzero(&self, bytes: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let mut sequential = self.sequential();
        let pages = (bytes.start / PAGE..bytes.end.div_ceil(PAGE))
            .map(move |page| (page * PAGE).max(bytes.start)..((page + 1) * PAGE).min(bytes.end));
        pages.filter(move |page| {
            let bytes = sequential.get(page.start, to_usize(page.end - page.start));
            bytes.unwrap_or_default().iter().any(|&byte| byte != 0)
        })
    }

    /// Whether a part of it could not be read or written. That part shows as zeros.
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Mapped(mapping) => mapping.is_lost(),
            Self::Read(reader) => reader.is_lost(),
        }
    }

    /// Asks the system to read bytes that are not in memory, without waiting for them.
    pub fn will_need(&self, bytes: Range<u64>) {
        if let Self::Mapped(mapping) = self {
            mapping.will_need(bytes);
        }
    }

    /// Prefetches cache lines of the record at `offset`.
    #[inline(always)]
    pub fn prefetch(&self, offset: u64, lines: usize) {
        if let Self::Mapped(mapping) = self {
            mapping.prefetch(offset, lines);
        }
    }
}

/// The bytes of a file that is read by system calls, where mapping it is impossible or harmful. On
/// Windows a mapped file cannot be removed, and a page that cannot be read ends the process. Keeps
/// the file open.
pub struct Reader {
    file: Arc<File>,
    bytes: u64,
    lost: AtomicBool,
}

impl Reader {
    /// Of a file as long as it is now.
    pub(super) fn new(file: Arc<File>) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Self { file, bytes, lost: AtomicBool::new(false) })
    }

    pub(super) fn length(&self) -> u64 {
        self.bytes
    }

    /// Whether a read has failed.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// `len` bytes at `offset`, or `None` if the file ends before them: zeros if they cannot be
    /// read.
    pub(super) fn get(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        // Checked before memory is allocated for them.
        if offset.checked_add(len as u64)? > self.bytes {
            return None;
        }
        let mut bytes = Vec::new();
        self.read_some(offset, len, &mut bytes);
        if bytes.len() < len {
            bytes = vec![0; len];
            self.lost.store(true, Ordering::Release);
            note_lost();
        }
        Some(bytes)
    }

    /// Replaces the content of `bytes` by at most `len` bytes at an offset, as far as they can be
    /// read.
    fn read_some(&self, offset: u64, len: usize, bytes: &mut Vec<u8>) {
        let left = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        bytes.resize(len.min(left), 0);
        let mut done = 0;
        while done < bytes.len() {
            match read_at(&self.file, &mut bytes[done..], offset + done as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(count) => done += count,
            }
        }
        bytes.truncate(done);
    }
}

/// Bytes of a file that [`Sequential`] reads together.
const PIECE: usize = 1 << 20;

/// A file that is accessed in order, a little at a time. If each access would be a system call, it
/// is read a MiB at a time.
///
/// Concurrent writes may not appear. A caller that misses something reads the file itself.
pub(crate) struct Sequential<'a> {
    view: &'a View,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Sequential<'a> {
    /// `len` bytes at `offset`, or `None` if the file ends before them.
    #[inline]
    pub(crate) fn get(&mut self, offset: u64, len: usize) -> Option<Cow<'a, [u8]>> {
        let View::Read(reader) = self.view else { return self.view.get(offset, len) };
        let piece = self.piece(reader, offset, len).map(<[u8]>::to_vec);
        // If they are longer than a piece, or a part of the piece cannot be read.
        piece.or_else(|| reader.get(offset, len)).map(Cow::Owned)
    }

    fn piece(&mut self, reader: &Reader, offset: u64, len: usize) -> Option<&[u8]> {
        let has = |start: u64, bytes: &[u8]| {
            let begin = usize::try_from(offset.checked_sub(start)?).ok()?;
            let end = begin.checked_add(len)?;
            (end <= bytes.len()).then_some(begin..end)
        };
        if has(self.start, &self.bytes).is_none() && len <= PIECE {
            self.start = offset;
            reader.read_some(offset, PIECE, &mut self.bytes);
        }
        has(self.start, &self.bytes).map(|range| &self.bytes[range])
    }
}
