//! Whether any byte of any file could not be read.

use std::sync::atomic::{AtomicBool, Ordering};

/// One flag for all readers, since the process began.
static ANY: AtomicBool = AtomicBool::new(false);

/// Whether any byte of any file was lost.
#[inline(always)]
pub(crate) fn any_lost() -> bool {
    ANY.load(Ordering::Acquire)
}

/// Notes that a byte was lost. A signal handler may call it.
pub(super) fn note_lost() {
    ANY.store(true, Ordering::Release);
}
