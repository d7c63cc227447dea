//! Filters and maps in mapped files.

use std::fs::File;
use std::path::Path;

use memmap2::MmapOptions;

use super::{Content, Filter};
use crate::format::{MappedFile, ReadError, map_growable};
use crate::growable::Growing;
use crate::table::Fixed;
use crate::table::traits::Lookup;

impl<C: Content> Filter<Growing, C> {
    /// Opens the file at `path` without copying it: every byte is read once and checked, and
    /// segments stay in the file's pages, which processes share, until they change. Changes go to
    /// memory of this process; [`save`](Self::save) writes them.
    ///
    /// ```
    /// use malkoha::GrowableCuckooFilter;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("seen.mlk");
    /// let mut seen = GrowableCuckooFilter::with_capacity(10, 0.001)?;
    /// seen.insert_many(&["cuckoo", "magpie"])?;
    /// seen.save(&path)?;
    /// // SAFETY: nobody else knows the file.
    /// let mut mapped = unsafe { GrowableCuckooFilter::map(&path) }?;
    /// assert!(mapped.contains("magpie") && mapped.insert("wren").is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not exactly one whole, undamaged file of this kind, or has 4
    /// GiB or more: [`open`](Self::open) reads it.
    ///
    /// # Safety
    ///
    /// While the filter lives, nobody may write to the file or shorten it: its bytes are memory of
    /// this process, and Rust takes them as unchanging. Replacing the file by a rename is fine.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let file = File::open(path)?;
        // SAFETY: the mapping is private, so what is written to it does not reach the file; and the
        // caller promises that the file does not change while it is mapped.
        let file = unsafe { MmapOptions::new().map_copy(&file) }?;
        let (table, hasher) = map_growable(Growing::kind(C::IS_MAP), file.into())?;
        Ok(Self::new(table, hasher))
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
    /// If the file cannot be read or is not a whole file of this kind, or where files cannot be
    /// mapped.
    ///
    /// # Safety
    ///
    /// While the filter lives, nobody may write to the file or shorten it: its bytes are memory of
    /// this process, and Rust takes them as unchanging. Replacing the file by a rename is fine.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        // SAFETY: the caller promises that the file does not change while it is mapped.
        unsafe { Self::map_at(&File::open(path)?, 0) }
    }

    /// [`map`](Self::map) of a filter that begins `offset` bytes behind the beginning of an open
    /// file, and goes to its end: a file of another format may hold one.
    ///
    /// ```
    /// use malkoha::{CuckooFilter, MappedFilter};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("mine");
    /// let mut seen = CuckooFilter::with_capacity(10, 0.001)?;
    /// seen.insert("cuckoo")?;
    /// let mut file = std::fs::File::create_new(&path)?;
    /// std::io::Write::write_all(&mut file, b"what it is")?;
    /// seen.write_to(&mut file)?;
    /// let file = std::fs::File::open(path)?;
    /// // SAFETY: nobody else knows the file.
    /// let mapped = unsafe { MappedFilter::map_at(&file, 10) }?;
    /// assert!(mapped.contains("cuckoo") && mapped.verify().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As of [`map`](Self::map).
    ///
    /// # Safety
    ///
    /// As of [`map`](Self::map).
    pub unsafe fn map_at(file: &File, offset: u64) -> Result<Self, ReadError> {
        // SAFETY: the caller promises that the file does not change while it is mapped.
        let file = unsafe { MmapOptions::new().offset(offset).map(file) }?;
        let (table, hasher) = MappedFile::table(Fixed::<MappedFile>::kind(C::IS_MAP), file)?;
        Ok(Self::new(table, hasher))
    }

    /// Checks every byte against the file's checksums, and the number of keys.
    ///
    /// # Errors
    ///
    /// Where the damage is.
    pub fn verify(&self) -> Result<(), ReadError> {
        MappedFile::verify(&self.table, Fixed::<MappedFile>::kind(C::IS_MAP))
    }
}
