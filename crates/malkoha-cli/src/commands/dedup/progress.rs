//! How far a run has come, and its counts.

use std::fmt;

use indicatif::HumanCount;
use serde::{Deserialize, Serialize};

/// The progress of a run.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
pub(super) struct Progress {
    /// Files that are finished, and the bytes of the last one.
    pub(super) finished: usize,
    pub(super) bytes: u64,
    /// Finished files that are in the state on disk; 0 if there is none.
    pub(super) saved: usize,
    pub(super) totals: Totals,
    /// Bytes of the report on finished files.
    pub(super) report: u64,
    /// Documents in the state that the run began with.
    pub(super) before: u64,
}

/// Counts of documents.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Totals {
    pub(super) documents: u64,
    pub(super) kept: u64,
    /// Dropped: equal to another.
    pub(super) same: u64,
    /// Dropped: similar to another.
    pub(super) near: u64,
    /// Dropped: too little left without repeated paragraphs.
    pub(super) emptied: u64,
    /// Kept without some paragraphs, and how many these were.
    pub(super) cut: u64,
    pub(super) paragraphs: u64,
    /// Records without a text, and those of them that were dropped.
    pub(super) bad: u64,
    pub(super) bad_dropped: u64,
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} documents, {} kept", HumanCount(self.documents), HumanCount(self.kept))?;
        for (count, what) in [
            (self.same, "dropped as equal to others"),
            (self.near, "dropped as similar to others"),
            (self.emptied, "dropped with too little left"),
            (self.cut, "cut"),
            (self.paragraphs, "paragraphs cut in these"),
            (self.bad, "without a text"),
        ] {
            if count > 0 {
                write!(f, ", {} {what}", HumanCount(count))?;
            }
        }
        if self.bad > 0 {
            let dropped = self.bad_dropped > 0;
            write!(f, " ({})", if dropped { "dropped" } else { "kept" })?;
        }
        Ok(())
    }
}
