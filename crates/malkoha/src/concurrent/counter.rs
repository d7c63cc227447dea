//! A count that many threads change, each on a cache line of its own.

use std::cell::Cell;

use crate::sync::{AtomicU64, Ordering, Padded};

/// Parts of a count: threads share one only where there are more threads.
const PARTS: usize = if cfg!(any(loom, shuttle)) { 1 } else { 64 };

/// A sum of parts. Each part wraps around on its own.
#[derive(Debug)]
pub(crate) struct Counter {
    parts: Box<[Padded<AtomicU64>]>,
}

impl Counter {
    pub(crate) fn new(count: u64) -> Self {
        let part = |i| Padded(AtomicU64::new(if i == 0 { count } else { 0 }));
        Self { parts: (0..PARTS).map(part).collect() }
    }

    #[inline]
    pub(crate) fn add(&self, change: i64) {
        // Wrapping: two's complement makes a subtraction of it.
        self.parts[part()].0.fetch_add(change.cast_unsigned(), Ordering::Relaxed);
    }

    /// Exact while no thread changes it; otherwise a count that it had during the call, or nearly.
    pub(crate) fn get(&self) -> u64 {
        let parts = self.parts.iter().map(|part| part.0.load(Ordering::Relaxed));
        let sum = parts.fold(0, u64::wrapping_add);
        // A removal may become visible before the insert that preceded it.
        if sum.cast_signed() < 0 { 0 } else { sum }
    }
}

/// The part of this thread.
#[inline]
fn part() -> usize {
    /// The next thread's number. Not part of any protocol, so not a checker's.
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    thread_local! {
        static PART: Cell<usize> =
            Cell::new(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % PARTS);
    }
    PART.with(Cell::get)
}
