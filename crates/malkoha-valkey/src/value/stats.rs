//! Counters for INFO, over all filters of the server, and their memory as its allocator counts it:
//! rounded up to sizes that only it knows.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that any thread may change, because the server frees values in the background.
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds modulo 2^64, so that negative numbers can be added too.
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn subtract(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Filters that exist.
pub(crate) static FILTERS: Counter = Counter(AtomicU64::new(0));
/// Bytes that their tables take.
pub(crate) static BYTES: Counter = Counter(AtomicU64::new(0));
/// Filters that have a part in RedisBloom's layout.
pub(crate) static REDISBLOOM: Counter = Counter(AtomicU64::new(0));
/// Copies of items that were added since the server started.
pub(crate) static ADDED: Counter = Counter(AtomicU64::new(0));
/// Copies that were deleted.
pub(crate) static DELETED: Counter = Counter(AtomicU64::new(0));
/// Additions that were refused.
pub(crate) static REFUSED: Counter = Counter(AtomicU64::new(0));

thread_local! {
    /// Bytes that this thread has allocated, less those that it has freed.
    static BALANCE: Cell<i64> = const { Cell::new(0) };
}

/// Counts allocated bytes, or freed bytes if negative.
#[cfg_attr(test, expect(dead_code, reason = "tests have no server whose allocator tells"))]
pub(crate) fn count_allocated(bytes: i64) {
    BALANCE.with(|balance| balance.set(balance.get().wrapping_add(bytes)));
}

/// Runs `work`; returns its result and the net bytes that it allocated, those of the result too.
pub(crate) fn measure<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = BALANCE.with(Cell::get);
    let outcome = work();
    (outcome, BALANCE.with(Cell::get).wrapping_sub(before))
}
