//! Sizes.

use super::{Inner, Store};

/// Sizes of a store, in bytes unless said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Keys that have a value; a number.
    pub keys: u64,
    /// Log files; a number.
    pub files: u64,
    /// Written in log files.
    pub log_bytes: u64,
    /// Of these: records that were overwritten or deleted.
    pub dead_bytes: u64,
    /// Of these: tombstones.
    pub tombstone_bytes: u64,
    /// Taken by log files, what is reserved for the last one included.
    pub reserved_bytes: u64,
    /// The index, in memory.
    pub index_bytes: u64,
}

impl Store {
    /// Sizes.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

impl Inner {
    pub(super) fn stats(&self) -> Stats {
        let table = self.files.load();
        let mut stats = Stats {
            keys: self.keys(),
            files: table.files().len() as u64,
            index_bytes: self.index.size_in_bytes(),
            ..Stats::default()
        };
        let last = table.files().last().map(|file| file.id());
        for file in table.files() {
            stats.log_bytes += file.end();
            stats.dead_bytes += file.dead();
            stats.tombstone_bytes += file.tombstones();
            let is_last = Some(file.id()) == last;
            stats.reserved_bytes += if is_last { file.capacity() } else { file.least() };
        }
        stats
    }
}
