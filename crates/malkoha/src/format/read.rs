//! Reading filters and maps, from streams and from memory.

use std::io::{self, Read};
use std::ops::Deref;

use crate::filter::{CuckooFilter, FilterView};
use crate::format::{FileKind, HEADER_BYTES, Header, ReadError, check_segments};
use crate::map::CuckooMap;
use crate::table::{Memory, Table};

impl CuckooFilter {
    /// Reads a filter that [`write_to`](Self::write_to) wrote, and checks every byte of it.
    ///
    /// Reads exactly the filter's bytes; what follows them in the stream is left there. Memory is
    /// taken as bytes arrive, so a lying header costs nothing.
    ///
    /// # Errors
    ///
    /// If the stream does not begin with a whole, undamaged filter.
    pub fn read_from<R: Read>(reader: R) -> Result<Self, ReadError> {
        let (header, memory) = read(reader, FileKind::Set)?;
        let filter = assemble(memory, &header);
        check_count(&filter)?;
        Ok(filter)
    }
}

impl<'a> FilterView<'a> {
    /// A filter in `bytes`, which hold a whole file; nothing is copied and every byte is checked.
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged filter.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, ReadError> {
        let (header, table, checksums) = split(bytes, FileKind::Set)?;
        check_segments(table, checksums, &header.parts.geometry)?;
        let filter = assemble(table, &header);
        check_count(&filter)?;
        Ok(filter)
    }
}

impl CuckooMap {
    /// Reads a map that [`write_to`](Self::write_to) wrote, and checks every byte of it.
    ///
    /// # Errors
    ///
    /// As [`CuckooFilter::read_from`].
    pub fn read_from<R: Read>(reader: R) -> Result<Self, ReadError> {
        let (header, memory) = read(reader, FileKind::Map)?;
        Ok(Self::from_parts(memory, &header.parts))
    }
}

pub(super) fn assemble<B: Deref<Target = [u8]>>(table: B, header: &Header) -> CuckooFilter<B> {
    CuckooFilter::from_parts(Table::from_bytes(table, header.parts.geometry), &header.parts)
}

pub(super) fn check_count<B: Deref<Target = [u8]>>(
    filter: &CuckooFilter<B>,
) -> Result<(), ReadError> {
    let table = filter.table().occupied();
    if table == filter.len() {
        Ok(())
    } else {
        Err(ReadError::Count { header: filter.len(), table })
    }
}

/// The header, table and checksums of a whole file. Checks the header and the file's length.
pub(super) fn split(bytes: &[u8], kind: FileKind) -> Result<(Header, &[u8], &[u8]), ReadError> {
    let found = bytes.len() as u64;
    let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(cut_header(bytes));
    };
    let header = Header::from_bytes(header, kind)?;
    let expected = header.file_bytes();
    if expected != found {
        return Err(ReadError::Length { expected, found });
    }
    // The file is in memory and as long as announced, so the table's length fits usize.
    let table_bytes = usize::try_from(header.table_bytes()).expect("in memory");
    let (table, checksums) = rest.split_at(table_bytes);
    Ok((header, table, checksums))
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

fn read(mut reader: impl Read, kind: FileKind) -> Result<(Header, Memory), ReadError> {
    let mut start = Vec::with_capacity(HEADER_BYTES);
    reader.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    let Some(header) = start.first_chunk::<HEADER_BYTES>() else {
        return Err(cut_header(&start));
    };
    let header = Header::from_bytes(header, kind)?;
    let (table_bytes, checksums_bytes) = (header.table_bytes(), header.checksums_bytes());
    let table = read_part(&mut reader, table_bytes, &header, HEADER_BYTES as u64)?;
    let checksums =
        read_part(&mut reader, checksums_bytes, &header, HEADER_BYTES as u64 + table_bytes)?;
    check_segments(&table, &checksums, &header.parts.geometry)?;
    Ok((header, Memory::from(table)))
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
