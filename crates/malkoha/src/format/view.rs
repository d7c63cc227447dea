//! Tables of fixed size in memory, as they lie in a file.

use core::ops::Deref;

use crate::format::header::impossible;
use crate::format::{FileKind, HEADER_BYTES, Header, ReadError, check_segments, spilled};
use crate::key::KeyHasher;
use crate::table::Fixed;
use crate::table::traits::Lookup;

/// The table in `bytes`, which hold a whole file; every byte is checked.
pub(crate) fn view(kind: FileKind, bytes: &[u8]) -> Result<(Fixed<&[u8]>, KeyHasher), ReadError> {
    let File { header, table, checksums, spilled } = split(bytes, kind)?;
    check_segments(table, checksums, &header.parts.geometry)?;
    let table = assemble(table, &header, spilled)?;
    check_slots(&table)?;
    Ok((table, header.hasher))
}

/// A table with its list of spilled copies.
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

/// Checks that the slots lie as operations leave them, and the number of keys.
pub(super) fn check_slots<B: Deref<Target = [u8]>>(table: &Fixed<B>) -> Result<(), ReadError> {
    if let Some((segment, base)) = table.disordered() {
        return impossible("slots of segment", HEADER_BYTES + base, segment);
    }
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

/// Why bytes shorter than a header are not a filter: cut off, or something else.
pub(super) fn cut_header(bytes: &[u8]) -> ReadError {
    let mut padded = [0; HEADER_BYTES];
    padded[..bytes.len()].copy_from_slice(bytes);
    match Header::from_bytes(&padded, FileKind::Set) {
        Err(ReadError::Signature) => ReadError::Signature,
        _ => ReadError::Length { expected: HEADER_BYTES as u64, found: bytes.len() as u64 },
    }
}
