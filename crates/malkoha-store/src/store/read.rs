//! Looking up one key.

use super::{Inner, Store, now};
use crate::error::Result;
use crate::locate::{Located, locate_among};
use crate::log::{Key, LogFiles, Record};

impl Store {
    /// The value of a key.
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.get_with(key, <[u8]>::to_vec)
    }

    /// Calls `with` with the value of a key, and returns the result. The value is read in place,
    /// without a copy, unless it is compressed.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// store.put(b"koel", b"Eudynamys")?;
    /// assert_eq!(store.get_with(b"koel", |value| value.len())?, Some(9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the record is damaged, or cannot be read. The device may fail while `with` reads the
    /// value, which then sees zeros. Its result is dropped.
    #[inline]
    pub fn get_with<T>(&self, key: &[u8], with: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        self.inner.find(Key::main(key), true, with)
    }

    /// Whether a key has a value.
    ///
    /// # Errors
    ///
    /// If the record is damaged.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        Ok(self.inner.find(Key::main(key), false, |_| ())?.is_some())
    }

    /// The number of keys that have a value, in all tables together. Keys whose time is over count
    /// until compaction meets them.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.inner.keys()
    }

    /// The number of keys of the store itself, if it is known without reading the log: as long as
    /// there are no tables, nor anything that a [removed](Self::remove_table) one has left.
    #[must_use]
    pub fn main_len(&self) -> Option<u64> {
        let len = self.len();
        (!self.inner.tables.load().have_keys()).then_some(len)
    }

    /// Whether no key has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Inner {
    /// The number of keys that have a value.
    pub(super) fn keys(&self) -> u64 {
        self.index.len().saturating_sub(self.tables.load().in_index())
    }

    /// Calls `with` with the value of a key. Only if `reads`, a compressed value is decompressed;
    /// otherwise `with` may get an empty one.
    #[inline(always)]
    pub(super) fn find<T>(
        &self,
        key: Key<'_>,
        reads: bool,
        with: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>> {
        let hash = key.hash(&self.hasher);
        // The files are read while the locations cannot change, so they have these.
        let Some((candidates, files)) = self.index.find(hash, || self.files.load()) else {
            return Ok(None);
        };
        let candidates = candidates.as_slice();
        if let &[location] = candidates
            && let Some(file) = files.at(location)
            && let Some(value) = file.plain_value(location, key)
        {
            let made = with(value);
            file.check_read(location)?;
            return Ok(Some(made));
        }
        let Some(found) = find_any(candidates, &files, key)? else { return Ok(None) };
        let made = if reads { with(&found.value()?) } else { with(&[]) };
        found.file.check_read(found.location)?;
        Ok(Some(made))
    }
}

/// The record of a key that has not ended.
#[inline(never)]
fn find_any<'t>(
    candidates: &[u64],
    files: &'t LogFiles,
    key: Key<'_>,
) -> Result<Option<Located<'t>>> {
    // Loads the lines of all records together, not one after the other.
    candidates.iter().for_each(|&location| files.prefetch(location));
    let found = locate_among(candidates.iter().copied(), files, key)?;
    Ok(found.filter(|found| is_alive(&found.record)))
}

/// Whether a record has not ended.
#[inline(always)]
pub(super) fn is_alive(record: &Record<'_>) -> bool {
    record.expires().is_none_or(|end| end > now())
}
