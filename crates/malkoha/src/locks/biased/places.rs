//! The places of all threads of the process.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::lock::Place;

/// Threads that have a place. Others take locks.
const PLACES: usize = 128;

static ALL: [Place; PLACES] =
    [const { Place { lock: AtomicUsize::new(0), held: AtomicUsize::new(0) } }; PLACES];
static TAKEN: [AtomicBool; PLACES] = [const { AtomicBool::new(false) }; PLACES];

thread_local! {
    /// The place of this thread, once it has asked for one. Nothing is to be done when the thread
    /// ends, so reading this is one load.
    static MINE: Cell<Option<&'static Place>> = const { Cell::new(None) };
    static CLAIM: Claim = Claim::new();
}

/// The number of a thread's place, while the thread runs.
struct Claim(Option<usize>);

impl Claim {
    fn new() -> Self {
        Self(TAKEN.iter().position(|taken| !taken.swap(true, Ordering::Acquire)))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        MINE.set(None);
        if let Some(number) = self.0 {
            TAKEN[number].store(false, Ordering::Release);
        }
    }
}

/// The place of this thread, if it has one.
#[inline(always)]
pub(super) fn mine() -> Option<&'static Place> {
    MINE.get().or_else(claim)
}

#[cold]
#[inline(never)]
fn claim() -> Option<&'static Place> {
    let number = CLAIM.try_with(|claim| claim.0).ok().flatten()?;
    MINE.set(ALL.get(number));
    MINE.get()
}

/// Those of all threads.
pub(super) fn all() -> &'static [Place] {
    &ALL
}

/// In the child of a fork, where this thread is the only one: the others have left all gates and
/// given back their places. Else writers would wait for them.
#[cfg(target_os = "linux")]
pub(super) extern "C" fn forget_others() {
    let mine = MINE.get();
    for (place, taken) in ALL.iter().zip(&TAKEN) {
        if !mine.is_some_and(|mine| std::ptr::eq(mine, place)) {
            place.lock.store(0, Ordering::Relaxed);
            place.held.store(0, Ordering::Relaxed);
            taken.store(false, Ordering::Relaxed);
        }
    }
}

/// How many threads have one.
#[cfg(test)]
pub(super) fn taken() -> usize {
    TAKEN.iter().filter(|taken| taken.load(Ordering::Relaxed)).count()
}
