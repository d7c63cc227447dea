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
