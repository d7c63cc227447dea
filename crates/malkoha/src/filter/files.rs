//! Sets and maps in files and streams. docs/FORMAT.md specifies them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::{Content, Filter};
use crate::format::{ReadError, replace_file, whole};
use crate::table::traits::{Lookup, Stored};

impl<T: Lookup, C: Content> Filter<T, C> {
    /// Writes the filter in the format of docs/FORMAT.md. Equal filters give equal bytes.
    ///
    /// In a shared filter, keys that are present throughout are written. Keys that threads insert
    /// or remove at the same time are written or not.
    ///
    /// # Errors
    ///
    /// The writer's errors.
    pub fn write_to<W: Write>(&self, mut writer: W) -> io::Result<()> {
        self.table.write(T::kind(C::IS_MAP), self.hasher(), &mut writer)?;
        writer.flush()
    }

    /// Saves the filter as the file at `path`: writes it under another name first, syncs it, and
    /// renames it. So the file is always whole, the old one or the new one. A device or a pipe is
    /// written to as it is, except on Windows. Saving to a pipe waits for its reader.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("seen.mlk");
    /// CuckooFilter::try_from_iter(["cuckoo", "magpie"], 0.001)?.save(&path)?;
    /// assert!(CuckooFilter::open(&path)?.contains("magpie"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be written. An earlier file at `path` is then unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        replace_file(path.as_ref(), |file| self.write_to(BufWriter::new(file)))
    }
}

impl<T: Stored, C: Content> Filter<T, C> {
    /// Reads a filter that [`write_to`](Self::write_to) wrote, and checks every byte of it.
    ///
    /// Reads exactly the filter's bytes and leaves the rest of the stream. Allocates memory only as
    /// bytes arrive, so a false length in the header costs nothing.
    ///
    /// # Errors
    ///
    /// If the stream does not begin with a whole, undamaged file of this kind.
    pub fn read_from<R: Read>(mut reader: R) -> Result<Self, ReadError> {
        let (table, hasher) = T::read(T::kind(C::IS_MAP), &mut reader)?;
        Ok(Self::new(table, hasher))
    }

    /// Reads the file at `path`, whole.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not exactly one whole, undamaged file of this kind.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        whole(&mut BufReader::new(File::open(path)?), |reader| Self::read_from(reader))
    }
}
