//! Reading tables of fixed size, from streams and from memory.

use std::io::{self, Read};
use std::ops::Deref;

use crate::format::{FileKind, HEADER_BYTES, Header, ReadError, check_segments, spilled};
use crate::key::KeyHasher;
use crate::table::traits::Lookup;
use crate::table::{Fixed, Memory};

/// Reads exactly the bytes of a file of this kind, and checks all of them.
pub(crate) fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Fixed, KeyHasher), ReadError> {
    let (header, memory, spilled) = read_parts(reader, kind)?;
    let table = assemble(memory, &header, &spilled)?;
    check_count(&table)?;
    Ok((table, header.hasher))
}

/// The table in `bytes`, which hold a whole file; every byte is checked.
pub(crate) fn view(bytes: &[u8], is_map: bool) -> Result<(Fixed<&[u8]>, KeyHasher), ReadError> {
    let File { header, table, checksums, spilled } = split(bytes, kind_of(is_map))?;
    check_segments(table, checksums, &header.parts.geometry)?;
    let table = assemble(table, &header, spilled)?;
    check_count(&table)?;
    Ok((table, header.hasher))
}

pub(super) fn kind_of(is_map: bool) -> FileKind {
    if is_map { FileKind::Map } else { FileKind::Set }
}

/// A table, with the list of copies beside it.
pub(super) fn assemble<B: Deref<Target = [u8]>>(
    table: B,
    header: &Header,
    spilled: &[u8],
) -> Result<Fixed<B>, ReadError> {
    let mut table = Fixed::from_bytes(table, header.parts);
    let offset = header.file_bytes() - header.spilled_bytes();
    spilled::read_section(spilled, offset, |key, copies| table.add_spilled(key, copies))?;
    Ok(table)
}

pub(super) fn check_count<B: Deref<Target = [u8]>>(table: &Fixed<B>) -> Result<(), ReadError> {
    let (header, found) = (table.len(), table.occupied().saturating_add(table.spilled()));
    if header == found { Ok(()) } else { Err(ReadError::Count { header, table: found }) }
}

/// The parts of a whole file.
pub(super) struct File<'a> {
    pub(super) header: Header,
    pub(super) table: &'a [u8],
    pub(super) checksums: &'a [u8],
    pub(super) spilled: &'a [u8],
}

/// Checks the header and the file's length.
pub(super) fn split(bytes: &[u8], kind: FileKind) -> Result<File<'_>, ReadError> {
    let found = bytes.len() as u64;
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(cut_header(bytes));
    };
    let header = Header::from_bytes(header, kind)?;
    let expected = header.file_bytes();
    if expected != found {
        return Err(ReadError::Length { expected, found });
    }
    // The file is in memory and as long as announced, so the lengths of its parts fit usize.
    let part = |bytes: u64| usize::try_from(bytes).expect("in memory");
    let (table, rest) = rest.split_at(part(header.table_bytes()));
    let (checksums, spilled) = rest.split_at(part(header.checksums_bytes()));
    Ok(File { header, table, checksums, spilled })
}

/// Why fewer bytes than a header are no filter: too short, or something else altogether.
fn cut_header(bytes: &[u8]) -> ReadError {
    let mut padded = [0; HEADER_BYTES];
    padded[..bytes.len()].copy_from_slice(bytes);
    match Header::from_bytes(&padded, FileKind::Set) {
        Err(ReadError::Signature) => ReadError::Signature,
        _ => ReadError::Length { expected: HEADER_BYTES as u64, found: bytes.len() as u64 },
    }
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
