//! The bytes of a file, for reading: mapped, or read by system calls.

use std::borrow::Cow;
use std::ops::Range;

use super::mapping::Mapping;
use super::reader::{Reader, Sequential};
use crate::log::to_usize;

/// The bytes of a file, as many as it had when it was opened.
///
/// Bytes that the device cannot read are zero. From then on [`is_lost`](Self::is_lost) says so. A
/// mapping can lose bytes at any access, so ask after the last one.
#[derive(Clone)]
pub enum View {
    /// Borrowed from memory.
    Mapped(Mapping),
    /// Copied for each read.
    Read(Reader),
}

impl From<Mapping> for View {
    fn from(mapping: Mapping) -> Self {
        Self::Mapped(mapping)
    }
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

    /// For sequential access, if each access would be a system call.
    pub(crate) fn sequential(&self) -> Option<Sequential<'_>> {
        match self {
            Self::Mapped(_) => None,
            Self::Read(reader) => Some(Sequential::new(reader)),
        }
    }

    /// Whether all of these bytes are zero, as far as the file has them. Reads piece by piece, so
    /// few of them are in memory at a time.
    pub(crate) fn is_zero(&self, bytes: Range<u64>) -> bool {
        const PIECE: u64 = 1 << 20;
        let end = bytes.end.min(self.length());
        let begins = (bytes.start..end).step_by(to_usize(PIECE));
        begins.into_iter().all(|at| {
            let piece = self.get(at, to_usize(PIECE.min(end - at)));
            piece.is_none_or(|piece| piece.iter().all(|&byte| byte == 0))
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
