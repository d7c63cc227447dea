//! Filter files of every kind, to look lines up in.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};
use malkoha::{
    CuckooMap, FileKind, GrowableCuckooFilter, GrowableCuckooMap, KeyHasher, MappedFilter,
    ReadError,
};

use super::file::whole;
use crate::input::name;
use crate::screen::Hashed;

/// Bytes of a file that tell its kind.
const HEADER_BYTES: u64 = 128;

/// What a file holds. A filter of fixed size is mapped, and only its header is checked; all
/// others are read, and every byte is checked.
pub(crate) enum Lookup {
    Set(MappedFilter),
    GrowableSet(GrowableCuckooFilter),
    Map(CuckooMap),
    GrowableMap(GrowableCuckooMap),
}

impl Lookup {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::read(path).with_context(|| format!("cannot open filter {}", name(path)))
    }

    /// Opens it and checks all of it.
    pub(crate) fn open_verified(path: &Path) -> Result<Self> {
        let filter = Self::open(path)?;
        filter.verify().with_context(|| format!("cannot use filter {}", name(path)))?;
        Ok(filter)
    }

    fn read(path: &Path) -> Result<Self, ReadError> {
        Ok(match kind(path)? {
            FileKind::GrowableSet => Self::GrowableSet(GrowableCuckooFilter::open(path)?),
            FileKind::Map => {
                Self::Map(whole(File::open(path)?, |file| CuckooMap::read_from(file))?)
            }
            FileKind::GrowableMap => Self::GrowableMap(GrowableCuckooMap::open(path)?),
            // SAFETY: nobody may change a filter file in place, which the documentation of the
            // command says; this command replaces filter files by renaming, which a map does not
            // notice.
            _ => Self::Set(unsafe { MappedFilter::open(path) }?),
        })
    }

    /// Checks what was not checked when the file was opened.
    pub(crate) fn verify(&self) -> Result<(), ReadError> {
        match self {
            Self::Set(filter) => filter.verify(),
            _ => Ok(()),
        }
    }

    /// Whether it is a map.
    pub(crate) fn has_values(&self) -> bool {
        matches!(self, Self::Map(_) | Self::GrowableMap(_))
    }

    /// Calls `each` with the position of a hash and a candidate value; in a set there are none.
    pub(crate) fn get_hashes(&self, hashes: &[u64], each: impl FnMut(usize, u64)) {
        match self {
            Self::Set(_) | Self::GrowableSet(_) => {}
            Self::Map(map) => map.get_hashes(hashes, each),
            Self::GrowableMap(map) => map.get_hashes(hashes, each),
        }
    }

    /// How many copies are in; of a map, values.
    pub(crate) fn count_hash(&self, hash: u64) -> u64 {
        match self {
            Self::Set(filter) => filter.count_hash(hash),
            Self::GrowableSet(filter) => filter.count_hash(hash),
            Self::Map(map) => map.count_candidates(hash),
            Self::GrowableMap(map) => map.count_candidates(hash),
        }
    }
}

impl Hashed for Lookup {
    fn hasher(&self) -> KeyHasher {
        match self {
            Self::Set(filter) => filter.hasher(),
            Self::GrowableSet(filter) => filter.hasher(),
            Self::Map(map) => map.hasher(),
            Self::GrowableMap(map) => map.hasher(),
        }
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        match self {
            Self::Set(filter) => filter.contains_hashes(hashes, found),
            Self::GrowableSet(filter) => filter.contains_hashes(hashes, found),
            Self::Map(map) => map.contains_hashes(hashes, found),
            Self::GrowableMap(map) => map.contains_hashes(hashes, found),
        }
    }
}

/// The kind of the file at `path`, by its header.
pub(super) fn kind(path: &Path) -> Result<FileKind, ReadError> {
    let metadata = path.metadata()?;
    if !metadata.is_file() && !metadata.is_dir() {
        let why = "it is a pipe or a device, and filters are read twice: write it to a file first";
        return Err(io::Error::other(why).into());
    }
    let mut header = Vec::new();
    File::open(path)?.take(HEADER_BYTES).read_to_end(&mut header)?;
    FileKind::of(&header)
}
