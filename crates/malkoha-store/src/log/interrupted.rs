//! The interrupted copy of a file: which tombstones it already has, and how many bytes it still
//! needs. The index no longer has the old places of copied puts, but it knows no places of
//! tombstones.

use std::sync::{Arc, OnceLock};

use super::file::LogFile;

/// Set once, when a store is opened, for a file whose copy may have been interrupted.
#[derive(Default)]
pub(super) struct Interrupted(OnceLock<Box<Noted>>);

struct Noted {
    /// The sequence numbers that the tombstones in the copy had at first, in order. No two
    /// tombstones share one.
    origins: Arc<[u64]>,
    /// The most bytes that the copy still needs. The number falls as records are deleted or end.
    rest: u64,
}

impl LogFile {
    /// The sequence numbers that its copies of tombstones had at first, in order.
    pub(crate) fn origins(&self) -> Arc<[u64]> {
        // Other readers report damage.
        let records = self.records(self.end()).flatten();
        let mut origins: Vec<u64> = records.filter_map(|(record, ..)| record.origin()).collect();
        origins.sort_unstable();
        origins.into()
    }

    /// Notes the tombstones that a copy already has, and the most bytes that it still needs.
    pub(crate) fn note_copy(&self, origins: &Arc<[u64]>, rest: u64) {
        let noted = Noted { origins: Arc::clone(origins), rest };
        let _ = self.usage.interrupted.0.set(Box::new(noted));
    }

    /// Whether a tombstone of this origin was copied before.
    pub(crate) fn is_copied(&self, origin: u64) -> bool {
        let noted = self.usage.interrupted.0.get();
        noted.is_some_and(|noted| noted.origins.binary_search(&origin).is_ok())
    }

    /// The most bytes that a copy still needs, if that was noted.
    pub(crate) fn rest(&self) -> Option<u64> {
        self.usage.interrupted.0.get().map(|noted| noted.rest)
    }
}
