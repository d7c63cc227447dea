//! A lock for what is read often and seldom changed: single readers pass it without taking it, in
//! the manner of BRAVO (Dice and Kogan, "Biased Locking for Reader-Writer Locks", USENIX ATC 2019).
//!
//! docs/CONCURRENCY.md has the protocol. Between a reader's note in its *place* and its second
//! check there must be a barrier: the writer lets the system run it on all processors where threads
//! of this process run (`barrier::heavy`), and readers only keep the compiler from reordering
//! (`barrier::light`).
//!
//! Public for `malkoha-store` alone, whose index is read in this way. It can change with any
//! release.

mod barrier;
mod places;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use places::Place;

use crate::sync::{
    Flag, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard, UnsafeCell, yield_now,
};

/// The time from which the lock can be biased again, if it ever was.
type Until = Option<Instant>;

/// Readings with the lock before it is biased: enough that ending the bias costs little compared
/// with them. In models the second reading is enough.
const OFTEN: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 512 };

/// A lock stays unbiased at least this many times as long as ending the bias took. So a thread that
/// writes under 64 locks in turn spends at most 6 % of its time on that, however many readers there
/// are. Tests do not wait, and models know no time.
const REST: u32 = if cfg!(test) { 0 } else { 1000 };
/// If a reader is suspended inside, it takes longer, which says little about the next time.
const LONGEST_REST: Duration = Duration::from_millis(100);

/// A value that many threads read, and few change. On lines of its own, because otherwise threads
/// of neighbours would slow each other down.
#[repr(align(128))]
pub struct Biased<T> {
    lock: RwLock<Until>,
    is_biased: Flag,
    /// Readings with the lock since the last write, nearly.
    readings: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: as for `RwLock`: threads share references to the value, and a writer can move it.
unsafe impl<T: Send + Sync> Sync for Biased<T> {}

// Unlike `RwLock`, it does not note panics: a value that a panic left half-changed is safe to use.
impl<T> RefUnwindSafe for Biased<T> {}
impl<T> UnwindSafe for Biased<T> {}

impl<T> fmt::Debug for Biased<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Biased").finish_non_exhaustive()
    }
}

/// Access to the value while `G` lives.
pub struct Access<'a, T, G> {
    value: &'a UnsafeCell<T>,
    _guard: G,
}

/// Reads it without the lock.
pub type Open<'a, T> = Access<'a, T, Passing>;
/// Reads it with the lock.
pub type Reading<'a, T> = Access<'a, T, RwLockReadGuard<'a, Until>>;
/// Changes it.
pub type Writing<'a, T> = Access<'a, T, RwLockWriteGuard<'a, Until>>;

/// A reader that passes a biased lock: writers wait for its end.
pub struct Passing(&'static Place);

impl Drop for Passing {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: all reads under the lock end before a writer sees that the place is free.
        self.0.0.store(0, Ordering::Release);
    }
}

impl<T> Biased<T> {
    /// Not biased yet.
    pub fn new(value: T) -> Self {
        Self {
            lock: RwLock::new(None),
            is_biased: Flag::new(false),
            readings: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(&self.lock).addr()
    }

    /// Reads it without the lock, if it was read often since it was changed, and if the thread does
    /// not read another value in this way. Writers wait while it is open, so the reader must not
    /// wait for one.
    #[inline(always)]
    pub fn open(&self) -> Option<Open<'_, T>> {
        if !self.is_biased.load(Ordering::Relaxed) {
            return None;
        }
        let place = places::mine()?;
        if place.0.load(Ordering::Relaxed) != 0 {
            return None;
        }
        place.0.store(self.address(), Ordering::Relaxed);
        let guard = Passing(place);
        barrier::light();
        // If this is the bias of now, all writes before it are seen.
        let is_biased = self.is_biased.load(Ordering::Acquire);
        is_biased.then_some(Access { value: &self.value, _guard: guard })
    }

    /// Reads it with the lock.
    #[inline]
    pub fn read(&self) -> Reading<'_, T> {
        let guard = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        let readings = self.readings.load(Ordering::Relaxed);
        if readings < OFTEN {
            self.readings.store(readings + 1, Ordering::Relaxed);
        } else if !self.is_biased.load(Ordering::Relaxed) {
            self.bias(*guard);
        }
        Access { value: &self.value, _guard: guard }
    }

    /// Changes it.
    #[inline]
    pub fn write(&self) -> Writing<'_, T> {
        let mut guard = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        self.readings.store(0, Ordering::Relaxed);
        if self.is_biased.load(Ordering::Relaxed) {
            *guard = Some(self.end_bias());
        }
        Access { value: &self.value, _guard: guard }
    }

    /// Calls `look`, unless it would have to wait.
    #[inline]
    pub(crate) fn try_look(&self, look: impl FnOnce(&T)) {
        if let Some(value) = self.open() {
            look(&value);
        } else if let Ok(guard) = self.lock.try_read() {
            look(&Access { value: &self.value, _guard: guard });
        }
    }

    /// The caller holds the lock, so no bias ends now.
    #[cold]
    #[inline(never)]
    fn bias(&self, until: Until) {
        if barrier::is_available() && until.is_none_or(|until| Instant::now() >= until) {
            self.is_biased.store(true, Ordering::Release);
        } else {
            // So that not each reading asks for the time.
            self.readings.store(0, Ordering::Relaxed);
        }
    }

    /// The caller holds the lock for writing. Returns the time from which it can be biased again.
    #[cold]
    #[inline(never)]
    fn end_bias(&self) -> Instant {
        let begun = Instant::now();
        self.is_biased.store(false, Ordering::Relaxed);
        // A reader whose note comes before this is waited for. One whose note comes later checks
        // later, and sees that the bias has ended.
        barrier::heavy();
        for place in places::all() {
            while place.0.load(Ordering::Acquire) == self.address() {
                yield_now();
            }
        }
        let ended = Instant::now();
        ended + ((ended - begun) * REST).min(LONGEST_REST)
    }
}

impl<T, G> Deref for Access<'_, T, G> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: nobody else writes while the guard lives: the lock excludes writers, or they wait
        // for the place.
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
