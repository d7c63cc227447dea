//! The memory of filters as the server's allocator counts it: rounded up to sizes that only it
//! knows.

use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated, less those that it has freed.
    static BALANCE: Cell<i64> = const { Cell::new(0) };
}

/// Counts allocated bytes, or freed bytes if negative.
#[cfg_attr(test, expect(dead_code, reason = "tests have no server whose allocator tells"))]
pub(crate) fn enter(bytes: i64) {
    BALANCE.with(|balance| balance.set(balance.get().wrapping_add(bytes)));
}

/// What work returns, and by how many bytes the memory has grown that it has not given back. What
/// is returned must have no memory of its own, or it counts as the work's.
pub(crate) fn measure<T>(work: impl FnOnce() -> T) -> (T, i64) {
    let before = BALANCE.with(Cell::get);
    let outcome = work();
    (outcome, BALANCE.with(Cell::get).wrapping_sub(before))
}
