//! What a [`Gate`](super::gate::Gate) is made of. Tests replace it, to try all orders of its steps.

use std::sync::OnceLock;
use std::sync::atomic::compiler_fence;
pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

pub(super) type RwLock = parking_lot::RwLock<()>;
pub(super) type ReadGuard<'a> = parking_lot::RwLockReadGuard<'a, ()>;
pub(super) type WriteGuard<'a> = parking_lot::RwLockWriteGuard<'a, ()>;

/// Readings with the lock before a gate opens: enough that closing it again costs little beside
/// them.
pub(super) const OFTEN: u32 = 512;

/// With a [`heavy_barrier`] of another thread, as good as a barrier of this one.
#[inline(always)]
pub(super) fn light_barrier() {
    compiler_fence(Ordering::SeqCst);
}

/// Lets a thread that is waited for run.
pub(super) fn pause() {
    std::thread::yield_now();
}

/// Whether there is a [`heavy_barrier`].
pub(super) fn has_heavy_barrier() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| membarrier(REGISTER))
}

/// A barrier in all threads of this process.
///
/// # Panics
///
/// If the system no longer has it, although it had before: readers would not be safe.
pub(super) fn heavy_barrier() {
    assert!(membarrier(EXPEDITED), "the system's memory barrier has failed");
}

/// `MEMBARRIER_CMD_PRIVATE_EXPEDITED` and what registers a process for it.
const EXPEDITED: i32 = 1 << 3;
const REGISTER: i32 = 1 << 4;

/// Whether a command of the system call succeeded. A child of a fork stays registered.
#[cfg(target_os = "linux")]
fn membarrier(command: i32) -> bool {
    // SAFETY: the call takes three integers, and touches no memory of the caller.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn membarrier(_command: i32) -> bool {
    false
}
