//! What the interrupted copy of a file already has, and what it still needs. Puts that were copied
//! are no longer in the index; of tombstones no index knows where the present one is.

use std::sync::{Arc, OnceLock};

use super::file::LogFile;
use super::header::HEADER_BYTES;
use super::record::{Kind, Record};
use super::scan::{Scan, Step};

/// Set once, when a store is opened, for a file whose copy may have been interrupted.
#[derive(Default)]
pub(super) struct Interrupted(OnceLock<Box<Noted>>);

struct Noted {
    /// The sequence numbers that the tombstones in the copy had at first, in order. No two
    /// tombstones share one.
    origins: Arc<[u64]>,
    /// The most bytes that the copy still needs. They get fewer as records are deleted or end.
    rest: u64,
}

impl LogFile {
    /// The sequence numbers that its copies of tombstones had at first, in order.
    pub(crate) fn origins(&self) -> Arc<[u64]> {
        let mut origins = Vec::new();
        self.each_record(|record, _, _| origins.extend(record.origin()));
        origins.sort_unstable();
        origins.into()
    }

    /// Calls a function for each record, with its offset and its sequence number.
    pub(crate) fn each_record(&self, mut each: impl FnMut(Record<'_>, u64, u64)) {
        let first = self.header.first_sequence;
        let mut scan = Scan::new(self, HEADER_BYTES as u64, first, self.end());
        while let Step::Record(record, offset, sequence) = scan.step() {
            if matches!(record.head.kind, Kind::Put | Kind::Delete) {
                each(record, offset, sequence);
            }
        }
    }

    /// Notes what a copy already has, and how many bytes it still needs at most.
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
