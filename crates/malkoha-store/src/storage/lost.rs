//! Whether any byte of any file could not be read.

use std::sync::atomic::{AtomicBool, Ordering};

/// One look for all that read, since the process began.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether any was lost: if not, none of any file is.
#[inline(always)]
pub(crate) fn any_lost() -> bool {
    ANY.load(Ordering::Acquire)
}

/// Notes that one was lost. A signal handler may call it.
pub(super) fn note_lost() {
    ANY.store(true, Ordering::Release);
}
