//! How a store is opened.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::log::{MAX_FILE_BYTES, MIN_FILE_BYTES};

/// When a write is safe from a power cut. A crash of only the process loses no acknowledged write,
/// at any level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Before the call returns. Threads that write at the same time share one sync. A crash of the
    /// machine loses no acknowledged write.
    Always,
    /// Not later than this, by a thread of the store. The time must not be zero. A crash of the
    /// machine can lose the writes of that time: always the latest ones, never some in the middle.
    Every(Duration),
    /// When the system writes back, usually about 30 seconds later, or at
    /// [`sync`](crate::Store::sync), [`checkpoint`](crate::Store::checkpoint) and closing. A crash
    /// of the machine can lose all writes since then: always the latest ones.
    System,
}

/// How new values are stored. Each record says how its value is stored, so all values can be read
/// with any choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// As they are.
    #[default]
    None,
    /// Values of 64 bytes or more as an LZ4 block each, if that saves at least an eighth of the
    /// value. Each read decompresses the value into memory.
    Lz4,
}

/// Options for opening a store. The store keeps only the seed, and whether keys are in order.
#[derive(Clone, Debug)]
#[must_use]
pub struct Options {
    pub(crate) durability: Durability,
    pub(crate) file_bytes: u64,
    pub(crate) background: bool,
    pub(crate) compact_share: f64,
    pub(crate) compact_rate: u64,
    pub(crate) log_ratio: f64,
    pub(crate) checkpoint_bytes: u64,
    pub(crate) compression: Compression,
    pub(crate) create: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) ordered: Option<bool>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::Every(Duration::from_millis(200)),
            file_bytes: 64 << 20,
            background: true,
            compact_share: 0.4,
            compact_rate: 64 << 20,
            log_ratio: 1.4,
            checkpoint_bytes: 1 << 30,
            compression: Compression::None,
            create: true,
            seed: None,
            ordered: None,
        }
    }
}

impl Options {
    /// Synced every 200 ms, files of 64 MiB, compaction in the background.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets when writes are safe from a power cut.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the size of a full log file in bytes, 4 KiB to 8 GiB. A record that needs more gets its
    /// own file.
    pub fn file_bytes(mut self, bytes: u64) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// Sets whether threads of the store compact, write checkpoints, sync and prepare memory for
    /// writes. Without them [`Durability::Every`] means [`Durability::System`].
    pub fn background(mut self, on: bool) -> Self {
        self.background = on;
        self
    }

    /// Sets the share of dead bytes, above 0 and at most 1, from which the background thread
    /// rewrites a file.
    pub fn compact_share(mut self, share: f64) -> Self {
        self.compact_share = share;
        self
    }

    /// Sets the largest number of bytes per second that the background thread reads in compaction,
    /// unless writes wait for it: see [`log_ratio`](Self::log_ratio).
    pub fn compact_rate(mut self, bytes_per_second: u64) -> Self {
        self.compact_rate = bytes_per_second;
        self
    }

    /// Sets how many bytes the log may take per byte of its live records, plus 4 MiB. The default
    /// is 1.4, the minimum 1.2. Near the limit writes slow down, and at the limit they wait until
    /// compaction has freed enough. Checkpoints of 6 to 7 bytes per key come on top; while one is
    /// written there are two. Applies only if the store has background threads.
    pub fn log_ratio(mut self, ratio: f64) -> Self {
        self.log_ratio = ratio;
        self
    }

    /// Sets the bytes of log between two checkpoints of the background thread. Opening after a
    /// crash reads that much.
    pub fn checkpoint_bytes(mut self, bytes: u64) -> Self {
        self.checkpoint_bytes = bytes;
        self
    }

    /// Sets whether new values are compressed. The default is no.
    pub fn compression(mut self, compression: Compression) -> Self {
        self.compression = compression;
        self
    }

    /// Sets whether to create the store if there is none.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets the seed of the hash of a new store, which is XXH3-64. The default is random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets whether the keys of the store itself are kept in order, so that iteration,
    /// [`prefix`](crate::Snapshot::prefix) and [`range`](crate::Snapshot::range) of a snapshot read
    /// only what they return. A new store is without order by default, and an existing one is as it
    /// was made: opening it with the other choice is an error.
    /// [`ordered_table`](crate::Store::ordered_table) is the same for a table.
    ///
    /// Order takes 12 bytes of memory and on the device per record. Puts do nothing for it: the
    /// thread that compacts sorts full files, and so does closing.
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = Some(ordered);
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        if !(MIN_FILE_BYTES..=MAX_FILE_BYTES).contains(&self.file_bytes) {
            return Err(Error::Option("log files have 4 KiB to 8 GiB"));
        }
        if !(self.compact_share > 0.0 && self.compact_share <= 1.0) {
            return Err(Error::Option("the share of dead bytes is above 0 and at most 1"));
        }
        if self.durability == Durability::Every(Duration::ZERO) {
            return Err(Error::Option(
                "between two syncs is some time: without any, it is 'Always'",
            ));
        }
        if self.log_ratio.is_nan() || self.log_ratio < 1.2 {
            return Err(Error::Option(
                "the log needs at least 1.2 bytes for each byte of its live records",
            ));
        }
        if self.compact_rate == 0 {
            return Err(Error::Option("the rate of compaction is at least one byte a second"));
        }
        Ok(())
    }
}
