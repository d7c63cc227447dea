//! Work in parts, side by side.

use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::sync::{Mutex, PoisonError};
#[cfg(feature = "std")]
use std::thread;

/// Does `work` on all parts, with a thread for each; one of them is the calling thread. If the
/// system refuses threads, the existing ones do all the work. Returns the results in the order of
/// the parts.
#[cfg(feature = "std")]
pub fn side_by_side<T: Send, R: Send>(parts: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let others = parts.len().saturating_sub(1);
    let mut done: Vec<Option<R>> = parts.iter().map(|_| None).collect();
    let left = Mutex::new(parts.into_iter().zip(&mut done));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some((part, done)) = next() {
            *done = Some(work(part));
        }
    };
    thread::scope(|scope| {
        for _ in 0..others {
            if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    drop(left);
    // A thread panics only if `work` does, and then the scope has panicked too.
    done.into_iter().map(|done| done.expect("all parts are done")).collect()
}

/// Without `std` there is this thread alone.
#[cfg(not(feature = "std"))]
pub(crate) fn side_by_side<T, R>(parts: Vec<T>, work: impl Fn(T) -> R) -> Vec<R> {
    parts.into_iter().map(work).collect()
}
