//! The counts of a run.

use std::fmt;

use indicatif::HumanCount;
use serde::{Deserialize, Serialize};

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
