//! An open store, which the objects of its tables share.

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use malkoha_store::{Result, Store};
use parking_lot::Mutex;
use pyo3::prelude::*;

use crate::errors::{Raise, StoreClosedError, StoreLockedError};
use crate::lock::Lock;

/// How often this process was forked from another one that had loaded this library.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Called in each process that is forked.
#[pyfunction]
#[pyo3(name = "_forked")]
pub(super) fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The stores that were opened, and perhaps closed or dropped since.
static OPENED: Mutex<Vec<Weak<Handle>>> = Mutex::new(Vec::new());

/// Called when the interpreter ends, which may not drop all objects.
#[pyfunction]
#[pyo3(name = "_close_all")]
pub(super) fn close_all(py: Python<'_>) {
    // A process that was forked can have it locked for ever.
    let opened = OPENED.try_lock().map(|mut opened| mem::take(&mut *opened));
    for handle in opened.iter().flatten().filter_map(Weak::upgrade) {
        // As dropping: acknowledged writes are in the log.
        let _ = handle.close(py);
    }
}

/// A process, by the value of [`FORKS`] in it.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Process(u64);

impl Process {
    #[inline]
    fn this() -> Self {
        Self(FORKS.load(Ordering::Relaxed))
    }

    /// An exception in a forked process, where other threads may have held the store's locks.
    #[inline]
    pub(super) fn check(self) -> PyResult<()> {
        if self == Self::this() { Ok(()) } else { Err(forked_since()) }
    }
}

#[cold]
fn forked_since() -> PyErr {
    StoreLockedError::new_err(
        "the store was opened before this process was forked: open it here, with read_only=True \
         unless the other process closes it",
    )
}

/// A store until it is closed.
pub(super) struct Handle {
    store: Lock<Option<Store>>,
    pub(super) path: PathBuf,
    pub(super) process: Process,
}

impl Handle {
    pub(super) fn new(store: Store, path: PathBuf) -> Arc<Self> {
        let store = Lock::new(Some(store));
        let handle = Arc::new(Self { store, path, process: Process::this() });
        let mut opened = OPENED.lock();
        opened.retain(|handle| handle.strong_count() > 0);
        opened.push(Arc::downgrade(&handle));
        handle
    }

    /// Calls without detaching. `call` must not run Python code.
    #[inline]
    pub(super) fn attached<R>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Store) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.process.check()?;
        let done = self.store.read_one(py, |store| store.as_ref().map(call));
        done.ok_or_else(closed)?.map_err(Raise::raise)
    }

    /// Calls detached.
    pub(super) fn detached<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Store) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.process.check()?;
        let store = self.store.read(py);
        let store = store.as_ref().ok_or_else(closed)?;
        py.detach(|| call(store)).map_err(Raise::raise)
    }

    pub(super) fn is_closed(&self, py: Python<'_>) -> bool {
        self.process != Process::this() || self.store.read_one(py, Option::is_none)
    }

    /// Waits for calls of other threads. In a forked process, nothing is left to do.
    pub(super) fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.process != Process::this() {
            return Ok(());
        }
        let store = self.store.write(py).take();
        store.map_or(Ok(()), |store| py.detach(|| store.close())).map_err(Raise::raise)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Closing waits for the device.
        if let Some(store) = self.store.get_mut().take() {
            Python::try_attach(|py| py.detach(|| drop(store)));
        }
    }
}

fn closed() -> PyErr {
    StoreClosedError::new_err("the store was closed: open it again")
}
