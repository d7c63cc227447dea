//! A lock whose readers write no memory that others read, as long as nobody else writes.
//!
//! A lock of the usual kind takes two instructions of a reader that later loads wait for, so that
//! lookups wait for memory one after the other. A reader of an *open* gate only notes in a *place*
//! of its thread which gate it is in, and looks whether the gate is still open. A writer closes it,
//! and waits until no place names it. Between a reader's note and its look there must be a barrier,
//! or both could miss each other. It would cost as much as the lock, so the writer lets the system
//! run it on all processors where threads of this process run ([`heavy_barrier`]), and readers need
//! only keep the compiler from reordering ([`light_barrier`]). This takes microseconds, so a gate
//! opens only after many readings without a write: see also Dice and Kogan, "BRAVO: Biased Locking
//! for Reader-Writer Locks" (USENIX ATC 2019).

use super::sync::{
    AtomicBool, AtomicU32, AtomicUsize, OFTEN, Ordering, ReadGuard, RwLock, WriteGuard,
    has_heavy_barrier, heavy_barrier, light_barrier, pause,
};

/// A gate before something that is read and changed.
#[derive(Default)]
pub(super) struct Gate {
    lock: RwLock,
    open: AtomicBool,
    /// Readings with the lock since the last write: about, as nobody needs to know it exactly.
    readings: AtomicU32,
}

/// Where a thread notes what it reads. It belongs to one thread at a time, and is alone in its
/// lines.
#[repr(align(128))]
pub(crate) struct Place {
    /// The gate that the thread is in: 0 outside of all.
    pub(super) gate: AtomicUsize,
    /// What the thread goes on reading when it has left the gate: 0 if nothing.
    pub(super) held: AtomicUsize,
}

/// A reader in an open gate: nobody changes what is behind it.
pub(super) struct Inside<'a>(&'a Place);

impl Drop for Inside<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // What was read before is read before a writer sees this.
        self.0.gate.store(0, Ordering::Release);
    }
}

/// A reader that notes what it goes on reading.
pub(super) struct Holding<'a>(&'a Place);

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
    heavy_barrier();
    for place in places {
        while place.gate.load(Ordering::Acquire) != 0 {
            pause();
        }
    }
    move |it| places.iter().any(|place| place.held.load(Ordering::Acquire) == it)
}

impl Gate {
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
        if place.gate.load(Ordering::Relaxed) != 0 {
            return None;
        }
        place.gate.store(self.number(), Ordering::Relaxed);
        let inside = Inside(place);
        light_barrier();
        // If this is what was set when it opened, all writes before are seen.
        self.open.load(Ordering::Acquire).then_some(inside)
    }

    /// Waits until nobody writes; nobody does while the guard lives.
    pub(super) fn read(&self) -> ReadGuard<'_> {
        let guard = self.lock.read();
        // Writers are outside, so it cannot be closed now.
        let readings = self.readings.load(Ordering::Relaxed);
        if readings < OFTEN {
            self.readings.store(readings + 1, Ordering::Relaxed);
        } else if !self.open.load(Ordering::Relaxed) && has_heavy_barrier() {
            self.open.store(true, Ordering::Release);
        }
        guard
    }

    /// Waits until nobody reads or writes; nobody else does while the guard lives. The places are
    /// those of all threads.
    pub(super) fn write(&self, places: &[Place]) -> WriteGuard<'_> {
        let guard = self.lock.write();
        self.readings.store(0, Ordering::Relaxed);
        if self.open.load(Ordering::Relaxed) {
            self.close(places);
        }
        guard
    }

    /// With the lock for writing.
    #[cold]
    #[inline(never)]
    fn close(&self, places: &[Place]) {
        self.open.store(false, Ordering::Relaxed);
        // A reader whose note comes before this is waited for. One whose note comes later looks
        // later, and sees that the gate is closed.
        heavy_barrier();
        for place in places {
            while place.gate.load(Ordering::Acquire) == self.number() {
                pause();
            }
        }
    }
}
