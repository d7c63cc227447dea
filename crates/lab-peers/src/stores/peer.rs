//! The operations of a store.

use std::hint::black_box;
use std::path::Path;

use anyhow::Result;

use crate::items::Key;

/// A store that is open. Keys are numbers until a store gets them, see [`crate::items`].
pub(crate) trait Peer: Sync {
    /// Puts the records of these numbers in one transaction; `durable`: it is on the device when
    /// this returns.
    fn put(&self, numbers: &[u64], durable: bool) -> Result<()>;

    /// Looks the keys up one by one; the number of those that are there.
    fn get(&self, keys: &[Key]) -> Result<u64>;

    /// Looks the keys up all at once, if the store can do so.
    fn get_many(&self, _keys: &[Key]) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Reads all keys with a prefix in order; how many there are, if the store can do so.
    fn scan(&self, _prefix: &[u8]) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Removes the keys in one transaction.
    fn delete(&self, keys: &[Key]) -> Result<()>;

    /// Gives space back; answers whether the store can do so while it is open.
    fn compact(&mut self) -> Result<bool>;

    /// Bytes of the index in memory, and of what keeps keys in order, where the store tells.
    fn index_bytes(&self) -> Option<u64> {
        None
    }
}

/// The number of keys that `get` finds. It reads a byte of each value.
pub(crate) fn found(keys: &[Key], get: impl FnMut(&Key) -> Result<Option<u8>>) -> Result<u64> {
    read(keys.iter().map(get).filter_map(Result::transpose))
}

/// The number of values, of each of which a byte is read.
pub(crate) fn read(values: impl Iterator<Item = Result<u8>>) -> Result<u64> {
    let mut count = 0;
    for value in values {
        black_box(value?);
        count += 1;
    }
    Ok(count)
}

/// A kind of store.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) opener: Opener,
    /// Bytes that its cache may have, if it has one.
    pub(crate) cache: usize,
}

/// Opens a store of a level and with a cache of this many bytes.
type Opener = fn(&Path, Level, usize) -> Result<Box<dyn Peer>>;

impl Kind {
    /// Opens the store in a directory that is there; makes it if need be.
    pub(crate) fn open(&self, path: &Path, level: Level) -> Result<Box<dyn Peer>> {
        (self.opener)(path, level, self.cache)
    }
}

/// Whether transactions of this opening will be asked to be durable: some stores want to know
/// beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Durable,
    Relaxed,
    /// As `Relaxed`, and the store compacts by itself if it can.
    Busy,
}
