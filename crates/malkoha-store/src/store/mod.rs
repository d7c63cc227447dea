//! The store, and the state that its operations share. Each family of operations has a file of its
//! own.

mod background;
pub(crate) mod backup;
mod batch;
mod compaction;
mod entries;
mod many;
mod merge;
mod metrics;
mod named_tables;
mod open;
mod order;
mod read;
mod removed_tables;
mod renewal;
mod repair;
mod snapshot;
mod swap;
mod table;
mod tables;
mod throttle;
mod uncommitted;
mod verify;
mod write;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use malkoha::KeyHasher;
use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::error::{Error, Result};
use crate::index::{self, Checkpoint, FileEntry, Index};
use crate::log::{Commit, LogFile, LogFiles, Writer};
use crate::options::Options;
use crate::recovery::{Recovered, Recovery};
use crate::storage::{Lock, Readahead, Storage};

use background::{Ahead, Background, Signal};
pub use batch::Batch;
pub use entries::Entries;
use metrics::Counters;
pub use metrics::{Metrics, Stats};
pub use repair::Repair;
pub use snapshot::{Entry, Snapshot};
pub use swap::Swap;
pub use table::{Table, TableSnapshot};
use tables::Tables;
use throttle::Throttle;
use uncommitted::{Quiet, Uncommitted};
pub use verify::Verification;

/// An open store. It can be shared among threads: all operations take `&self`.
///
/// Closing, by [`close`](Self::close) or by dropping it, syncs and writes a checkpoint, so that the
/// next opening is fast.
pub struct Store {
    inner: Arc<Inner>,
    background: Option<Background>,
}

/// The state that the threads of a store share.
struct Inner {
    storage: Arc<dyn Storage>,
    options: Options,
    hasher: KeyHasher,
    index: Index,
    files: ArcSwap<LogFiles>,
    tables: ArcSwap<Tables>,
    /// Taken to change the list of tables, before any other lock.
    listing: Mutex<()>,
    /// `None` if the store is read-only.
    writer: Option<Mutex<Writer>>,
    commit: Commit,
    uncommitted: Uncommitted,
    /// Held while a batch of several writes becomes visible, and by readers that must not see a
    /// part of one.
    showing: RwLock<()>,
    ahead: Ahead,
    throttle: Throttle,
    readahead: Readahead,
    counters: Counters,
    /// Wakes the thread that syncs.
    syncing: Signal,
    /// Wakes the thread that compacts.
    upkeep: Signal,
    /// Taken first by everything that removes files or uses all of them.
    maintenance: Mutex<Maintained>,
    /// Number of callers waiting for `maintenance`, background threads excluded.
    waiting: AtomicUsize,
    /// The latest error of a thread of the store, until it is taken.
    background_error: Mutex<Option<Error>>,
    recovery: Recovery,
    lock: Option<Lock>,
}

/// The right to write, while the index covers the whole log.
struct Turn<'a> {
    writer: MutexGuard<'a, Writer>,
    _quiet: Quiet<'a>,
}

#[derive(Default)]
struct Maintained {
    /// The position in the log of the last checkpoint since opening.
    checkpoint: Option<u64>,
    /// Files that no longer belong to the store and must be removed, in this order.
    forgotten: VecDeque<u64>,
    /// Nothing is left to do by dropping the store.
    is_finished: bool,
}

impl Inner {
    /// A store that can only be read.
    fn new(
        storage: Arc<dyn Storage>,
        options: Options,
        recovered: Recovered,
        tables: Tables,
    ) -> Self {
        Self {
            storage,
            options,
            hasher: KeyHasher::new(recovered.seed),
            index: recovered.index,
            files: ArcSwap::from_pointee(recovered.files),
            tables: ArcSwap::from_pointee(tables),
            listing: Mutex::default(),
            writer: None,
            commit: Commit::default(),
            uncommitted: Uncommitted::default(),
            showing: RwLock::default(),
            ahead: Ahead::default(),
            throttle: Throttle::default(),
            readahead: Readahead::default(),
            counters: Counters::default(),
            syncing: Signal::default(),
            upkeep: Signal::default(),
            maintenance: Mutex::default(),
            waiting: AtomicUsize::default(),
            background_error: Mutex::default(),
            recovery: recovered.recovery,
            lock: None,
        }
    }

    /// The right to write, if writing is possible.
    fn writer(&self) -> Result<MutexGuard<'_, Writer>> {
        let writer = self.writer.as_ref().ok_or(Error::ReadOnly)?.lock();
        self.commit.check()?;
        Ok(writer)
    }

    /// The right to write, once everything in the log is visible.
    fn turn(&self) -> Result<Turn<'_>> {
        let quiet = self.uncommitted.quiet();
        Ok(Turn { writer: self.writer()?, _quiet: quiet })
    }

    /// The right to remove files. The thread that compacts, which may take hours, yields.
    fn maintenance(&self) -> MutexGuard<'_, Maintained> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let maintained = self.maintenance.lock();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        maintained
    }

    /// Makes everything that was written durable.
    fn sync(&self) -> Result<()> {
        let position = self.writer()?.position;
        self.wait_durable(position)
    }

    fn wait_durable(&self, position: u64) -> Result<()> {
        let writer = self.writer.as_ref().ok_or(Error::ReadOnly)?;
        self.commit.wait(&*self.storage, position, || writer.lock().unsynced())
    }

    /// Writes a checkpoint, unless there is one of this state. Durable when it returns. The log
    /// also records that it is durable until there, in case the checkpoint is lost.
    fn checkpoint(&self, maintained: &mut Maintained) -> Result<()> {
        let position = self.writer()?.position;
        if maintained.checkpoint == Some(position) {
            return Ok(());
        }
        self.wait_durable(position)?;
        let mut turn = self.turn()?;
        turn.writer.mark()?;
        self.write_checkpoint(maintained, turn, &[]).map(|_| ())
    }

    /// Writes a checkpoint of the moment when `turn` is passed in, without some files that the
    /// index does not refer to. Returns its files.
    fn write_checkpoint(
        &self,
        maintained: &mut Maintained,
        turn: Turn<'_>,
        excluded: &[u64],
    ) -> Result<Vec<FileEntry>> {
        let writer = &turn.writer;
        let checkpoint = Checkpoint {
            files: self.file_entries(excluded),
            sequence: writer.sequence,
            next_id: writer.next_id,
            seed: self.hasher.seed().expect("a store hashes with XXH3-64"),
            open_tail: writer.tail.is_some(),
        };
        let (index, position) = (self.index.snapshot(), writer.position);
        drop(turn);
        self.wait_durable(position)?;
        index::write(&*self.storage, &checkpoint, &index)?;
        maintained.checkpoint = Some(position);
        self.counters.checkpoints.fetch_add(1, Ordering::Relaxed);
        Ok(checkpoint.files)
    }

    fn file_entries(&self, excluded: &[u64]) -> Vec<FileEntry> {
        let files = self.files.load();
        let kept = files.all().iter().filter(|file| !excluded.contains(&file.id()));
        let entry = |file: &Arc<LogFile>| FileEntry {
            id: file.id(),
            base: file.base,
            end: file.end(),
            dead: file.dead(),
            tombstones: file.tombstones(),
            expiring: file.expiring(),
        };
        kept.map(entry).collect()
    }
}

/// The time in milliseconds since 1970.
fn now() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
