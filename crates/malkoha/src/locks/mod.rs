//! Locks by which writers of a shared filter exclude each other, and what they guard.
//!
//! A filter's type parameter is a [`Locking`]: [`Striped`], the default, or [`Global`], over a
//! [`Lock`].
//!
//! ```
//! use malkoha::{Builder, ConcurrentCuckooFilterWith};
//! use malkoha::locks::{McsLock, Striped};
//!
//! let builder = Builder::new().capacity(1000).fpr(0.01);
//! let queued: ConcurrentCuckooFilterWith<Striped<McsLock>> = builder.build()?;
//! # Ok::<(), malkoha::BuildError>(())
//! ```

#[doc(hidden)]
pub mod biased;
mod elided;
mod mcs;

pub use elided::ElidedMcsLock;
pub use mcs::McsLock;

use std::fmt::Debug;
use std::marker::PhantomData;

use crate::sync::{Mutex, lock};

/// Mutual exclusion: [`ParkingLock`], [`McsLock`] or [`ElidedMcsLock`].
#[expect(private_bounds, reason = "sealed: how a lock is held is no promise")]
pub trait Lock: Exclude {}

impl<L: Exclude> Lock for L {}

/// A lock of a table. Nothing that runs under one calls back into the filter.
pub(crate) trait Exclude: Debug + Default + Send + Sync {
    /// Runs `critical` while no other thread is in a `with` or `hold` of this lock.
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R;

    /// [`with`](Self::with) for a section that reads or writes too much for a transaction.
    fn hold<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.with(critical)
    }
}

/// The default: a thread that finds the lock taken sleeps until it is free.
#[derive(Debug, Default)]
pub struct ParkingLock(Mutex<()>);

impl Exclude for ParkingLock {
    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = lock(&self.0);
        critical()
    }
}

/// Where another lock excludes.
#[derive(Debug, Default)]
pub(crate) struct NoLock;

impl Exclude for NoLock {
    #[inline(always)]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}

/// The locks of a filter: [`Striped`] or [`Global`].
#[expect(private_bounds, reason = "sealed: what each lock guards is no promise")]
pub trait Locking: Guards {}

impl<G: Guards> Locking for G {}

/// The locks of a filter: one for the whole of it, and one for each of its stripes.
pub(crate) trait Guards {
    /// Held by every operation, lookups too.
    type Whole: Exclude;
    /// Held by what takes a fingerprint of the stripe out of a slot.
    type Stripe: Exclude;
}

/// One lock per stripe: lookups take none, inserts only for keys that have to move.
#[derive(Debug)]
pub struct Striped<L>(PhantomData<L>);

impl<L: Exclude> Guards for Striped<L> {
    type Whole = NoLock;
    type Stripe = L;
}

/// One lock around every operation, as in the thesis (its algorithms 1.1 to 1.4): for comparison.
#[derive(Debug)]
pub struct Global<L>(PhantomData<L>);

impl<L: Exclude> Guards for Global<L> {
    type Whole = L;
    type Stripe = NoLock;
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

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
