//! What an opening tells of what it found.

use crate::error::Error;
use crate::log::LogFile;

/// What opening found that closing does not leave behind.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// The damage of the checkpoint, if it has any: the index was built from the log instead.
    pub checkpoint: Option<Error>,
    /// What a crash left of the last write, which nobody was told was durable.
    pub cut: Option<Cut>,
}

/// Bytes at the end of the log that are no whole records.
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
    /// What lies behind the end of the log.
    pub(super) fn behind(tail: &LogFile) -> Option<Self> {
        let (file, offset) = (tail.name(), tail.end());
        let last = tail.leftovers(offset).pop()?;
        Some(Self { file, offset, bytes: last.end - offset })
    }
}
