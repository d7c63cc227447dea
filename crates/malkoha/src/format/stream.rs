//! Files from streams.

use std::io::{self, Read};

use crate::format::error::ReadError;
use crate::format::header::cut_header;
use crate::format::kind::HEADER_BYTES;

/// The header with which a stream begins.
pub(super) fn read_header(reader: &mut dyn Read) -> Result<[u8; HEADER_BYTES], ReadError> {
    let mut start = Vec::with_capacity(HEADER_BYTES);
    reader.take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    start.first_chunk().copied().ok_or_else(|| cut_header(&start))
}

/// The result of `read`, for a stream that must end where `read` stops.
pub(crate) fn whole<F>(
    reader: &mut dyn Read,
    read: impl FnOnce(&mut dyn Read) -> Result<F, ReadError>,
) -> Result<F, ReadError> {
    let mut counted = Counted { reader, bytes: 0 };
    let filter = read(&mut counted)?;
    let expected = counted.bytes;
    let after = io::copy(counted.reader, &mut io::sink())?;
    if after > 0 {
        return Err(ReadError::Length { expected, found: expected + after });
    }
    Ok(filter)
}

/// A reader, and how many bytes were read from it.
struct Counted<'a> {
    reader: &'a mut dyn Read,
    bytes: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.bytes += read as u64;
        Ok(read)
    }
}
