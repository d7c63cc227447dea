//! The places of all threads of the process, or of a model.

use crate::sync::AtomicUsize;

pub(super) use threads::*;

/// Where a thread notes the address of the lock that it passes, or 0. It belongs to one thread at a
/// time, and has lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Place(pub(super) AtomicUsize);

#[cfg(not(any(loom, shuttle)))]
mod threads {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use crate::locks::biased::places::Place;

    /// Threads that have a place. Others take locks.
    const PLACES: usize = 128;

    static ALL: [Place; PLACES] = [const { Place(AtomicUsize::new(0)) }; PLACES];
    static TAKEN: [AtomicBool; PLACES] = [const { AtomicBool::new(false) }; PLACES];

    thread_local! {
        /// The place of this thread, once it has asked for one. Nothing is to be done when the
        /// thread ends, so reading this is one load.
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
    pub(crate) fn mine() -> Option<&'static Place> {
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
    pub(crate) fn all() -> &'static [Place] {
        &ALL
    }

    /// In the child of a fork, where this thread is the only one: frees the places of the others,
    /// for which writers would wait otherwise.
    #[cfg(target_os = "linux")]
    pub(crate) extern "C" fn forget_others() {
        let mine = MINE.get();
        for (place, taken) in ALL.iter().zip(&TAKEN) {
            if !mine.is_some_and(|mine| std::ptr::eq(mine, place)) {
                place.0.store(0, Ordering::Relaxed);
                taken.store(false, Ordering::Relaxed);
            }
        }
    }

    /// How many threads have one.
    #[cfg(test)]
    pub(crate) fn taken() -> usize {
        TAKEN.iter().filter(|taken| taken.load(Ordering::Relaxed)).count()
    }
}

/// A model has few threads, and forgets them at its end.
#[cfg(any(loom, shuttle))]
mod threads {
    use std::sync::atomic::{AtomicUsize as Count, Ordering};

    #[cfg(loom)]
    use loom::{lazy_static, thread_local};
    #[cfg(shuttle)]
    use shuttle::{lazy_static, thread_local};

    use crate::locks::biased::places::Place;
    use crate::sync::AtomicUsize;

    /// At most four threads, which get their places in the order in which they ask.
    struct Places {
        all: [Place; 4],
        asked: Count,
    }

    lazy_static! {
        static ref PLACES: Places = {
            let all = [(); 4].map(|()| Place(AtomicUsize::new(0)));
            Places { all, asked: Count::new(0) }
        };
    }

    thread_local! {
        static NUMBER: usize = PLACES.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// The place of this thread, if it has one.
    pub(crate) fn mine() -> Option<&'static Place> {
        let number = NUMBER.with(|&number| number);
        all().get(number)
    }

    /// Those of all threads.
    pub(crate) fn all() -> &'static [Place] {
        &PLACES.all
    }
}
