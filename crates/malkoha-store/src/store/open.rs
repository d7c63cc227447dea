//! Opening and closing.

use std::io;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::named_tables::order_of;
use super::tables::Tables;
use super::{Background, Inner, Maintained, Store, Throttle};
use crate::error::{Error, Result};
use crate::index::{self, Index};
use crate::log::{Reserve, Writer, parse_name, random_seed, run_name};
use crate::options::{Durability, Options};
use crate::recovery::{OnDamage, Recovered, Recovery, recover};
use crate::storage::{Lock, OsStorage, Storage, Writing, make_directories};

impl Store {
    /// Opens the store in the directory `path` for reading and writing, and makes it if it is not
    /// there. One process at a time can do so.
    ///
    /// Reads the checkpoint and the records that were written since; without a usable checkpoint
    /// the whole log. A record that a crash left half-written at the end is cut off.
    ///
    /// # Errors
    ///
    /// If another process or this one has it open, a file is damaged or of another version, or the
    /// system refuses.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self> {
        options.check()?;
        let (storage, lock) = locked(path.as_ref(), options.create)?;
        let storage = storage.writing(match options.durability {
            Durability::Always => Writing::Calls,
            _ => Writing::Mapped,
        });
        Self::open_in(Arc::new(storage), Some(lock), options)
    }

    /// Opens the store in the directory `path` for reading, as it is now. Another process may write
    /// to it meanwhile, but these writes do not show.
    ///
    /// # Errors
    ///
    /// If there is no store, a file is damaged or of another version, or the system refuses.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let storage = directory(path)?;
        let no_store = || Error::NoStore(path.display().to_string());
        let recovered = recover_while_written(&storage)?.ok_or_else(no_store)?;
        let tables = Tables::read(&recovered)?;
        let inner = Inner::new(Arc::new(storage), Options::new(), recovered, tables);
        Ok(Self { inner: Arc::new(inner), background: None })
    }

    /// Opens a store for reading past all damage, as [`repair`](Self::repair) does, and changes
    /// nothing. [`recovery`](Self::recovery) has the skipped damage and the keys that are lost with
    /// it. Each shows as its record before, if that is still in the log. Do not write to the store
    /// meanwhile.
    ///
    /// # Errors
    ///
    /// If there is no store, or the system refuses.
    pub fn open_past_damage(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let storage = directory(path)?;
        let no_store = || Error::NoStore(path.display().to_string());
        let mut recovered = recover(&storage, OnDamage::Skip)?.ok_or_else(no_store)?;
        let (tables, bad_list) = Tables::read_past_damage(&recovered)?;
        recovered.recovery.skipped.extend(bad_list);
        let mut inner = Inner::new(Arc::new(storage), Options::new(), recovered, tables);
        inner.recovery.lost_keys = inner.lost_to_repair(&inner.recovery.skipped);
        Ok(Self { inner: Arc::new(inner), background: None })
    }

    /// Opens the store in any storage. The caller ensures that nobody else writes.
    #[doc(hidden)]
    pub fn open_in(
        storage: Arc<dyn Storage>,
        lock: Option<Lock>,
        options: &Options,
    ) -> Result<Self> {
        options.check()?;
        let found = recover(&*storage, OnDamage::Refuse)?;
        let is_new = found.is_none();
        let recovered = match found {
            Some(recovered) => recovered,
            None if options.create => {
                Recovered::new(Index::new()?, options.seed.unwrap_or_else(random_seed))
            }
            None => return Err(Error::NoStore(".".to_owned())),
        };
        let tables = Tables::read(&recovered)?;
        let is_empty = recovered.index.len() == 0;
        let has_order = tables.is_ordered(0);
        let wanted = options.ordered.unwrap_or(has_order);
        if wanted != has_order && !is_empty {
            return Err(Error::Order(order_of("", has_order)));
        }
        let inner = Arc::new(writable(storage, lock, options, recovered, tables)?);
        inner.end_interrupted()?;
        let mut store = Self { inner, background: None };
        store.set_ordered(0, wanted)?;
        let inner = &store.inner;
        if is_new {
            // Readers find an empty store before the first write. A full device refuses writes.
            match inner.checkpoint(&mut inner.maintenance()) {
                Err(Error::NoSpace { .. }) => {}
                done => done?,
            }
        }
        store.background = options.background.then(|| Background::start(inner)).transpose()?;
        Ok(store)
    }

    /// The remains of a crash, and the damage, that opening found.
    #[must_use]
    pub fn recovery(&self) -> &Recovery {
        &self.inner.recovery
    }

    /// Syncs, writes a checkpoint if there is room for it, and gives back the reserved room, except
    /// for a sixteenth of the log, at most 256 KiB, for deletes if others fill the device. Dropping
    /// a store does the same, but reports no error.
    ///
    /// # Errors
    ///
    /// If one of these steps fails. Acknowledged writes are as durable as promised nevertheless.
    pub fn close(mut self) -> Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> Result<()> {
        let Some(writer) = &self.inner.writer else { return Ok(()) };
        if self.inner.lock.as_ref().is_some_and(Lock::is_inherited) {
            // The threads and the right to write are in the process that forked this one. Its later
            // writes would be overwritten here.
            mem::forget(self.background.take());
            return Err(Error::Locked);
        }
        drop(self.background.take());
        let mut maintained = self.inner.maintenance();
        if maintained.is_finished {
            return Ok(());
        }
        let checkpoint = self.inner.checkpoint(&mut maintained);
        if !matches!(checkpoint, Ok(()) | Err(Error::NoSpace { .. })) {
            return checkpoint;
        }
        {
            let mut writer = writer.lock();
            writer.tail.as_ref().map_or(Ok(()), |tail| tail.trim())?;
            writer.reserve.close(&*self.inner.storage)?;
        }
        // If there was no room for it, there can be now. The log is synced, so it is not essential.
        match checkpoint.or_else(|_| self.inner.checkpoint(&mut maintained)) {
            Ok(()) | Err(Error::NoSpace { .. }) => {}
            failed => return failed,
        }
        let log = self.inner.files.load().bytes();
        writer.lock().keep_spare(log);
        maintained.is_finished = true;
        self.inner.save_order(&maintained, true, |_, _| true)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // `close` reports errors; the log has everything already.
        let _ = self.finish();
    }
}

