//! Filters in mapped files: opened at once, whatever their size, and shared between processes.

use std::fs;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use crate::filter::CuckooFilter;
use crate::format::read::{File, assemble, check_count, split};
use crate::format::{FileKind, HEADER_BYTES, ReadError, check_segments};

/// A filter that lies in a file: lookups read the file's pages, nothing is copied.
pub type MappedFilter = CuckooFilter<MappedFile>;

/// The table in a mapped filter file.
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

impl MappedFilter {
    /// Opens the filter file at `path`: O(1), only the header and the length are checked. Damage
    /// in the table makes answers wrong and nothing worse; [`verify`](Self::verify) finds it.
    ///
    /// The list of [spilled copies](CuckooFilter#equal-keys), if there is one, is read and checked.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a whole filter.
    ///
    /// # Safety
    ///
    /// While the filter lives, nobody may write to the file or shorten it: its bytes are memory of
    /// this process, and Rust takes them as unchanging. Replacing the file by a rename is fine.
    pub unsafe fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let file = fs::File::open(path)?;
        // SAFETY: the caller promises that the file does not change while it is mapped.
        let file = unsafe { Mmap::map(&file) }?;
        let File { header, table, spilled, .. } = split(&file, FileKind::Set)?;
        let (table_bytes, spilled) = (table.len(), spilled.to_vec());
        assemble(MappedFile { file, table_bytes }, &header, &spilled)
    }

    /// Checks every byte against the file's checksums, and the number of keys.
    ///
    /// # Errors
    ///
    /// Where the damage is.
    pub fn verify(&self) -> Result<(), ReadError> {
        let File { header, table, checksums, .. } =
            split(&self.table().owner().file, FileKind::Set)?;
        check_segments(table, checksums, &header.parts.geometry)?;
        check_count(self)
    }
}
