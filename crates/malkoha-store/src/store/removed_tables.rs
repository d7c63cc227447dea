//! Removes tables, and deletes the keys of those that are removed.

use std::sync::Arc;

use super::Store;
use super::swap::Expected;
use super::tables::Tables;
use crate::error::{Error, Result};
use crate::log::{Content, Key};

/// Bytes of keys that are found before they are deleted.
const TOGETHER: usize = 8 << 20;
/// Keys that are deleted by one batch, at most.
const BATCH: usize = 1 << 15;
/// Keys of a batch for which a full device more likely has room.
const SMALL_BATCH: usize = 1 << 6;

impl Store {
    /// Removes a table with all of its keys; returns whether it was there. The table is gone at
    /// once, except in snapshots. Then its keys are deleted: this reads the whole log, and writes a
    /// tombstone of 20 bytes and the key for each. If that ends early, it is continued when a table
    /// of this name is made, another one is removed, or the store is compacted.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if a record of the log cannot be read. Then all readable keys are
    /// deleted, and a table of this name can be made again after a [repair](Self::repair). Unless
    /// the first write failed, the table is gone nevertheless, and only its space is not.
    pub fn remove_table(&self, name: &str) -> Result<bool> {
        let _one_at_a_time = self.inner.listing.lock();
        let before = self.inner.tables.load_full();
        if before.number(name).is_none() {
            return Ok(false);
        }
        let tables = before.removing(name);
        {
            // Writers check this while nobody else writes, so no later write belongs to the table.
            let _writer = self.inner.writer()?;
            self.inner.tables.store(Arc::new(tables.clone()));
        }
        self.write_list(&tables).inspect_err(|_| self.inner.tables.store(before))?;
        self.delete_keys_of_removed()?;
        Ok(true)
    }

    /// Deletes the keys that removed tables still have.
    pub(super) fn delete_removed_tables(&self) -> Result<()> {
        if !self.inner.tables.load().has_removed() {
            return Ok(());
        }
        let _one_at_a_time = self.inner.listing.lock();
        self.delete_keys_of_removed()
    }

    /// The same. The caller has locked the list of tables.
    pub(super) fn delete_keys_of_removed(&self) -> Result<()> {
        let tables = self.inner.tables.load_full();
        // By then, writes that began before the removal are visible, or abandoned.
        drop(self.inner.turn()?);
        let (mut failed, mut next) = (None, Some(0));
        while let Some(from) = next {
            let found;
            (found, next) = self.keys_of_removed(&tables, from, &mut failed);
            self.delete_all(&found)?;
        }
        if let Some(error) = failed {
            return Err(error);
        }
        let tables = tables.without_removed();
        self.write_list(&tables)?;
        self.inner.tables.store(Arc::new(tables));
        Ok(())
    }

    /// Some keys of removed tables, from the file of this number on, and the number of the file to
    /// continue with, if these are not all. The snapshot ends before the keys are deleted: on a
    /// full device, it would keep the room of files that compaction removes.
    fn keys_of_removed(
        &self,
        tables: &Tables,
        from: u64,
        failed: &mut Option<Error>,
    ) -> (Vec<(u32, Vec<u8>)>, Option<u64>) {
        let snapshot = self.snapshot();
        let (mut found, mut bytes) = (Vec::new(), 0);
        for (file, end) in snapshot.files().filter(|(file, _)| file.id() >= from) {
            for record in snapshot.records_of(file, end, |number| tables.is_removed(number)) {
                match record {
                    Ok(record) => {
                        let key = record.record.key();
                        bytes += key.name.len() + 20;
                        found.push((key.table, key.name.to_vec()));
                    }
                    // It may belong to a removed table: its other keys are deleted, and the table
                    // stays removed.
                    Err(error) => {
                        failed.get_or_insert(error);
                    }
                }
                if bytes >= TOGETHER {
                    // Deleted keys are not found again there.
                    return (found, Some(file.id()));
                }
            }
        }
        (found, None)
    }

    fn delete_all(&self, keys: &[(u32, Vec<u8>)]) -> Result<()> {
        let keys = keys.iter().map(|(table, name)| Key { table: *table, name });
        let contents: Vec<_> = keys.map(|key| Content::delete(key, None)).collect();
        contents.chunks(BATCH).try_for_each(|batch| self.delete_in_parts(batch))
    }

    /// A full device has room for some tombstones, and these make room for others.
    fn delete_in_parts(&self, contents: &[Content<'_>]) -> Result<()> {
        let mut existed = vec![false; contents.len()];
        match self.write_all(contents, Expected::Anything, &mut existed) {
            Err(Error::NoSpace { .. }) if contents.len() > 1 => {
                let part = if contents.len() > SMALL_BATCH { SMALL_BATCH } else { 1 };
                contents.chunks(part).try_for_each(|part| self.delete_in_parts(part))
            }
            done => done.map(drop),
        }
    }
}
