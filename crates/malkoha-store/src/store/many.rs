//! Looking up many keys at once.

use std::sync::Arc;

use super::read::is_alive;
use super::{Inner, Store};
use crate::error::Result;
use crate::locate::{Located, locate_among};
use crate::log::{Key, LogFiles};

/// Keys in progress at a time: enough that each lock of a part serves many of them.
const CHUNK: usize = 4096;
/// Records in progress at a time.
const AHEAD: usize = 32;
/// Keys whose records are requested at a time, if they are not in memory.
const STRETCH: usize = 256;
/// No location.
const NONE: u64 = u64::MAX;

impl Store {
    /// Looks up many keys: calls `each(position of the key, its value)` once for every key, in
    /// order. This is several times as fast as one by one, because the memory of the index, and
    /// then that of the records, is prefetched for many keys.
    ///
    /// It sees all of a batch or nothing. Batches wait during the lookup in the index, some 50 ns
    /// per key. It takes 16 bytes of memory per key.
    ///
    /// ```
    /// # use malkoha_store::{Options, Store};
    /// # let directory = tempfile::tempdir()?;
    /// # let store = Store::open(directory.path(), &Options::new())?;
    /// store.put(b"koel", b"Eudynamys")?;
    /// let mut found = Vec::new();
    /// store.get_many(&[b"koel", b"kiwi"], |_, value| found.push(value.map(<[u8]>::to_vec)))?;
    /// assert_eq!(found, [Some(b"Eudynamys".to_vec()), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a record is damaged or cannot be read; `each` was called for the keys before it, and
    /// perhaps for it.
    pub fn get_many<K: AsRef<[u8]>>(
        &self,
        keys: &[K],
        each: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        self.main().get_many(keys, each)
    }
}

impl Inner {
    /// The same for the keys of a table.
    pub(super) fn get_many<K: AsRef<[u8]>>(
        &self,
        number_of_table: u32,
        keys: &[K],
        mut each: impl FnMut(usize, Option<&[u8]>),
    ) -> Result<()> {
        let of_table = |name| Key { table: number_of_table, name };
        let found = self.find_chunks(keys, of_table);
        for (number, (keys, (files, found))) in keys.chunks(CHUNK).zip(&found).enumerate() {
            found.first.iter().take(AHEAD).for_each(|&location| files.prefetch(location));
            let mut read = |i: usize| {
                if let Some(&location) = found.first.get(i + AHEAD) {
                    files.prefetch(location);
                }
                let key = of_table(keys[i].as_ref());
                let location = found.first[i];
                if let Some(file) = files.at(location)
                    && let Some(value) = file.plain_value(location, key)
                {
                    each(number * CHUNK + i, Some(value));
                    return file.check_read(location);
                }
                let record = found.locate(i, files, key)?;
                let alive = record.as_ref().filter(|found| is_alive(&found.record));
                let value = alive.map(Located::value).transpose()?;
                each(number * CHUNK + i, value.as_deref());
                alive.map_or(Ok(()), |found| found.file.check_read(found.location))
            };
            for begin in (0..keys.len()).step_by(STRETCH) {
                let mut stretch = begin..keys.len().min(begin + STRETCH);
                let locations = &found.first[stretch.clone()];
                let ask = || locations.iter().for_each(|&location| files.will_need(location));
                self.readahead.read(locations.len(), ask, || stretch.try_for_each(&mut read))?;
            }
        }
        Ok(())
    }
}

/// The locations of each key of a chunk.
#[derive(Default)]
struct Found {
    /// One each.
    first: Vec<u64>,
    /// The few further ones, with the positions of their keys.
    further: Vec<(usize, u64)>,
}

impl Found {
    fn reset(&mut self, keys: usize) {
        self.first.clear();
        self.first.resize(keys, NONE);
        self.further.clear();
    }

    #[inline]
    fn push(&mut self, i: usize, location: u64) {
        if self.first[i] == NONE {
            self.first[i] = location;
        } else {
            self.further.push((i, location));
        }
    }

    #[inline(always)]
    fn locate<'t>(
        &self,
        i: usize,
        files: &'t LogFiles,
        key: Key<'_>,
    ) -> Result<Option<Located<'t>>> {
        if self.first[i] == NONE {
            return Ok(None);
        }
        let first = locate_among([self.first[i]], files, key)?;
        if first.is_some() || self.further.is_empty() {
            return Ok(first);
        }
        let further = self.further.iter().filter(|(of, _)| *of == i);
        locate_among(further.map(|(_, location)| *location), files, key)
    }
}

impl Inner {
    /// The locations of all keys, as they are between two batches, chunk by chunk. The records do
    /// not change, so they are read later.
    fn find_chunks<'k, K: AsRef<[u8]>>(
        &self,
        keys: &'k [K],
        of_table: impl Fn(&'k [u8]) -> Key<'k>,
    ) -> Vec<(Arc<LogFiles>, Found)> {
        let mut hashes = Vec::with_capacity(CHUNK.min(keys.len()));
        let _no_part_of_a_batch = self.showing.read();
        let find = |keys: &'k [K]| {
            hashes.clear();
            hashes.extend(keys.iter().map(|key| of_table(key.as_ref()).hash(&self.hasher)));
            self.find_many(&hashes)
        };
        keys.chunks(CHUNK).map(find).collect()
    }

    /// The locations of many hashes, and the files that they lie in.
    fn find_many(&self, hashes: &[u64]) -> (Arc<LogFiles>, Found) {
        let mut found = Found::default();
        loop {
            let files = self.files.load_full();
            found.reset(hashes.len());
            self.index.find_many(hashes, |i, location| found.push(i, location));
            // If these are still the current files, they were so all the time, and have all these
            // locations.
            if Arc::ptr_eq(&files, &self.files.load()) {
                return (files, found);
            }
        }
    }
}
