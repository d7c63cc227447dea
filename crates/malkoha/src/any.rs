//! Files of any kind.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use crate::filter::{
    CuckooFilter, CuckooMap, ExpiringCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter,
};
use crate::format::{FileKind, HEADER_BYTES, ReadError, whole};
use crate::key::{Key, KeyHasher};

/// A filter or map of the kind that a file holds. One that threads share has the file of one that
/// they do not share.
///
/// ```
/// use malkoha::{AnyFilter, CuckooFilter};
///
/// let bytes = CuckooFilter::try_from_iter(["cuckoo", "magpie"], 0.001)?.to_bytes();
/// let any = AnyFilter::from_bytes(&bytes)?;
/// assert!(any.contains("magpie"));
/// let AnyFilter::Set(filter) = any else { panic!("it is a set") };
/// assert!(filter.contains("cuckoo"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnyFilter {
    /// A set of fixed size.
    Set(CuckooFilter),
    /// A map of fixed size.
    Map(CuckooMap),
    /// A set that grows.
    GrowableSet(GrowableCuckooFilter),
    /// A map that grows.
    GrowableMap(GrowableCuckooMap),
    /// A set of fixed size whose keys expire.
    ExpiringSet(ExpiringCuckooFilter),
    /// A set that grows whose keys expire.
    GrowableExpiringSet(GrowableExpiringCuckooFilter),
}

/// Runs one expression on the filter, whatever its kind.
macro_rules! each {
    ($any:expr, $filter:ident => $body:expr) => {
        match $any {
            AnyFilter::Set($filter) => $body,
            AnyFilter::Map($filter) => $body,
            AnyFilter::GrowableSet($filter) => $body,
            AnyFilter::GrowableMap($filter) => $body,
            AnyFilter::ExpiringSet($filter) => $body,
            AnyFilter::GrowableExpiringSet($filter) => $body,
        }
    };
}

impl AnyFilter {
    /// Reads the file at `path`, whole, and checks every byte of it.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not exactly one whole, undamaged filter or map.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        whole(&mut BufReader::new(File::open(path)?), |reader| Self::read_from(reader))
    }

    /// Reads from `bytes`, which hold a whole file.
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged filter or map.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, ReadError> {
        whole(&mut bytes, |reader| Self::read_from(reader))
    }

    /// Reads exactly the bytes of a filter or map, as
    /// [`Filter::read_from`](crate::Filter::read_from).
    ///
    /// # Errors
    ///
    /// If the stream does not begin with a whole, undamaged filter or map.
    pub fn read_from<R: Read>(mut reader: R) -> Result<Self, ReadError> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        reader.by_ref().take(HEADER_BYTES as u64).read_to_end(&mut header)?;
        let kind = FileKind::of(&header)?;
        let all = header.chain(reader);
        Ok(match kind {
            FileKind::Set => Self::Set(CuckooFilter::read_from(all)?),
            FileKind::Map => Self::Map(CuckooMap::read_from(all)?),
            FileKind::GrowableSet => Self::GrowableSet(GrowableCuckooFilter::read_from(all)?),
            FileKind::GrowableMap => Self::GrowableMap(GrowableCuckooMap::read_from(all)?),
            FileKind::ExpiringSet => Self::ExpiringSet(ExpiringCuckooFilter::read_from(all)?),
            FileKind::GrowableExpiringSet => {
                Self::GrowableExpiringSet(GrowableExpiringCuckooFilter::read_from(all)?)
            }
        })
    }

    /// Writes it, as [`Filter::write_to`](crate::Filter::write_to).
    ///
    /// # Errors
    ///
    /// The writer's errors.
    pub fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        each!(self, filter => filter.write_to(writer))
    }

    /// Saves it as the file at `path`, as [`Filter::save`](crate::Filter::save).
    ///
    /// # Errors
    ///
    /// If the file cannot be written. An earlier file at `path` is then unchanged.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        each!(self, filter => filter.save(path))
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> FileKind {
        match self {
            Self::Set(_) => FileKind::Set,
            Self::Map(_) => FileKind::Map,
            Self::GrowableSet(_) => FileKind::GrowableSet,
            Self::GrowableMap(_) => FileKind::GrowableMap,
            Self::ExpiringSet(_) => FileKind::ExpiringSet,
            Self::GrowableExpiringSet(_) => FileKind::GrowableExpiringSet,
        }
    }

    /// The hash that it uses.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        each!(self, filter => filter.hasher())
    }

    /// The number of keys, copies included.
    #[must_use]
    pub fn len(&self) -> u64 {
        each!(self, filter => filter.len())
    }

    /// Whether no key is in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As [`Filter::contains`](crate::Filter::contains).
    pub fn contains<K: Key>(&self, key: K) -> bool {
        self.contains_hash(self.hasher().hash_key(key))
    }

    /// As [`Filter::count`](crate::Filter::count).
    pub fn count<K: Key>(&self, key: K) -> u64 {
        self.count_hash(self.hasher().hash_key(key))
    }

    /// As [`Filter::contains_hash`](crate::Filter::contains_hash).
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        each!(self, filter => filter.contains_hash(hash))
    }

    /// As [`Filter::contains_hashes`](crate::Filter::contains_hashes).
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut [bool]) {
        each!(self, filter => filter.contains_hashes(hashes, found));
    }

    /// As [`Filter::count_hash`](crate::Filter::count_hash).
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        each!(self, filter => filter.count_hash(hash))
    }
}
