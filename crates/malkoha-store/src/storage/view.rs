//! The bytes of a file, for reading: mapped, or read by system calls.

use std::borrow::Cow;
use std::ops::Range;

use super::forward::Forward;
use super::mapping::Mapping;
use super::reader::Reader;
use crate::log::to_usize;

/// The bytes of a file, as many as it had when it was first looked at.
///
/// Bytes that the device does not give are zero, and [`is_lost`](Self::is_lost) tells from then on
/// that there are some. In a mapping they can get lost at any look at them: who makes something of
/// bytes asks afterwards.
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
    /// Bytes of it.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Mapped(mapping) => mapping.len() as u64,
            Self::Read(reader) => reader.len(),
        }
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `len` bytes at `offset`, or `None` if it ends before them.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, offset: u64, len: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Mapped(mapping) => mapping.get(offset, len).map(Cow::Borrowed),
            Self::Read(reader) => reader.get(offset, len).map(Cow::Owned),
        }
    }

    /// The `N` bytes at `offset`, or `None` if it ends before them.
    #[inline(always)]
    #[must_use]
    pub fn get_array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        match self {
            Self::Mapped(mapping) => mapping.get(offset, N)?.first_chunk().copied(),
            Self::Read(reader) => reader.get_array(offset),
        }
    }

    /// For sequential access, where each access would be a system call.
    pub(crate) fn forward(&self) -> Option<Forward<'_>> {
        match self {
            Self::Mapped(_) => None,
            Self::Read(reader) => Some(Forward::new(reader)),
        }
    }

    /// Whether all of these bytes are zero, as far as it has them. Of any number, few are in memory
    /// at a time.
    pub(crate) fn is_zero(&self, bytes: Range<u64>) -> bool {
        const PIECE: u64 = 1 << 20;
        let end = bytes.end.min(self.len());
        let begins = (bytes.start..end).step_by(to_usize(PIECE));
        begins.into_iter().all(|at| {
            let piece = self.get(at, to_usize(PIECE.min(end - at)));
            piece.is_none_or(|piece| piece.iter().all(|&byte| byte == 0))
        })
    }

    /// Whether a part of it could not be read or written, and shows as zeros.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match self {
            Self::Mapped(mapping) => mapping.is_lost(),
            Self::Read(reader) => reader.is_lost(),
        }
    }

    /// Lets the system read bytes that are not in memory, without waiting for them. A hint, no
    /// more.
    pub fn will_need(&self, bytes: Range<u64>) {
        if let Self::Mapped(mapping) = self {
            mapping.will_need(bytes);
        }
    }

    /// Asks for the lines of the record at `offset`. A hint, no more.
    #[inline(always)]
    pub fn prefetch(&self, offset: u64, lines: usize) {
        if let Self::Mapped(mapping) = self {
            mapping.prefetch(offset, lines);
        }
    }
}
