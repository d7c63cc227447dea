//! A barrier of which one side costs next to nothing.

use std::sync::OnceLock;
use std::sync::atomic::compiler_fence;

use crate::sync::{Ordering, fence};

/// Checkers know nothing of the system's barrier, and see what a compiler reorders. There both
/// sides are fences, which is weaker than what the system does, and orders as much as is needed.
const IS_CHECKED: bool = cfg!(any(loom, shuttle, miri));

/// With a [`heavy`] barrier of another thread, as good as a barrier of this one.
#[inline(always)]
pub(super) fn light() {
    if IS_CHECKED {
        fence(Ordering::SeqCst);
    } else {
        compiler_fence(Ordering::SeqCst);
    }
}

/// Whether there is a [`heavy`] barrier, and a child of a fork forgets the threads that it lacks.
/// `ThreadSanitizer` knows nothing of it, and is run on builds for all processors.
pub(super) fn is_available() -> bool {
    static IS_REGISTERED: OnceLock<bool> = OnceLock::new();
    IS_CHECKED || (!cfg!(malkoha_portable) && *IS_REGISTERED.get_or_init(system::register))
}

/// A barrier in all threads of this process.
///
/// # Panics
///
/// If the system no longer has it, although it had before: readers would not be safe.
pub(super) fn heavy() {
    if IS_CHECKED {
        fence(Ordering::SeqCst);
    } else {
        assert!(system::barrier(), "the system's memory barrier has failed");
    }
}

/// `membarrier`, since Linux 4.14.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod system {
    use crate::locks::biased::places;

    const PRIVATE_EXPEDITED: i32 = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;

    /// Whether a command succeeded.
    fn membarrier(command: i32) -> bool {
        // SAFETY: the call takes three integers, and touches no memory of the caller.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    pub(super) fn barrier() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }

    /// Once for each process. A child of a fork is registered as its parent was.
    pub(super) fn register() -> bool {
        // SAFETY: the function stores into static memory, which is all that a child may do. A
        // library that is unloaded takes it along.
        let forgets = || unsafe { libc::pthread_atfork(None, None, Some(places::forget_others)) };
        membarrier(REGISTER_PRIVATE_EXPEDITED) && forgets() == 0
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod system {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) use register as barrier;
}
