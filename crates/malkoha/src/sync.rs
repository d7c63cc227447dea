//! Atomics, locks and cells that threads share: the standard library's, or those of a checker: loom
//! goes through all schedules and all values that a load may see, shuttle through random schedules.

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{
            AtomicBool, AtomicBool as Flag, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence,
        },
    },
    thread::yield_now,
};

#[cfg(loom)]
mod schedule;

#[cfg(loom)]
pub(crate) use {
    loom::{
        cell::UnsafeCell,
        hint::spin_loop,
        sync::{
            Mutex, MutexGuard, RwLockReadGuard, RwLockWriteGuard,
            atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, fence},
        },
        thread::yield_now,
    },
    schedule::{AtomicU64, Flag, RwLock},
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{
            AtomicBool, AtomicBool as Flag, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence,
        },
    },
    thread::yield_now,
};

/// A cell that references are made from. That of loom finds concurrent uses.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, use_it: impl FnOnce(*const T) -> R) -> R {
        use_it(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, use_it: impl FnOnce(*mut T) -> R) -> R {
        use_it(self.0.get())
    }
}

/// Locks a mutex whose data cannot be left half-changed, so that a panic elsewhere does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// On a line of its own (two on x86-64, which fetches lines in pairs), so that threads that change
/// neighbours do not wait for each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);
