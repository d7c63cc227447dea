//! The report of an opening.

use crate::error::Error;
use crate::log::LogFile;
use crate::store::LostKey;

/// The remains of a crash, and the damage, that opening found. If a store is opened read-only while
/// another process writes to it, that write looks the same.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// The damage of the checkpoint, if it has any: the index was built from the log instead.
    pub checkpoint: Option<Error>,
    /// The part of the last write that a crash left. It was never acknowledged as durable.
    pub cut: Option<Cut>,
    /// Whole log files behind that, never acknowledged either. Opening for writing removes them.
    pub cut_files: Vec<Cut>,
    /// The damage that [`Store::open_past_damage`](crate::Store::open_past_damage) skipped.
    pub skipped: Vec<Error>,
    /// Keys that were written there and not put later, as far as they can be read. One that was
    /// deleted later is among them.
    pub lost_keys: Vec<LostKey>,
}

/// Bytes behind the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The log file.
    pub file: String,
    /// Their offset in it, in bytes.
    pub offset: u64,
    /// How many there are, in bytes.
    pub bytes: u64,
}

impl Cut {
    /// The bytes of a file from an offset on, unless all are zero.
    pub(super) fn from(file: &LogFile, offset: u64) -> Option<Self> {
        let last = file.leftovers(offset).last()?;
        Some(Self { file: file.name(), offset, bytes: last.end - offset })
    }
}
