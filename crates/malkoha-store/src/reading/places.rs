//! The places of all threads of the process.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::gate::Place;

/// Threads that have a place. Others take locks.
const PLACES: usize = 128;

static ALL: [Place; PLACES] =
    [const { Place { gate: AtomicUsize::new(0), held: AtomicUsize::new(0) } }; PLACES];
static TAKEN: [AtomicBool; PLACES] = [const { AtomicBool::new(false) }; PLACES];

/// The number of a thread's place, while it runs.
struct Mine(Option<usize>);

thread_local! {
    static MINE: Mine = Mine(TAKEN.iter().position(|taken| !taken.swap(true, Ordering::Acquire)));
}

impl Drop for Mine {
    fn drop(&mut self) {
        if let Some(number) = self.0 {
            TAKEN[number].store(false, Ordering::Release);
        }
    }
}

/// The place of this thread, if it has one.
#[inline(always)]
pub(super) fn mine() -> Option<&'static Place> {
    let number = MINE.try_with(|mine| mine.0).ok().flatten()?;
    ALL.get(number)
}

/// Those of all threads.
pub(super) fn all() -> &'static [Place] {
    &ALL
}
