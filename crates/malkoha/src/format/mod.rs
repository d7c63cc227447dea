//! Filters as bytes: a header, the table as it lies in memory, a checksum for each segment.
//!
//! `docs/FORMAT.md` specifies every byte. Everything is little-endian, and reading trusts nothing:
//! each length is checked before memory is allocated, and memory is allocated as bytes arrive.

mod expiring;
#[cfg(feature = "std")]
mod growable;
mod header;
#[cfg(feature = "mmap")]
mod mapped;
#[cfg(feature = "std")]
mod read;
#[cfg(feature = "std")]
mod replace;
mod spilled;
mod view;
mod write;

#[cfg(feature = "std")]
pub(crate) use expiring::read as read_expiring;
pub(crate) use expiring::{from_bytes as expiring_from_bytes, write as write_expiring};
#[cfg(feature = "mmap")]
use growable::map as map_growable;
#[cfg(feature = "std")]
pub use growable::{GrowableExpiringLoader, GrowableLoader};
#[cfg(feature = "std")]
pub(crate) use growable::{read as read_growable, write as write_growable};
pub use header::FileKind;
pub(crate) use header::{HEADER_BYTES, Header};
#[cfg(feature = "mmap")]
pub use mapped::MappedFile;
#[cfg(feature = "std")]
pub(crate) use read::{read, whole};
#[cfg(feature = "std")]
pub(crate) use replace::replace_file;
pub(crate) use view::view;
pub(crate) use write::write;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::geometry::Geometry;

/// Bytes per segment's checksum takes in the file.
const CHECKSUM_BYTES: u64 = 8;

/// A file or a byte string that is not a filter, or not a whole one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The bytes could not be read.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The first bytes are not this format's.
    #[error("not a malkoha file: it does not begin with the format's signature")]
    Signature,
    /// A version that this release does not know.
    #[error("format version {0} is not supported, only version 1: use a newer malkoha")]
    Version(u16),
    /// A filter of another kind.
    #[error("the file holds a {found}, but a {expected} was asked for")]
    Kind {
        /// The kind that was asked for.
        expected: &'static str,
        /// The kind that the file has.
        found: &'static str,
    },
    /// A set whose layout threads cannot share.
    #[error(
        "the file holds a set in the {0} layout, which threads cannot share: \
         build it with the layout words"
    )]
    Layout(&'static str),
    /// The header's bytes do not match its checksum.
    #[error("header is damaged (checksum mismatch in bytes 0 to 127): restore it from a copy")]
    HeaderChecksum,
    /// A header field has a value that no filter has.
    #[error("header field '{field}' at byte {offset} has the impossible value {value}")]
    Field {
        /// The field's name in docs/FORMAT.md.
        field: &'static str,
        /// Its offset in bytes.
        offset: u64,
        /// Its value.
        value: u64,
    },
    /// Fewer or more bytes than the header announces.
    #[error(
        "file is {found} bytes long, but its header announces {expected}: it is cut off or has bytes appended"
    )]
    Length {
        /// The length that the header announces.
        expected: u64,
        /// The length found.
        found: u64,
    },
    /// A segment's bytes do not match its checksum.
    #[error(
        "segment {segment} is damaged (checksum mismatch in the bytes from {offset}): restore the file from a copy or build it again"
    )]
    SegmentChecksum {
        /// The segment's number.
        segment: u32,
        /// Its offset in the file.
        offset: u64,
    },
    /// The list of spilled copies does not match its checksum.
    #[error(
        "the list of spilled copies is damaged (checksum mismatch): restore the file from a copy or build it again"
    )]
    SpillChecksum,
    /// The table does not hold as many keys as the header says.
    #[error("header says {header} keys, but the table holds {table}: build the file again")]
    Count {
        /// Keys by the header.
        header: u64,
        /// Occupied slots.
        table: u64,
    },
    /// The table does not fit this machine's memory.
    #[error("a table of {0} bytes does not fit in this machine's memory")]
    Memory(u64),
}

/// Whether a checksum is the one that the file has. For a fuzzer, each is: it would otherwise get
/// no further. `cargo fuzz` sets `fuzzing` when it compiles.
fn is_right(found: u64, stored: u64) -> bool {
    found == stored || cfg!(fuzzing)
}

/// The checksum of segment number `segment`. The number is the seed, so that segments that changed
/// places are noticed.
fn segment_checksum(segment: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, segment)
}

/// The segments of a table, numbered.
fn segments<'a>(
    table: &'a [u8],
    geometry: &Geometry,
) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
    // The table is in memory, so a segment's size fits usize.
    let segment_bytes = usize::try_from(geometry.segment_bytes()).expect("in memory");
    (0..).zip(table.chunks_exact(segment_bytes))
}

/// Compares every segment with its checksum.
fn check_segments(table: &[u8], checksums: &[u8], geometry: &Geometry) -> Result<(), ReadError> {
    debug_assert_eq!(Some(table.len() as u64), geometry.table_bytes());
    for ((segment, bytes), stored) in segments(table, geometry).zip(checksums.as_chunks::<8>().0) {
        if !is_right(segment_checksum(segment.into(), bytes), u64::from_le_bytes(*stored)) {
            let offset = HEADER_BYTES as u64 + u64::from(segment) * geometry.segment_bytes();
            return Err(ReadError::SegmentChecksum { segment, offset });
        }
    }
    Ok(())
}
