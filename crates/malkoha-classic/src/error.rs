//! What can go wrong, and what to do about it.

use std::fmt;
use std::io;

/// A structure that cannot be built as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The capacity is 0 or above 2^36.
    #[error("capacity {0} is out of range: ask for 1 to 68719476736 (2^36) keys")]
    Capacity(u64),
    /// The false-positive rate is not between 0 and 1.
    #[error("false-positive rate {0} is out of range: ask for one above 0 and below 1")]
    Fpr(f64),
    /// The structure cannot reach the false-positive rate at this capacity.
    #[error(
        "a {structure} for {capacity} keys does not reach a false-positive rate of {asked:e}: \
         ask for a higher one, or keep the keys themselves"
    )]
    FprTooSmall {
        /// The structure's name.
        structure: &'static str,
        /// The number of keys asked for.
        capacity: u64,
        /// The rate asked for.
        asked: f64,
    },
    /// A number of the geometry is outside what the structure supports.
    #[error("{name} {value} is out of range: choose {least} to {most}")]
    OutOfRange {
        /// What the number is, with its unit.
        name: &'static str,
        /// What was asked for.
        value: u64,
        /// The least that is supported.
        least: u64,
        /// The most that is supported.
        most: u64,
    },
    /// The table would not fit into this machine's address space or memory.
    #[error("a table of {bytes} bytes does not fit in memory: ask for fewer keys or a higher fpr")]
    Memory {
        /// The size of the table, saturating.
        bytes: u64,
    },
}

impl BuildError {
    /// `Ok` if `value` lies in `range`.
    pub(crate) fn check_range(
        name: &'static str,
        value: u64,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<(), Self> {
        if range.contains(&value) {
            Ok(())
        } else {
            Err(Self::OutOfRange { name, value, least: *range.start(), most: *range.end() })
        }
    }
}

/// An insert that found no place. The structure is exactly as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Full {
    /// The number of keys in the structure, copies included.
    pub len: u64,
    /// The number of keys it was built for.
    pub capacity: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, capacity } = self;
        if len < capacity {
            write!(
                f,
                "no free slot for the key, though {len} of {capacity} keys are in: the same key \
                 was inserted too often, or the table was built too tight; build a larger one"
            )
        } else {
            write!(f, "full: built for {capacity} keys and holds {len}; build a larger one")
        }
    }
}

impl std::error::Error for Full {}

/// A batch of which some keys found no place. All the others are in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of the batch's keys were refused and the others inserted: {full}", refused.len())]
#[non_exhaustive]
pub struct BatchFull {
    /// The positions in the batch of the keys that were refused, ascending.
    pub refused: Vec<usize>,
    /// The state after the batch.
    pub full: Full,
}

/// An entry that found no place in a cuckoo hash table. The table is exactly as it was before, and
/// the entry is handed back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused<K, V> {
    /// The key that was to be inserted.
    pub key: K,
    /// Its value.
    pub value: V,
    /// The state of the table.
    pub full: Full,
}

impl<K, V> fmt::Display for Refused<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; or let it grow", self.full)
    }
}

impl<K: fmt::Debug, V: fmt::Debug> std::error::Error for Refused<K, V> {}

/// Bytes that are not a structure of this crate, or not a whole one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The first bytes are not this format's.
    #[error("not a malkoha-classic file: it does not begin with the format's signature")]
    Signature,
    /// A version that this release does not know.
    #[error("format version {0} is not supported, only version 1: use a newer malkoha-classic")]
    Version(u16),
    /// The header's bytes do not match its checksum.
    #[error("header is damaged (checksum mismatch in bytes 0 to 127): restore it from a copy")]
    HeaderChecksum,
    /// Another structure than the one asked for.
    #[error("the file holds kind {found}, but a {expected} was asked for")]
    Kind {
        /// The structure that was asked for.
        expected: &'static str,
        /// The kind's number in docs/FORMAT-CLASSIC.md.
        found: u16,
    },
    /// A header field has a value that no such structure has.
    #[error("header field '{field}' has the impossible value {value}: build the file anew")]
    Field {
        /// The field's name in docs/FORMAT-CLASSIC.md.
        field: &'static str,
        /// What it holds.
        value: u64,
    },
    /// The bytes end before what the header announces.
    #[error("cut off: {found} bytes where the header announces {expected}; restore a copy")]
    Length {
        /// The length that the header announces.
        expected: u64,
        /// The length found.
        found: u64,
    },
    /// A part's bytes do not match its checksum.
    #[error("part {0} of the table is damaged (checksum mismatch): restore the file from a copy")]
    PartChecksum(u64),
    /// The checksums match, but this structure never makes such a table.
    #[error("the table contradicts itself ({0}): build the file anew")]
    Table(&'static str),
    /// The table does not fit into this machine's memory.
    #[error("a table of {0} bytes does not fit in this machine's memory")]
    Memory(u64),
}
