//! What opening a store reports.

use crate::error::Error;
use crate::log::LogFile;
use crate::store::LostKey;

/// What opening found that closing does not leave behind. To a store that was opened read-only, what
/// another process is writing at that moment looks the same.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// The damage of the checkpoint, if it has any: the index was built from the log instead.
    pub checkpoint: Option<Error>,
    /// What a crash left of the last write, which nobody was told was durable.
    pub cut: Option<Cut>,
    /// Whole log files behind that, of which nobody was told either: opening for writing removes
    /// them.
    pub cut_files: Vec<Cut>,
    /// What [`Store::open_past_damage`](crate::Store::open_past_damage) went past.
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
    /// Where in it they begin, in bytes.
    pub offset: u64,
    /// How many there are, in bytes.
    pub bytes: u64,
}

impl Cut {
    /// What a file has from an offset on, unless it is all zeros.
    pub(super) fn from(file: &LogFile, offset: u64) -> Option<Self> {
        let last = file.leftovers(offset).pop()?;
        Some(Self { file: file.name(), offset, bytes: last.end - offset })
    }
}
