//! The lock of a table that has none of its own.
//!
//! Batches take it, because they detach from the interpreter. Where the interpreter has its own
//! lock, operations on one key rely on that one: an atomic instruction would make the processor
//! wait for the table's memory each time, before it looks at the next key.

use std::sync::atomic::{Ordering, fence};

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use pyo3::prelude::*;
use pyo3::sync::RwLockExt;

/// A table that threads read together or change one at a time.
///
/// Whoever gets a guard is attached at that time, and nothing uses the table in between. So while a
/// thread stays attached to an interpreter that has its lock, no other thread begins to use the
/// table, even if it takes this lock.
pub(crate) struct Lock<T>(RwLock<T>);

impl<T> Lock<T> {
    pub(crate) const fn new(table: T) -> Self {
        Self(RwLock::new(table))
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }

    /// Lets others read, also while the caller is detached.
    #[inline]
    pub(crate) fn read(&self, py: Python<'_>) -> RwLockReadGuard<'_, T> {
        self.0.read_py_attached(py)
    }

    /// Keeps others out, also while the caller is detached.
    #[inline]
    pub(crate) fn write(&self, py: Python<'_>) -> RwLockWriteGuard<'_, T> {
        self.0.write_py_attached(py)
    }

    /// Reads without detaching.
    #[inline]
    pub(crate) fn read_one<R>(&self, py: Python<'_>, read: impl FnOnce(&T) -> R + Send) -> R {
        if cfg!(Py_GIL_DISABLED) || self.0.is_locked_exclusive() {
            return read(&self.read(py));
        }
        // After what the last one to change the table did, which released the lock then.
        fence(Ordering::Acquire);
        // SAFETY: nobody changes the table, as the lock says, and nobody begins to before `read`
        // returns: `py` is attached, and `read` cannot detach, because nothing that is
        // `Send` holds a `py`.
        read(unsafe { &*self.0.data_ptr() })
    }

    /// Changes the table without detaching.
    #[inline]
    pub(crate) fn change_one<R>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut T) -> R + Send,
    ) -> R {
        if cfg!(Py_GIL_DISABLED) || self.0.is_locked() {
            return change(&mut self.write(py));
        }
        // After what the last ones with a guard did.
        fence(Ordering::Acquire);
        // SAFETY: as above; nobody reads the table either.
        change(unsafe { &mut *self.0.data_ptr() })
    }
}
