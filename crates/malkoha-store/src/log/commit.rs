//! Group commit: threads that wait for a sync share one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::file::LogFile;
use crate::error::{Error, Result};
use crate::storage::Storage;

/// What a sync has to cover.
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

/// The durable position in the log: bytes appended since opening.
#[derive(Default)]
pub(crate) struct Commit {
    state: Mutex<State>,
    /// Whether the state has a failure. Checked before every write.
    failed: AtomicBool,
    changed: Condvar,
    syncs: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Commit {
    /// An error if writing was [stopped](Self::fail).
    pub(crate) fn check(&self) -> Result<()> {
        if !self.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(Error::Stopped(self.state.lock().failure.clone().unwrap_or_default()))
    }

    /// How often everything was synced, and how long that took.
    pub(crate) fn syncs(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed));
        (self.syncs.load(Ordering::Relaxed), time)
    }

    fn count(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.syncs.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// Blocks all further writes.
    pub(crate) fn fail(&self, error: &Error) {
        self.note_failure(&mut self.state.lock(), error);
        self.changed.notify_all();
    }

    fn note_failure(&self, state: &mut State, error: &Error) {
        state.failure.get_or_insert_with(|| error.to_string());
        self.failed.store(true, Ordering::Release);
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
            if let Some(reason) = &state.failure {
                return Err(Error::Stopped(reason.clone()));
            }
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
            self.count(start.elapsed());
            state = self.state.lock();
            state.syncing = false;
            match done {
                Ok(()) => state.durable = state.durable.max(work.position),
                Err(error) => self.note_failure(&mut state, &error),
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
