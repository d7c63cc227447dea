//! Tables in mapped files: opened at once, whatever their size, and shared between processes.

use std::ops::Deref;

use memmap2::Mmap;

use crate::format::checksums::check_segments;
use crate::format::error::ReadError;
use crate::format::fixed::{File, assemble, check_slots, split};
use crate::format::kind::{FileKind, HEADER_BYTES};
use crate::key::KeyHasher;
use crate::table::Fixed;

/// The table in a mapped file.
#[derive(Debug)]
pub struct MappedFile {
    file: Mmap,
    table_bytes: usize,
}

impl Deref for MappedFile {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.file[HEADER_BYTES..HEADER_BYTES + self.table_bytes]
    }
}

impl MappedFile {
    /// The table in a file of this kind. Only the header, the length and the spilled copies are
    /// checked.
    pub(crate) fn table(kind: FileKind, file: Mmap) -> Result<(Fixed<Self>, KeyHasher), ReadError> {
        let File { header, table, spilled, .. } = split(&file, kind)?;
        let (table_bytes, spilled) = (table.len(), spilled.to_vec());
        let table = assemble(Self { file, table_bytes }, &header, &spilled)?;
        Ok((table, header.hasher))
    }

    /// Checks every byte.
    pub(crate) fn verify(table: &Fixed<Self>, kind: FileKind) -> Result<(), ReadError> {
        let File { header, table: bytes, checksums, .. } = split(&table.owner().file, kind)?;
        check_segments(bytes, checksums, &header.parts.geometry)?;
        check_slots(table)
    }
}
