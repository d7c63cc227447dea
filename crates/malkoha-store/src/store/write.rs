//! Writing: into the log first, then into the index.

use std::sync::Arc;
use std::time::Duration;

use super::batch::Batch;
use super::read::is_alive;
use super::swap::{Expected, Swap};
use super::{Inner, Store};
use crate::error::{Error, Result};
use crate::locate::{Located, locate};
use crate::log::{Content, Kind, LogFile, MAX_KEY, MAX_VALUE, Writer, pack};
use crate::options::{Compression, Durability};

impl Store {
    /// Sets the value of a key, and replaces the one it has.
    ///
    /// # Errors
    ///
    /// If key or value is too long, the device is full, a sync failed earlier, or the store is
    /// read-only. Nothing has changed then, unless the sync of this call failed.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        self.main().put(key, value)
    }

    /// Sets the value of a key for a limited time, to the millisecond. Compaction then frees its
    /// space.
    /// The errors are those of [`put`](Self::put).
    pub fn put_for(&self, key: &[u8], value: &[u8], time: Duration) -> Result<()> {
        self.main().put_for(key, value, time)
    }

    /// Removes a key, and returns whether it was there. If not, nothing is written.
    /// The errors are those of [`put`](Self::put).
    pub fn delete(&self, key: &[u8]) -> Result<bool> {
        self.main().delete(key)
    }

    /// Applies a batch. Returns for each of its writes whether its key had a value before the
    /// batch.
    ///
    /// After a crash, either all of it is there or nothing. Other threads see all or nothing of it
    /// with [`get_many`](Self::get_many) and in a [snapshot](Self::snapshot). With several calls of
    /// [`get`](Self::get) they may see one key before the batch and the next after it.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if the batch takes more than 8 GiB, or names a table that does
    /// not exist.
    pub fn apply(&self, batch: &Batch) -> Result<Vec<bool>> {
        let contents = batch.contents(&self.inner.tables.load())?;
        let packed: Vec<_> = contents.iter().map(|content| self.inner.pack(content)).collect();
        let contents =
            contents.iter().zip(&packed).map(|(it, packed)| it.packed(packed.as_deref()));
        let contents: Vec<_> = contents.collect();
        let mut existed = vec![false; contents.len()];
        self.write_all(&contents, Expected::Anything, &mut existed)?;
        Ok(existed)
    }

    /// Writes the records of one batch, if the key of the first has the expected value. Sets in
    /// `existed`, for each, whether its key had a value before.
    pub(super) fn write_all(
        &self,
        contents: &[Content<'_>],
        expected: Expected<'_>,
        existed: &mut [bool],
    ) -> Result<Swap> {
        let deletes = contents.iter().all(Content::removes);
        let bytes = contents.iter().map(|content| content.shape().bytes()).sum();
        self.inner.with_room(bytes, deletes, || match contents {
            [] => Ok(Swap::Done),
            [one] if self.inner.options.durability != Durability::Always => {
                self.inner.write_single(&mut *self.inner.writer()?, one, expected, &mut existed[0])
            }
            several => self.inner.write(several, expected, existed),
        })
    }

    /// Makes everything that was written durable.
    ///
    /// # Errors
    ///
    /// If the system cannot. This ends writing to the store.
    pub fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    /// Writes one record, if its key has the expected value. Also returns whether it had a value
    /// before.
    pub(super) fn write_one(
        &self,
        content: Content<'_>,
        expected: Expected<'_>,
    ) -> Result<(Swap, bool)> {
        check(content.key.name, content.value)?;
        let packed = self.inner.pack(&content);
        let mut existed = [false];
        let swap = self.write_all(&[content.packed(packed.as_deref())], expected, &mut existed)?;
        Ok((swap, existed[0]))
    }
}

/// Whether a key and a value can be stored.
pub(super) fn check(key: &[u8], value: &[u8]) -> Result<()> {
    if key.len() > MAX_KEY {
        return Err(Error::KeyTooLong(key.len()));
    }
    if value.len() > MAX_VALUE {
        return Err(Error::ValueTooLong(value.len()));
    }
    Ok(())
}

impl Inner {
    /// The compressed value of a put, if values are to be compressed and it saves enough.
    fn pack(&self, content: &Content<'_>) -> Option<Vec<u8>> {
        let wanted = self.options.compression == Compression::Lz4 && content.kind == Kind::Put;
        if wanted { pack(content.value) } else { None }
    }

