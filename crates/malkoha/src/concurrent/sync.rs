//! The atomics of this module: the standard library's, or those of a checker that plays random schedules.

#[cfg(not(shuttle))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering},
    },
    thread::yield_now,
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    hint::spin_loop,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering},
    },
    thread::yield_now,
};

/// Locks a mutex whose data cannot be left half-changed, so that a panic elsewhere does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// On a line of its own (two on x86-64, which fetches lines in pairs), so that threads that change
/// neighbours do not wait for each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);
