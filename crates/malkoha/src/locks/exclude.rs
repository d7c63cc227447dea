//! Mutual exclusion.

use std::fmt::Debug;

/// Mutual exclusion: [`ParkingLock`](super::ParkingLock), [`McsLock`](super::McsLock) or
/// [`ElidedMcsLock`](super::ElidedMcsLock).
#[expect(private_bounds, reason = "sealed: how a lock is held is no promise")]
pub trait Lock: Exclude {}

/// What a table asks of a lock. Nothing that runs under one calls back into the filter.
pub(crate) trait Exclude: Debug + Default + Send + Sync {
    /// Runs `critical` while no other thread is in a `with` or `hold` of this lock.
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R;

    /// [`with`](Self::with) for a section that reads or writes too much for a transaction.
    fn hold<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.with(critical)
    }
}
