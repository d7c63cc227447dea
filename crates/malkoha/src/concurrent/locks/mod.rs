//! Locks by which writers exclude each other, and what they guard.

mod elided;
mod mcs;
mod rtm;

pub use elided::ElidedMcsLock;
pub use mcs::McsLock;
pub use rtm::{Rtm, Status, Transactions};

use std::fmt::Debug;
use std::marker::PhantomData;

use super::sync::{Mutex, lock};

/// Mutual exclusion. Nothing that this crate calls under a lock calls back into the filter.
///
/// A lock that does not exclude makes answers wrong, but no operation unsound: whatever is shared is
/// atomic.
pub trait Lock: Debug + Default + Send + Sync {
    /// Runs `critical` while no other thread is in a `with` of this lock.
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R;
}

/// The default: a thread that finds the lock taken sleeps until it is free.
#[derive(Debug, Default)]
pub struct ParkingLock(Mutex<()>);

impl Lock for ParkingLock {
    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = lock(&self.0);
        critical()
    }
}

/// Where another lock does the excluding.
#[derive(Debug, Default)]
pub struct NoLock;

impl Lock for NoLock {
    #[inline(always)]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}

/// Which locks a filter has: one for the whole of it, and one for each of its stripes.
pub trait Locking {
    /// Held by every operation, lookups too.
    type Whole: Lock;
    /// Held by what takes a fingerprint of the stripe out of a slot.
    type Stripe: Lock;
}

/// A lock a stripe: lookups take none, inserts only for keys that have to move.
#[derive(Debug)]
pub struct Striped<L>(PhantomData<L>);

impl<L: Lock> Locking for Striped<L> {
    type Whole = NoLock;
    type Stripe = L;
}

/// One lock around every operation, as in the thesis (its algorithms 1.1 to 1.4): for comparison.
#[derive(Debug)]
pub struct Global<L>(PhantomData<L>);

impl<L: Lock> Locking for Global<L> {
    type Whole = L;
    type Stripe = NoLock;
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A counter that only a lock makes right.
    struct Counter<L> {
        lock: L,
        count: Cell<u64>,
    }

    // SAFETY: `count` is only touched under `lock`. That the locks exclude is what the test shows;
    // Miri and ThreadSanitizer report the race if they do not.
    unsafe impl<L: Lock> Sync for Counter<L> {}

    fn excludes<L: Lock>() {
        let rounds = if cfg!(miri) { 50 } else { 10_000 };
        let counter = Counter { lock: L::default(), count: Cell::new(0) };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let counter = &counter;
                    for _ in 0..rounds {
                        counter.lock.with(|| counter.count.set(counter.count.get() + 1));
                    }
                });
            }
        });
        assert_eq!(counter.count.get(), 4 * rounds);
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "needs threads")]
    fn locks_exclude() {
        excludes::<ParkingLock>();
        excludes::<McsLock>();
        excludes::<ElidedMcsLock>();
    }

    /// A panic under a lock leaves it free.
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "panics end the program")]
    fn locks_survive_panics() {
        fn check<L: Lock>() {
            let lock = L::default();
            let panic = std::panic::AssertUnwindSafe(|| lock.with(|| panic!("in the lock")));
            assert!(std::panic::catch_unwind(panic).is_err());
            assert_eq!(lock.with(|| 1), 1);
        }
        check::<ParkingLock>();
        check::<McsLock>();
        check::<ElidedMcsLock>();
    }
}
