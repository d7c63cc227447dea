//! Reads a file from front to back where each access would be a system call.

use std::borrow::Cow;

use super::reader::Reader;

/// Bytes that are read together.
const PIECE: usize = 1 << 20;

/// A file that is accessed in order, a little at a time. It is read in pieces of a MiB.
///
/// Concurrent writes may not appear. A caller that misses something reads the file again.
pub(crate) struct Forward<'a> {
    reader: &'a Reader,
    start: u64,
    bytes: Vec<u8>,
}

impl<'a> Forward<'a> {
    pub(super) fn new(reader: &'a Reader) -> Self {
        Self { reader, start: 0, bytes: Vec::new() }
    }

    /// `len` bytes at `offset`, if the file has that many.
    pub(crate) fn get(&mut self, offset: u64, len: usize) -> Option<Cow<'a, [u8]>> {
        let piece = self.piece(offset, len).map(<[u8]>::to_vec);
        // If a piece is too short for them, or a part of it cannot be read.
        piece.or_else(|| self.reader.get(offset, len)).map(Cow::Owned)
    }

    /// The `N` bytes at `offset`, likewise.
    pub(crate) fn get_array<const N: usize>(&mut self, offset: u64) -> Option<[u8; N]> {
        let piece = self.piece(offset, N).and_then(|bytes| bytes.first_chunk().copied());
        piece.or_else(|| self.reader.get_array(offset))
    }

    fn piece(&mut self, offset: u64, len: usize) -> Option<&[u8]> {
        let has = |start: u64, bytes: &[u8]| {
            let begin = usize::try_from(offset.checked_sub(start)?).ok()?;
            let end = begin.checked_add(len)?;
            (end <= bytes.len()).then_some(begin..end)
        };
        if has(self.start, &self.bytes).is_none() && len <= PIECE {
            self.start = offset;
            self.reader.read_some(offset, PIECE, &mut self.bytes);
        }
        has(self.start, &self.bytes).map(|range| &self.bytes[range])
    }
}