    /// Writes records together, if the key of the first has the expected value. If every write is
    /// to be durable, they are synced before anybody finds them, and a single delete of a key
    /// without a value writes nothing.
    fn write(
        &self,
        contents: &[Content<'_>],
        expected: Expected<'_>,
        existed: &mut [bool],
    ) -> Result<Swap> {
        let hashes: Vec<u64> = contents.iter().map(|it| it.key.hash(&self.hasher)).collect();
        hashes.iter().for_each(|&hash| self.index.prefetch(hash));
        let is_durable = self.options.durability == Durability::Always;
        let _claim = is_durable.then(|| self.uncommitted.claim(&hashes));
        let mut writer = self.writer()?;
        self.check_tables(contents)?;
        // Unreadable bytes are found before anything is written.
        let files = self.files.load();
        let mut refused = None;
        for (i, (content, &hash)) in contents.iter().zip(&hashes).enumerate() {
            let old = locate(&self.index, &files, hash, content.key)?;
            if i == 0 {
                refused = expected.refuses(old.as_ref())?;
            }
            existed[i] = old.is_some_and(|old| is_alive(&old.record));
        }
        let is_idle = matches!(contents, [one] if one.kind == Kind::Delete) && !existed[0]
            || refused.is_some();
        let appended = if is_idle { None } else { Some(self.append(&mut writer, contents)?) };
        let kept = if is_durable {
            let position = writer.position;
            drop((writer, files));
            // Also if nothing was written: a key might be absent because of a delete that is not
            // durable yet.
            self.wait_durable(position)?;
            None
        } else {
            Some(writer)
        };
        if let Some((file, offset)) = appended {
            let _writer = kept.map_or_else(|| self.writer(), Ok)?;
            self.show(contents, &hashes, &file, offset)?;
        }
        Ok(refused.map_or(Swap::Done, Swap::Found))
    }

    /// Makes records of the log visible, which begin at an offset.
    fn show(
        &self,
        contents: &[Content<'_>],
        hashes: &[u64],
        file: &LogFile,
        mut offset: u64,
    ) -> Result<()> {
        let files = self.files.load();
        let _whole = (contents.len() > 1).then(|| self.showing.write());
        for (content, &hash) in contents.iter().zip(hashes) {
            let old = locate(&self.index, &files, hash, content.key);
            let old = old.inspect_err(|error| self.commit.fail(error))?;
            self.publish(content, hash, file, offset, old.as_ref())?;
            offset += content.shape().bytes();
        }
        Ok(())
    }

    fn write_single(
        &self,
        writer: &mut Writer,
        content: &Content<'_>,
        expected: Expected<'_>,
        existed: &mut bool,
    ) -> Result<Swap> {
        self.check_tables(std::slice::from_ref(content))?;
        let hash = content.key.hash(&self.hasher);
        let files = self.files.load();
        let old = locate(&self.index, &files, hash, content.key)?;
        if let Some(found) = expected.refuses(old.as_ref())? {
            return Ok(Swap::Found(found));
        }
        *existed = old.as_ref().is_some_and(|old| is_alive(&old.record));
        if content.kind == Kind::Delete && !*existed {
            return Ok(Swap::Done);
        }
        let (file, offset) = self.append(writer, std::slice::from_ref(content))?;
        self.publish(content, hash, &file, offset, old.as_ref())?;
        Ok(Swap::Done)
    }

    /// Writes records into the log, where nobody finds them yet. Returns their file and where they
    /// begin.
    pub(super) fn append(
        &self,
        writer: &mut Writer,
        contents: &[Content<'_>],
    ) -> Result<(Arc<LogFile>, u64)> {
        if let Some(tail) = &writer.tail {
            self.index.widen_ahead(tail.location(tail.end()))?;
        }
        let appended = writer.append(&self.files.load(), contents)?;
        if appended.created {
            let mut files = self.files.load().as_ref().clone();
            files.insert(Arc::clone(&appended.file));
            self.throttle.note(&files, writer);
            self.files.store(Arc::new(files));
        }
        let counter =
            if writer.is_copying() { &self.counters.copied } else { &self.counters.written };
        counter.add(contents.len(), contents.iter().map(|content| content.shape().bytes()).sum());
        self.ahead.ask(&appended.file);
        Ok((appended.file, appended.offset))
    }

    /// Makes a record of the log visible, in place of the previous one of its key.
    pub(super) fn publish(
        &self,
        content: &Content<'_>,
        hash: u64,
        file: &LogFile,
        offset: u64,
        old: Option<&Located<'_>>,
    ) -> Result<()> {
        let location = file.location(offset);
        let done = match (content.kind, old) {
            (Kind::Put, Some(old)) => {
                self.index.part_mut_of(hash).update(hash, old.location, location)
            }
            (Kind::Put, None) => self.index.part_mut_of(hash).insert(hash, location),
            (_, Some(old)) => {
                self.index.part_mut_of(hash).remove(hash, old.location);
                Ok(())
            }
            (_, None) => Ok(()),
        };
        // The log has something that the index lacks. Only reopening brings them together.
        done.inspect_err(|error| self.commit.fail(error))?;
        let gone = old.map_or(0, Located::remove_present);
        let bytes = content.shape().bytes();
        let new = if content.kind == Kind::Put {
            file.add_present(content.prefix, bytes)
        } else {
            file.add_tombstones(bytes);
            0
        };
        self.throttle.replace(gone, new);
        Ok(())
    }
}
