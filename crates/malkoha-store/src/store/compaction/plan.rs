//! Decides, for each record of a file that is rewritten, whether it is kept.

use crate::error::Result;
use crate::locate::locate;
use crate::log::{Content, Key, Kind, LogFile, Record};
use crate::store::Inner;
use crate::store::read::is_alive;

/// The decision about a record.
pub(super) enum Fate {
    /// Dropped: it is replaced, or hides nothing.
    Gone,
    /// Dropped, and its key leaves the index: it has ended, and hides nothing.
    Ended,
    /// Copied.
    Put,
    /// Replaced by a tombstone of this origin for the older records, unless the key has a younger
    /// record.
    Tombstone(u64),
}

impl Inner {
    /// Decides about a record, if the oldest other file begins with the sequence number `oldest`.
    pub(super) fn fate(
        &self,
        record: &Record<'_>,
        (hash, location): (u64, u64),
        sequence: u64,
        oldest: Option<u64>,
    ) -> Fate {
        let origin = record.origin().unwrap_or(sequence);
        let older_exists = oldest.is_some_and(|first| first < origin);
        match record.head.kind {
            Kind::Put if !self.index.has(hash, location) => Fate::Gone,
            Kind::Put if is_alive(record) => Fate::Put,
            // An older record of the key must not reappear.
            Kind::Put | Kind::Delete if older_exists => Fate::Tombstone(origin),
            Kind::Put => Fate::Ended,
            Kind::Delete | Kind::Seal | Kind::Mark => Fate::Gone,
        }
    }

    /// Whether a key has a younger record than its tombstones, which hides the older ones as well.
    pub(super) fn lives(&self, hash: u64, key: Key<'_>) -> Result<bool> {
        Ok(locate(&self.index, &self.files.load(), hash, key)?.is_some())
    }

    /// The most bytes that rewriting a file still takes if its copy already has tombstones of these
    /// origins.
    pub(super) fn rest_of_copy(&self, file: &LogFile, origins: &[u64]) -> u64 {
        let (oldest, mut rest) = (self.oldest_other(file, &[]), 0);
        // Rewriting the file reports damage.
        for (record, offset, sequence) in file.records(file.end()).flatten() {
            let place = (record.key().hash(&self.hasher), file.location(offset));
            rest += match self.fate(&record, place, sequence, oldest) {
                Fate::Put => record.bytes(),
                Fate::Tombstone(origin) if origins.binary_search(&origin).is_err() => {
                    Content::delete(record.key(), Some(origin)).shape().bytes()
                }
                Fate::Tombstone(_) | Fate::Ended | Fate::Gone => 0,
            };
        }
        rest
    }
}
