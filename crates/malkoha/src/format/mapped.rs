//! Tables in mapped files: opened at once, whatever their size, and shared between processes.

use std::fs;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::filter::{Content, Filter};
use crate::format::view::{File, assemble, check_count, split};
use crate::format::{HEADER_BYTES, ReadError, check_segments};
use crate::table::Fixed;
use crate::table::traits::Lookup;

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

impl<C: Content> Filter<Fixed<MappedFile>, C> {
    /// Opens the file at `path` without reading it: O(1), only the header and the length are
    /// checked. Damage in the table makes results wrong and nothing worse;
    /// [`verify`](Self::verify) finds it.
    ///
    /// The list of [spilled copies](Filter#equal-keys), if there is one, is read and checked.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a whole file of this kind.
    ///
    /// # Safety
    ///
    /// While the filter lives, nobody may write to the file or shorten it: its bytes are memory of
    /// this process, and Rust takes them as unchanging. Replacing the file by a rename is fine.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let file = fs::File::open(path)?;
        // SAFETY: the caller promises that the file does not change while it is mapped.
        let file = unsafe { Mmap::map(&file) }?;
        let File { header, table, spilled, .. } =
            split(&file, Fixed::<MappedFile>::kind(C::IS_MAP))?;
        let (table_bytes, spilled) = (table.len(), spilled.to_vec());
        let table = assemble(MappedFile { file, table_bytes }, &header, &spilled)?;
        Ok(Self::new(table, header.hasher))
    }

    /// Checks every byte against the file's checksums, and the number of keys.
    ///
    /// # Errors
    ///
    /// Where the damage is.
    pub fn verify(&self) -> Result<(), ReadError> {
        let file = &self.table.owner().file;
        let File { header, table, checksums, .. } =
            split(file, Fixed::<MappedFile>::kind(C::IS_MAP))?;
        check_segments(table, checksums, &header.parts.geometry)?;
        check_count(&self.table)
    }
}
