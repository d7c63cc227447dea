//! Reading tables of fixed size from streams.

use std::io::{self, Read};

use crate::format::view::{assemble, check_slots, cut_header};
use crate::format::{FileKind, HEADER_BYTES, Header, ReadError, check_segments};
use crate::key::KeyHasher;
use crate::table::{Fixed, Memory};

/// Reads exactly the bytes of a file of this kind, and checks all of them.
pub(crate) fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Fixed, KeyHasher), ReadError> {
    let (header, memory, spilled) = read_parts(reader, kind)?;
    let table = assemble(memory, &header, &spilled)?;
    check_slots(&table)?;
    Ok((table, header.hasher))
}

/// The header, the table and the list of spilled copies.
fn read_parts(
    mut reader: &mut dyn Read,
    kind: FileKind,
) -> Result<(Header, Memory, Vec<u8>), ReadError> {
    let mut start = Vec::with_capacity(HEADER_BYTES);
    (&mut *reader).take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    let Some(header) = start.first_chunk::<HEADER_BYTES>() else {
        return Err(cut_header(&start));
    };
    let header = Header::from_bytes(header, kind)?;
    let mut before = HEADER_BYTES as u64;
    let mut part = |bytes| {
        let part = read_part(&mut reader, bytes, &header, before);
        before += bytes;
        part
    };
    let table = part(header.table_bytes())?;
    let checksums = part(header.checksums_bytes())?;
    let spilled = part(header.spilled_bytes())?;
    check_segments(&table, &checksums, &header.parts.geometry)?;
    Ok((header, Memory::from(table), spilled))
}

/// The next `bytes` bytes, in a vector that grows as they arrive.
fn read_part(
    reader: &mut impl Read,
    bytes: u64,
    header: &Header,
    before: u64,
) -> Result<Vec<u8>, ReadError> {
    if usize::try_from(bytes).is_err() {
        return Err(ReadError::Memory(bytes));
    }
    let mut part = Vec::new();
    match reader.take(bytes).read_to_end(&mut part) {
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(ReadError::Memory(bytes)),
        Err(error) => Err(error.into()),
        Ok(_) if part.len() as u64 == bytes => Ok(part),
        Ok(_) => {
            let found = before + part.len() as u64;
            Err(ReadError::Length { expected: header.file_bytes(), found })
        }
    }
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
