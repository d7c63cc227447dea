//! The places of all threads of a model. A model has few, and forgets them at its end.

use std::sync::atomic::{AtomicUsize as Count, Ordering};

#[cfg(loom)]
use loom::{lazy_static, thread_local};
#[cfg(shuttle)]
use shuttle::{lazy_static, thread_local};

use super::lock::Place;
use crate::concurrent::sync::AtomicUsize;

/// At most four threads, which get their places in the order in which they ask.
struct Places {
    all: [Place; 4],
    asked: Count,
}

lazy_static! {
    static ref PLACES: Places = {
        let all = [(); 4].map(|()| Place { lock: AtomicUsize::new(0), held: AtomicUsize::new(0) });
        Places { all, asked: Count::new(0) }
    };
}

thread_local! {
    static NUMBER: usize = PLACES.asked.fetch_add(1, Ordering::Relaxed);
}

/// The place of this thread, if it has one.
pub(super) fn mine() -> Option<&'static Place> {
    let number = NUMBER.with(|&number| number);
    all().get(number)
}

/// Those of all threads.
pub(super) fn all() -> &'static [Place] {
    &PLACES.all
}
