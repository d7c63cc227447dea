//! Something behind a [`Gate`].

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

use super::gate::{Gate, Inside, Place};
use super::places;
use super::sync::{ReadGuard, WriteGuard};

/// A value that many threads read, and few change.
pub(crate) struct Gated<T> {
    gate: Gate,
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`: references to the value are shared among threads, and whoever has the
// gate for writing may move it.
unsafe impl<T: Send + Sync> Sync for Gated<T> {}

/// Reads it inside an open gate.
pub(crate) struct Open<'a, T> {
    value: &'a UnsafeCell<T>,
    pub(super) place: &'static Place,
    _inside: Inside<'static>,
}

/// Reads it with a lock.
pub(crate) struct Reading<'a, T> {
    value: &'a UnsafeCell<T>,
    _guard: ReadGuard<'a>,
}

/// Changes it.
pub(crate) struct Writing<'a, T> {
    value: &'a UnsafeCell<T>,
    _guard: WriteGuard<'a>,
}

impl<T> Gated<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { gate: Gate::default(), value: UnsafeCell::new(value) }
    }

    /// Reads it without a lock, if it was read often since it was changed. Writers wait meanwhile,
    /// so the reader must not wait for one.
    #[inline(always)]
    pub(crate) fn open(&self) -> Option<Open<'_, T>> {
        if !self.gate.seems_open() {
            return None;
        }
        let place = places::mine()?;
        let inside = self.gate.enter(place)?;
        Some(Open { value: &self.value, place, _inside: inside })
    }

    /// Reads it with a lock.
    pub(crate) fn read(&self) -> Reading<'_, T> {
        Reading { _guard: self.gate.read(), value: &self.value }
    }

    pub(crate) fn write(&self) -> Writing<'_, T> {
        Writing { _guard: self.gate.write(places::all()), value: &self.value }
    }
}

impl<T> Deref for Open<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the thread is inside the gate while this lives, and writers wait.
        unsafe { &*self.value.get() }
    }
}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while the guard lives.
        unsafe { &*self.value.get() }
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody else writes while the guard lives.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: nobody else reads or writes while the guard lives.
        unsafe { &mut *self.value.get() }
    }
}
