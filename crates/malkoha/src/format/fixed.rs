//! Tables of fixed size as files, in memory and in streams.

use alloc::vec::Vec;
use core::ops::Deref;
#[cfg(feature = "std")]
use std::io::Read;

use crate::format::checksums::{check_segments, segment_checksum, segments};
use crate::format::error::{ReadError, impossible};
use crate::format::header::{Header, cut_header};
use crate::format::kind::{FileKind, HEADER_BYTES};
use crate::format::spilled;
#[cfg(feature = "std")]
use crate::format::stream::read_header;
use crate::io::{self, Write};
use crate::key::KeyHasher;
use crate::table::Fixed;
#[cfg(feature = "std")]
use crate::table::Memory;
use crate::table::traits::{Lookup, Stored};

pub(crate) fn write<B: Deref<Target = [u8]>>(
    table: &Fixed<B>,
    kind: FileKind,
    hasher: KeyHasher,
    writer: &mut dyn Write,
) -> io::Result<()> {
    writer.write_all(&header(table, kind, hasher).to_bytes())?;
    writer.write_all(table.bytes())?;
    writer.write_all(&checksums(table))?;
    spilled::write_section(writer, table.spill())
}

fn header<B>(table: &Fixed<B>, kind: FileKind, hasher: KeyHasher) -> Header
where
    B: Deref<Target = [u8]>,
{
    Header { kind, parts: *table.parts(), hasher, spilled: table.spill().entries() }
}

fn checksums<B: Deref<Target = [u8]>>(table: &Fixed<B>) -> Vec<u8> {
    segments(table.bytes(), &table.parts().geometry)
        .flat_map(|(segment, bytes)| segment_checksum(segment.into(), bytes).to_le_bytes())
        .collect()
}

/// Bytes of a piece.
const PIECE: usize = 1 << 17;

/// How many pieces the file of a set has, with the header.
pub(crate) fn piece_count(table: &Fixed, hasher: KeyHasher) -> usize {
    let header = header(table, FileKind::Set, hasher);
    // Without its list of spilled copies, the file is hardly longer than the table.
    let bytes = usize::try_from(header.file_bytes()).unwrap_or(usize::MAX);
    1 + (bytes - HEADER_BYTES).div_ceil(PIECE)
}

/// A piece of the file of a set.
pub(crate) fn piece(table: &Fixed, hasher: KeyHasher, number: usize) -> Option<Vec<u8>> {
    let Some(start) = number.checked_sub(1).map(|number| number.saturating_mul(PIECE)) else {
        return Some(header(table, FileKind::Set, hasher).to_bytes().to_vec());
    };
    let bytes = table.bytes();
    let end = bytes.len().min(start.saturating_add(PIECE));
    let mut piece = bytes.get(start..end).unwrap_or_default().to_vec();
    if piece.len() < PIECE {
        let mut rest = checksums(table);
        spilled::write_section(&mut rest, table.spill()).ok()?;
        piece.extend(rest.get(start.saturating_sub(bytes.len())..).unwrap_or_default());
    }
    piece.truncate(PIECE);
    (!piece.is_empty()).then_some(piece)
}

impl Stored for Fixed {
    #[cfg(feature = "std")]
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        let header = Header::from_bytes(&read_header(reader)?, kind)?;
        let mut before = HEADER_BYTES as u64;
        let mut part = |bytes| {
            let part = read_part(reader, bytes, &header, before);
            before += bytes;
            part
        };
        let table = part(header.table_bytes())?;
        let checksums = part(header.checksums_bytes())?;
        let spilled = part(header.spilled_bytes())?;
        check_segments(&table, &checksums, &header.parts.geometry)?;
        let table = assemble(Memory::from(table), &header, &spilled)?;
        check_slots(&table)?;
        Ok((table, header.hasher))
    }

    fn from_bytes(kind: FileKind, bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        let (view, hasher) = view(kind, bytes)?;
        let table = view.to_owned();
        Ok((table.map_err(|_| ReadError::Memory(view.bytes().len() as u64))?, hasher))
    }
}

/// The next `bytes` bytes, in a vector that grows as they arrive.
#[cfg(feature = "std")]
fn read_part(
    reader: &mut dyn Read,
    bytes: u64,
    header: &Header,
    before: u64,
) -> Result<Vec<u8>, ReadError> {
    if usize::try_from(bytes).is_err() {
        return Err(ReadError::Memory(bytes));
    }
    let mut part = Vec::new();
    match reader.take(bytes).read_to_end(&mut part) {
        Err(error) if error.kind() == std::io::ErrorKind::OutOfMemory => {
            Err(ReadError::Memory(bytes))
        }
        Err(error) => Err(error.into()),
        Ok(_) if part.len() as u64 == bytes => Ok(part),
        Ok(_) => {
            let found = before + part.len() as u64;
            Err(ReadError::Length { expected: header.file_bytes(), found })
        }
    }
}

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
        return Err(impossible("slots of segment", HEADER_BYTES + base, segment));
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
