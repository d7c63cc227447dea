//! The store as it was at one moment.

use std::borrow::Cow;
use std::ops::RangeBounds;
use std::sync::Arc;

use malkoha::KeyHasher;

use super::tables::Tables;
use super::{Entries, Store, now};
use crate::error::Result;
use crate::index::IndexSnapshot;
use crate::locate::{Located, locate_among};
use crate::log::{Key, Kind, LogFile, LogFiles, Record};
use crate::storage::Storage;

/// The store as it was when the snapshot was taken, whatever is written, deleted or compacted
/// since. It keeps the files of that moment, and so their space, until it is dropped.
pub struct Snapshot {
    files: Arc<LogFiles>,
    pub(super) index: IndexSnapshot,
    pub(super) hasher: KeyHasher,
    pub(super) tables: Arc<Tables>,
    pub(super) storage: Arc<dyn Storage>,
    /// Ends of the files.
    ends: Vec<u64>,
    time: u64,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry<'a> {
    /// The key, where it lies in the log.
    pub key: Cow<'a, [u8]>,
    /// Its value, where it lies in the log, or decompressed.
    pub value: Cow<'a, [u8]>,
}

impl Store {
    /// The store as it is now. Copies nothing: the snapshot and the store share the parts of the
    /// index until they change.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let writer = self.inner.writer.as_ref().map(|writer| writer.lock());
        let files = self.inner.files.load_full();
        let snapshot = Snapshot {
            ends: files.all().iter().map(|file| file.end()).collect(),
            files,
            index: self.inner.index.snapshot(),
            hasher: self.inner.hasher,
            tables: self.inner.tables.load_full(),
            storage: Arc::clone(&self.inner.storage),
            time: now(),
        };
        drop(writer);
        snapshot
    }
}

impl Snapshot {
    /// The value that a key had.
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Cow<'_, [u8]>>> {
        self.main().get(key)
    }

    pub(super) fn find(&self, key: Key<'_>) -> Result<Option<Located<'_>>> {
        let Some(candidates) = self.index.find(key.hash(&self.hasher)) else { return Ok(None) };
        let found = locate_among(candidates.as_slice().iter().copied(), &self.files, key)?;
        let is_alive = |end: Option<u64>| end.is_none_or(|end| end > self.time);
        Ok(found.filter(|found| is_alive(found.record.expires())))
    }

    /// Keys that had a value, as [`Store::len`].
    #[must_use]
    pub fn len(&self) -> u64 {
        self.index.len().saturating_sub(self.tables.in_index())
    }

    /// The number of keys of the store itself, as [`Store::main_len`].
    #[must_use]
    pub fn main_len(&self) -> Option<u64> {
        (!self.tables.have_keys()).then(|| self.len())
    }

    /// Whether no key had a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All keys of the store itself with their values: by key if they are [kept in
    /// order](crate::Options::ordered), otherwise in the order of the log, by sequential reads with
    /// one lookup in the index for each record. Each damaged or unreadable place is one error, and
    /// reading continues behind it.
    pub fn iter(&self) -> Entries<'_> {
        self.main().iter()
    }

    /// The keys that begin with these bytes, with their values, sorted by key. Uncompressed values
    /// are not copied.
    ///
    /// If the keys are [kept in order](crate::Options::ordered), this reads what it returns as the
    /// iterator advances. Otherwise it first reads the whole log, as [`iter`](Self::iter) does, at
    /// some GB/s in memory, and takes 40 bytes of memory per key found.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// for name in ["malkoha/red", "koel/asian", "malkoha/black"] {
    ///     store.put(name.as_bytes(), b"")?;
    /// }
    /// let snapshot = store.snapshot();
    /// let mut found = Vec::new();
    /// for entry in snapshot.prefix(b"malkoha/")? {
    ///     found.push(entry?.key);
    /// }
    /// assert_eq!(found, [&b"malkoha/black"[..], b"malkoha/red"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a record is damaged or cannot be read.
    pub fn prefix(&self, prefix: &[u8]) -> Result<Entries<'_>> {
        self.main().prefix(prefix)
    }

    /// The keys in a range, with their values, sorted by key. The cost is that of
    /// [`prefix`](Self::prefix).
    ///
    /// # Errors
    ///
    /// If a record is damaged or cannot be read.
    pub fn range(&self, keys: impl RangeBounds<[u8]>) -> Result<Entries<'_>> {
        self.main().range(keys)
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&Arc<LogFile>, u64)> {
        self.files.all().iter().zip(self.ends.iter().copied())
    }

    /// Whether a record at this location, of this hash, was the current one of its key and had not
    /// ended.
    pub(super) fn shows(&self, record: &Record<'_>, hash: u64, location: u64) -> bool {
        record.expires().is_none_or(|end| end > self.time) && self.index.has(hash, location)
    }

    /// Whether the record at this location was the current one of its key.
    pub(super) fn is_present(&self, key: Key<'_>, location: u64) -> bool {
        self.index.has(key.hash(&self.hasher), location)
    }

    /// The present records of some tables in one file, which ended there. Each damaged or
    /// unreadable place is one error; reading continues behind it.
    pub(super) fn records_of<'a>(
        &'a self,
        file: &'a Arc<LogFile>,
        end: u64,
        wanted: impl Fn(u32) -> bool,
    ) -> impl Iterator<Item = Result<Located<'a>>> {
        file.records(end).filter_map(move |found| {
            let (record, offset, _) = match found {
                Ok(found) => found,
                Err(offset) => return Some(Err(file.no_record(offset))),
            };
            let location = file.location(offset);
            let live = record.head.kind == Kind::Put
                && wanted(record.key().table)
                && self.shows(&record, record.key().hash(&self.hasher), location);
            if live {
                return Some(Ok(Located { location, file, record }));
            }
            // A page lost meanwhile reads as zeros, so the key might be wrong.
            file.check_read(location).err().map(Err)
        })
    }
}
