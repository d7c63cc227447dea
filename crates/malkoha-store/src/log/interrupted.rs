//! The interrupted copy of a file: which tombstones it already has, and how many bytes it still needs.
//! The index no longer has the old places of copied puts, but it knows no places of tombstones.

use std::sync::{Arc, OnceLock};

use super::file::LogFile;
use super::record::Record;
use super::scan::{Scan, Step};
use crate::error::Result;

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
        let mut origins = Vec::new();
        // Other readers report damage.
        let _ = self.each_record(|record, _, _| origins.extend(record.origin()));
        origins.sort_unstable();
        origins.into()
    }

    /// Calls a function for each record, with its offset and its sequence number. Ends with an
    /// error at the first damage.
    pub(crate) fn each_record(&self, mut each: impl FnMut(Record<'_>, u64, u64)) -> Result<()> {
        let mut scan = Scan::of(self, self.end());
        loop {
            match scan.step() {
                Step::Record(record, offset, sequence) => each(record, offset, sequence),
                Step::End if scan.offset() < self.end() => {
                    return Err(self.no_record(scan.offset()));
                }
                Step::Sealed | Step::End => return Ok(()),
            }
        }
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
