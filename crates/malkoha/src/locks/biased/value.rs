//! Something behind a [`BiasedLock`].

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

use super::lock::{self, BiasedLock, Holding, Inside, Place, ReadGuard, WriteGuard};
use super::{barrier, places};
use crate::concurrent::sync::{AtomicUsize, UnsafeCell};

/// A value that many threads read, and few change. On lines of its own, or threads of neighbours
/// would slow each other down.
#[repr(align(128))]
pub struct Biased<T> {
    lock: BiasedLock,
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`: references to the value are shared among threads, and whoever has the
// gate for writing may move it.
unsafe impl<T: Send + Sync> Sync for Biased<T> {}

// As `RwLock`, of which nobody here asks whether a thread has panicked: a value that a panic left
// half-changed is safe to use.
impl<T> RefUnwindSafe for Biased<T> {}
impl<T> UnwindSafe for Biased<T> {}

impl<T> fmt::Debug for Biased<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Biased").finish_non_exhaustive()
    }
}

/// Reads it inside an open gate.
pub struct Open<'a, T> {
    value: &'a UnsafeCell<T>,
    place: &'static Place,
    _inside: Inside<'static>,
}

/// Reads it with a lock.
pub struct Reading<'a, T> {
    value: &'a UnsafeCell<T>,
    _guard: ReadGuard<'a>,
}

/// Changes it.
pub struct Writing<'a, T> {
    value: &'a UnsafeCell<T>,
    _guard: WriteGuard<'a>,
}

impl<T> Biased<T> {
    /// With a closed gate.
    pub fn new(value: T) -> Self {
        let value = UnsafeCell::new(value);
        Self { lock: BiasedLock::new(), value }
    }

    /// Reads it without a lock, if it was read often since it was changed. Writers wait meanwhile,
    /// so the reader must not wait for one.
    #[inline(always)]
    pub fn open(&self) -> Option<Open<'_, T>> {
        if !self.lock.seems_open() {
            return None;
        }
        let place = places::mine()?;
        let inside = self.lock.enter(place)?;
        Some(Open { value: &self.value, place, _inside: inside })
    }

    /// Reads it with a lock.
    #[inline]
    pub fn read(&self) -> Reading<'_, T> {
        Reading { _guard: self.lock.read(), value: &self.value }
    }

    /// Changes it.
    #[inline]
    pub fn write(&self) -> Writing<'_, T> {
        Writing { _guard: self.lock.write(places::all()), value: &self.value }
    }

    /// Calls `look`, unless it would have to wait.
    #[inline]
    pub(crate) fn try_look(&self, look: impl FnOnce(&T)) {
        if let Some(value) = self.open() {
            look(&value);
        } else if let Some(guard) = self.lock.try_read() {
            look(&Reading { _guard: guard, value: &self.value });
        }
    }
}

impl<T> Open<'_, T> {
    /// Notes what `current` points to, for the thread to read it after it has left the gate too.
    /// Returns `None` if it has such a note already.
    #[inline(always)]
    pub fn hold(&self, current: &AtomicUsize) -> Option<(usize, Holding<'static>)> {
        self.place.hold(current)
    }
}

/// Waits until whoever is in a gate now has left it. Then returns whether a pointer is
/// [held](Open::hold), or `None` if gates never open here.
pub fn settle() -> Option<impl Fn(usize) -> bool> {
    barrier::is_available().then(|| lock::settle(places::all()))
}

impl<T> Deref for Open<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the thread is inside the gate while this lives, and writers wait.
        self.value.with(|value| unsafe { &*value })
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while the guard lives.
        self.value.with(|value| unsafe { &*value })
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody else writes while the guard lives.
        self.value.with(|value| unsafe { &*value })
    }
}

impl<T> DerefMut for Writing<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else reads or writes while the guard lives.
        self.value.with_mut(|value| unsafe { &mut *value })
    }
}