/// The right to write to the store at `path`.
pub(super) fn locked(path: &Path, create: bool) -> Result<(OsStorage, Lock)> {
    let name = || path.display().to_string();
    if create {
        make_directories(path).map_err(Error::not_writable("make", name()))?;
    }
    let storage = directory(path)?;
    // Nothing is created in other people's directories.
    if !create && !is_store(&storage)? {
        return Err(Error::NoStore(name()));
    }
    let lock = storage.lock().map_err(Error::not_writable("lock", name()))?;
    match lock {
        Some(lock) => Ok((storage, lock)),
        None if storage.is_held_here().is_ok_and(|held| held) => Err(Error::OpenAlready),
        None => Err(Error::Locked),
    }
}

/// The directory at `path`, which might be that of a store.
fn directory(path: &Path) -> Result<OsStorage> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let name = || path.display().to_string();
    OsStorage::open(path).map_err(|error| match error.kind() {
        NotFound | NotADirectory => Error::NoStore(name()),
        _ => Error::io("open", name())(error),
    })
}

/// Whether there is anything of a store.
fn is_store(storage: &OsStorage) -> Result<bool> {
    let names = storage.list().map_err(Error::io("list", "."))?;
    Ok(names.iter().any(|name| name == index::CHECKPOINT || parse_name(name).is_some()))
}

/// Reads a store to which another process may write. Starts over, a few times, if files changed or
/// disappeared meanwhile.
fn recover_while_written(storage: &OsStorage) -> Result<Option<Recovered>> {
    const ATTEMPTS: u32 = 5;
    for _ in 1..ATTEMPTS {
        match recover(storage, OnDamage::Refuse) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {}
            Err(Error::Damaged { .. }) => {}
            other => return other,
        }
    }
    recover(storage, OnDamage::Refuse)
}

/// Prepares the files for writing.
pub(super) fn writable(
    storage: Arc<dyn Storage>,
    lock: Option<Lock>,
    options: &Options,
    mut recovered: Recovered,
    tables: Tables,
) -> Result<Inner> {
    let Recovered { next_id, sequence, seed, checkpointed, .. } = recovered;
    // Before anything is changed: it might be another user's file.
    let reserve = Reserve::found(&*storage)?;
    for name in &recovered.useless {
        storage.remove(name).map_err(Error::io("remove", &**name))?;
    }
    let file_bytes = Writer::file_bytes(&*storage, options.file_bytes);
    let mut writer =
        Writer::new(Arc::clone(&storage), file_bytes, seed, next_id, sequence, reserve);
    let files = &mut recovered.files;
    // Before the last file gets room: an interrupted compaction needs it.
    writer.want_reserve(files)?;
    let mut tail = recovered.tail.take();
    if let Some(found) = &mut tail {
        let room = writer.tail_bytes(files, found.least());
        *found = Arc::new(found.reopen(&*storage, room)?);
        files.remove(found.id());
        files.insert(Arc::clone(found));
    }
    // Makes all visible records durable: a crash, or a sync that failed, may have left them.
    for file in files.all() {
        file.make_durable(&*storage)?;
        if tail.as_ref().is_none_or(|tail| tail.id() != file.id()) {
            file.close();
        }
    }
    for &id in &recovered.sorted {
        let file = files.all().iter().find(|file| file.id() == id);
        let is_tail = tail.as_ref().is_some_and(|tail| tail.id() == id);
        match file.filter(|file| !is_tail || file.has_sorted(&*storage)) {
            Some(file) => file.set_sorted_saved(),
            // Of another file with this number, or of records behind the end.
            None => storage.remove(&run_name(id)).map_err(Error::io("remove", run_name(id)))?,
        }
    }
    tail.into_iter().for_each(|tail| writer.set_tail(tail));
    storage.still_writes().map_err(Error::io("sync", "."))?;
    if !checkpointed {
        storage.sync_directory().map_err(Error::io("sync", "."))?;
    }
    let throttle = Throttle::default();
    throttle.set_live(files.all().iter().map(|file| file.live()).sum());
    throttle.note(files, &writer);
    // The existing checkpoint is sufficient.
    let checkpoint = checkpointed.then_some(writer.position);
    let maintained = Maintained { checkpoint, ..Maintained::default() };
    Ok(Inner {
        writer: Some(Mutex::new(writer)),
        throttle,
        maintenance: Mutex::new(maintained),
        lock,
        ..Inner::new(storage, options.clone(), recovered, tables)
    })
}
