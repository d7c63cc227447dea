//! Why bytes are not a filter.

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
        "file is {found} bytes long, but its header announces {expected}: it is cut off or has \
         bytes appended"
    )]
    Length {
        /// The length that the header announces.
        expected: u64,
        /// The length found.
        found: u64,
    },
    /// A segment's bytes do not match its checksum.
    #[error(
        "segment {segment} is damaged (checksum mismatch in the bytes from {offset}): restore the \
         file from a copy or build it again"
    )]
    SegmentChecksum {
        /// The segment's number.
        segment: u32,
        /// Its offset in the file.
        offset: u64,
    },
    /// The list of spilled copies does not match its checksum.
    #[error(
        "the list of spilled copies is damaged (checksum mismatch): restore the file from a copy \
         or build it again"
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

pub(super) fn check(
    holds: bool,
    field: &'static str,
    offset: usize,
    value: impl Into<u64>,
) -> Result<(), ReadError> {
    if holds { Ok(()) } else { Err(impossible(field, offset, value)) }
}

pub(super) fn impossible(field: &'static str, offset: usize, value: impl Into<u64>) -> ReadError {
    ReadError::Field { field, offset: offset as u64, value: value.into() }
}

/// For an entry of the list of spilled copies.
pub(super) fn impossible_copies(offset: u64, entry: u64) -> ReadError {
    ReadError::Field { field: "spilled copies", offset, value: entry }
}
