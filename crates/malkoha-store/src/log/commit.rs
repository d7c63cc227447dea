//! Group commit: threads that wait for a sync share one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::file::LogFile;
use crate::error::{Error, Result};
use crate::storage::Storage;

/// The files that a sync has to cover.
pub(crate) struct Unsynced {
    /// Files with their ends, in the order in which they were written.
    pub(crate) files: Vec<(Arc<LogFile>, u64)>,
    /// Whether files were created since the last sync.
    pub(crate) directory: bool,
    /// The position in the log that is durable afterwards.
    pub(crate) position: u64,
}

#[derive(Default)]
struct State {
    durable: u64,
    syncing: bool,
    failure: Option<String>,
}

impl State {
    fn check(&self) -> Result<()> {
        self.failure.clone().map_or(Ok(()), |reason| Err(Error::Stopped(reason)))
    }
}

/// The durable position in the log: bytes appended since opening.
#[derive(Default)]
pub(crate) struct Commit {
    state: Mutex<State>,
    changed: Condvar,
    syncs: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Commit {
    /// An error if writing was [stopped](Self::fail).
    pub(crate) fn check(&self) -> Result<()> {
        self.state.lock().check()
    }

    /// How often everything was synced, and how long that took.
    pub(crate) fn syncs(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        (self.syncs.load(Ordering::Relaxed), time)
    }

    /// Blocks all further writes.
    pub(crate) fn fail(&self, error: &Error) {
        self.state.lock().failure.get_or_insert_with(|| error.to_string());
        self.changed.notify_all();
    }

    /// Waits until `position` is durable. One of the waiting threads syncs for everything that was
    /// written until then, which `unsynced` returns.
    pub(crate) fn wait(
        &self,
        storage: &dyn Storage,
        position: u64,
        unsynced: impl Fn() -> Unsynced,
    ) -> Result<()> {
        let mut state = self.state.lock();
        loop {
            state.check()?;
            if state.durable >= position {
                return Ok(());
            }
            if state.syncing {
                self.changed.wait(&mut state);
                continue;
            }
            state.syncing = true;
            drop(state);
            let work = unsynced();
            let start = Instant::now();
            let done = sync(storage, &work);
            let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.syncs.fetch_add(1, Ordering::Relaxed);
            self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
            state = self.state.lock();
            state.syncing = false;
            match done {
                Ok(()) => state.durable = state.durable.max(work.position),
                Err(error) => drop(state.failure.get_or_insert_with(|| error.to_string())),
            }
            self.changed.notify_all();
        }
    }
}

fn sync(storage: &dyn Storage, work: &Unsynced) -> Result<()> {
    if work.directory {
        storage.sync_directory().map_err(Error::io("sync", "."))?;
    }
    let unsynced = || work.files.iter().filter(|(file, end)| file.durable() < *end);
    unsynced().try_for_each(|(file, _)| file.sync())?;
    // Must happen before anything counts as durable: a sync may have reported success too early.
    storage.still_writes().map_err(Error::io("sync", "."))?;
    unsynced().for_each(|(file, end)| file.set_durable(*end));
    Ok(())
}
