//! A lock whose readers write no memory that others read, as long as nobody else writes.
//!
//! A lock of the usual kind takes two instructions of a reader that later loads wait for, so that
//! lookups wait for memory one after the other, and that write to a line which all readers share. A
//! reader of an *open* gate only notes in a *place* of its thread which gate it is in, and looks
//! whether the gate is still open. A writer closes it, and waits until no place names it. Between a
//! reader's note and its look there must be a barrier, or both could miss each other. It would cost
//! as much as the lock, so the writer lets the system run it on all processors where threads of
//! this process run ([`barrier::heavy`]), and readers need only keep the compiler from reordering
//! ([`barrier::light`]). This takes microseconds, so a gate opens only after many readings without
//! a write, and not soon after it was closed: see also Dice and Kogan, "BRAVO: Biased Locking for
//! Reader-Writer Locks" (USENIX ATC 2019).

use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use super::barrier;
use crate::concurrent::sync::{
    AtomicUsize, Flag, Ordering, RwLock, RwLockReadGuard, RwLockWriteGuard, yield_now,
};

/// Under the lock: the time from which the gate may open again, if it was ever closed.
type Until = Option<Instant>;
pub(super) type ReadGuard<'a> = RwLockReadGuard<'a, Until>;
pub(super) type WriteGuard<'a> = RwLockWriteGuard<'a, Until>;

/// Readings with the lock before a gate opens: enough that closing it again costs little beside
/// them. Models have gates that open at the second reading.
pub(super) const OFTEN: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 512 };

/// How many times as long as closing it took a gate stays closed at least. So a thread that writes
/// behind 64 gates in turn spends at most 6 % of its time on closing them, however many readers
/// there are. Tests do not wait, and models know no time.
const REST: u32 = if cfg!(test) { 0 } else { 1000 };
/// It takes longer if a reader is suspended inside, which says little about the next time.
const LONGEST_REST: Duration = Duration::from_millis(100);

/// A gate before something that is read and changed.
#[derive(Debug)]
pub(super) struct BiasedLock {
    lock: RwLock<Until>,
    open: Flag,
    /// Readings with the lock since the last write: about, as nobody needs to know it exactly.
    readings: AtomicU32,
}

/// Where a thread notes what it reads. It belongs to one thread at a time, and is alone in its
/// lines.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Place {
    /// The gate that the thread is in: 0 outside of all.
    pub(super) lock: AtomicUsize,
    /// What the thread goes on reading when it has left the gate: 0 if nothing.
    pub(super) held: AtomicUsize,
}

/// A reader in an open gate: nobody changes what is behind it.
pub(super) struct Inside<'a>(&'a Place);

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // What was read before is read before a writer sees this.
        self.0.lock.store(0, Ordering::Release);
    }
}

/// A reader that notes what it goes on reading.
pub struct Holding<'a>(&'a Place);

impl Drop for Holding<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.held.store(0, Ordering::Release);
    }
}

impl Place {
    /// Notes what `current` points to, unless the thread holds something already. Only inside a
    /// gate: who waits until nobody is in one finds the note.
    #[inline(always)]
    pub(super) fn hold(&self, current: &AtomicUsize) -> Option<(usize, Holding<'_>)> {
        if self.held.load(Ordering::Relaxed) != 0 {
            return None;
        }
        let held = current.load(Ordering::Acquire);
        self.held.store(held, Ordering::Relaxed);
        Some((held, Holding(self)))
    }
}

/// Waits until whoever notes what was current before this call has done so. Then returns what
/// places say whether it is held.
pub(super) fn settle(places: &[Place]) -> impl Fn(usize) -> bool {
    // Readers that enter a gate later see what is current now.
    barrier::heavy();
    for place in places {
        while place.lock.load(Ordering::Acquire) != 0 {
            yield_now();
        }
    }
    move |it| places.iter().any(|place| place.held.load(Ordering::Acquire) == it)
}

impl BiasedLock {
    pub(super) fn new() -> Self {
        Self { lock: RwLock::new(None), open: Flag::new(false), readings: AtomicU32::new(0) }
    }

    fn number(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether entering it is worth a try.
    #[inline(always)]
    pub(super) fn seems_open(&self) -> bool {
        self.open.load(Ordering::Relaxed)
    }

    /// Enters it, if it is open, and if the thread is not in a gate yet.
    #[inline(always)]
    pub(super) fn enter<'p>(&self, place: &'p Place) -> Option<Inside<'p>> {
        if place.lock.load(Ordering::Relaxed) != 0 {
            return None;
        }
        place.lock.store(self.number(), Ordering::Relaxed);
        let inside = Inside(place);
        barrier::light();
        // If this is what was set when it opened, all writes before are seen.
        self.open.load(Ordering::Acquire).then_some(inside)
    }

    /// Waits until nobody writes; nobody does while the guard lives.
    #[inline]
    pub(super) fn read(&self) -> ReadGuard<'_> {
        let guard = self.lock.read().unwrap_or_else(PoisonError::into_inner);
        let readings = self.readings.load(Ordering::Relaxed);
        if readings < OFTEN {
            self.readings.store(readings + 1, Ordering::Relaxed);
        } else if !self.seems_open() {
            self.open_after(*guard);
        }
        guard
    }

    /// With the lock, so that it cannot be closed now.
    #[cold]
    #[inline(never)]
    fn open_after(&self, until: Until) {
        if barrier::is_available() && until.is_none_or(|until| Instant::now() >= until) {
            self.open.store(true, Ordering::Release);
        } else {
            // The time is not asked for at each reading.
            self.readings.store(0, Ordering::Relaxed);
        }
    }

    /// As [`read`](Self::read), unless it would have to wait.
    #[inline]
    pub(super) fn try_read(&self) -> Option<ReadGuard<'_>> {
        self.lock.try_read().ok()
    }

    /// Waits until nobody reads or writes; nobody else does while the guard lives. The places are
    /// those of all threads.
    #[inline]
    pub(super) fn write(&self, places: &[Place]) -> WriteGuard<'_> {
        let mut guard = self.lock.write().unwrap_or_else(PoisonError::into_inner);
        self.readings.store(0, Ordering::Relaxed);
        if self.seems_open() {
            *guard = Some(self.close(places));
        }
        guard
    }

    /// With the lock for writing. Returns the time from which it may open again.
    #[cold]
    #[inline(never)]
    fn close(&self, places: &[Place]) -> Instant {
        let begun = Instant::now();
        self.open.store(false, Ordering::Relaxed);
        // A reader whose note comes before this is waited for. One whose note comes later looks
        // later, and sees that the gate is closed.
        barrier::heavy();
        for place in places {
            while place.lock.load(Ordering::Acquire) == self.number() {
                yield_now();
            }
        }
        let closed = Instant::now();
        closed + ((closed - begun) * REST).min(LONGEST_REST)
    }
}
