//! Decides, for each record of a file that is rewritten, whether it is kept.

use crate::error::Result;
use crate::locate::locate;
use crate::log::{Content, Key, Kind, LogFile, Record};
use crate::store::Inner;
use crate::store::read::is_alive;

/// The decision about a record.
pub(super) enum Decision {
    /// It is replaced, or hides nothing.
    Drop,
    /// It has ended, and hides nothing: its key leaves the index.
    DropKey,
    /// It is copied.
    Keep,
    /// A tombstone of this origin replaces it, for the older records, unless the key has a younger
    /// record.
    Tombstone(u64),
}

impl Inner {
    /// Decides about a record, if the oldest other file begins with the sequence number `oldest`.
    pub(super) fn decide(
        &self,
        record: &Record<'_>,
        hash: u64,
        location: u64,
        sequence: u64,
        oldest: Option<u64>,
    ) -> Decision {
        let origin = record.origin().unwrap_or(sequence);
        let older_exists = oldest.is_some_and(|first| first < origin);
        match record.head.kind {
            Kind::Put if !self.index.has(hash, location) => Decision::Drop,
            Kind::Put if is_alive(record) => Decision::Keep,
            // An older record of the key must not reappear.
            Kind::Put | Kind::Delete if older_exists => Decision::Tombstone(origin),
            Kind::Put => Decision::DropKey,
            Kind::Delete | Kind::Seal | Kind::Mark => Decision::Drop,
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
            let (hash, location) = (record.key().hash(&self.hasher), file.location(offset));
            rest += match self.decide(&record, hash, location, sequence, oldest) {
                Decision::Keep => record.bytes(),
                Decision::Tombstone(origin) if origins.binary_search(&origin).is_err() => {
                    Content::delete(record.key(), Some(origin)).shape().bytes()
                }
                Decision::Tombstone(_) | Decision::DropKey | Decision::Drop => 0,
            };
        }
        rest
    }
}
