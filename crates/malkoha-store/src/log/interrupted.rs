//! What the interrupted copy of a file already has. Puts that were copied are dead; this is about
//! tombstones, of which no index knows where the present one is.

use std::sync::OnceLock;

use super::file::LogFile;
use super::header::HEADER_BYTES;
use super::record::{Kind, Record};
use super::scan::{Scan, Step};

/// Tombstones of a file that its copy already has.
#[derive(Default)]
pub(super) struct Copied(OnceLock<Box<Noted>>);

#[derive(Default)]
struct Noted {
    /// The sequence numbers that they had at first, in order. No two tombstones share one.
    origins: Vec<u64>,
    /// Their bytes.
    bytes: u64,
}

impl Copied {
    pub(super) fn bytes(&self) -> u64 {
        self.0.get().map_or(0, |noted| noted.bytes)
    }
}

impl LogFile {
    /// The sequence numbers that its copies of tombstones had at first, in order.
    pub(crate) fn origins(&self) -> Vec<u64> {
        let mut origins = Vec::new();
        self.each_tombstone(|record, _| origins.extend(record.origin()));
        origins.sort_unstable();
        origins
    }

    /// Notes, once, which tombstones of this file are among those of these origins.
    pub(crate) fn note_copied(&self, origins: &[u64]) {
        let mut noted = Noted::default();
        self.each_tombstone(|record, sequence| {
            let origin = record.origin().unwrap_or(sequence);
            if origins.binary_search(&origin).is_ok() {
                noted.origins.push(origin);
                noted.bytes += record.bytes();
            }
        });
        noted.origins.sort_unstable();
        let _ = self.usage.copied.0.set(Box::new(noted));
    }

    /// Whether a tombstone of this origin was noted.
    pub(crate) fn is_copied(&self, origin: u64) -> bool {
        let noted = self.usage.copied.0.get();
        noted.is_some_and(|noted| noted.origins.binary_search(&origin).is_ok())
    }

    fn each_tombstone(&self, mut each: impl FnMut(&Record<'_>, u64)) {
        let first = self.header.first_sequence;
        let mut scan = Scan::new(self, HEADER_BYTES as u64, first, self.end());
        while let Step::Record(record, _, sequence) = scan.step() {
            if record.head.kind == Kind::Delete {
                each(&record, sequence);
            }
        }
    }
}
