//! Reading growable filters and maps, from streams, files and memory.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::GrowableLoader;
use crate::format::ReadError;
use crate::growable::{GrowableCuckooFilter, GrowableCuckooMap};

impl GrowableCuckooFilter {
    /// Reads a filter that [`write_to`](Self::write_to) wrote, and checks every byte of it.
    ///
    /// Reads exactly the filter's bytes; what follows them in the stream is left there. Memory is
    /// taken as bytes arrive, so a lying header costs nothing.
    ///
    /// # Errors
    ///
    /// If the stream does not begin with a whole, undamaged filter.
    pub fn read_from<R: Read>(reader: R) -> Result<Self, ReadError> {
        read(reader, GrowableLoader::for_filter())?.into_filter()
    }

    /// Reads a filter from `bytes`, which hold a whole file.
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged filter.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        push_all(bytes, GrowableLoader::for_filter())?.into_filter()
    }

    /// Reads the filter file at `path`, whole.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not exactly one whole, undamaged filter.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        open(path.as_ref(), GrowableLoader::for_filter())?.into_filter()
    }
}

impl GrowableCuckooMap {
    /// Reads a map that [`write_to`](Self::write_to) wrote, as
    /// [`GrowableCuckooFilter::read_from`].
    ///
    /// # Errors
    ///
    /// If the stream does not begin with a whole, undamaged map.
    pub fn read_from<R: Read>(reader: R) -> Result<Self, ReadError> {
        read(reader, GrowableLoader::for_map())?.into_map()
    }

    /// Reads a map from `bytes`, which hold a whole file.
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged map.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        push_all(bytes, GrowableLoader::for_map())?.into_map()
    }

    /// Reads the map file at `path`, whole.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not exactly one whole, undamaged map.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        open(path.as_ref(), GrowableLoader::for_map())?.into_map()
    }
}

fn push_all(bytes: &[u8], mut loader: GrowableLoader) -> Result<GrowableLoader, ReadError> {
    loader.push(bytes)?;
    Ok(loader)
}

/// Takes exactly what the loader wants.
fn read(mut reader: impl Read, mut loader: GrowableLoader) -> Result<GrowableLoader, ReadError> {
    let mut part = Vec::new();
    while loader.wanted() > 0 {
        part.clear();
        // Never more than a segment.
        reader.by_ref().take(loader.wanted() as u64).read_to_end(&mut part)?;
        let whole = part.len() == loader.wanted();
        loader.push(&part)?;
        if !whole {
            break;
        }
    }
    Ok(loader)
}

fn open(path: &Path, loader: GrowableLoader) -> Result<GrowableLoader, ReadError> {
    let mut reader = BufReader::new(File::open(path)?);
    let loader = read(&mut reader, loader)?;
    let after = io::copy(&mut reader, &mut io::sink())?;
    if after > 0 {
        let (expected, found) = (loader.expected(), loader.expected() + after);
        return Err(ReadError::Length { expected, found });
    }
    Ok(loader)
}
