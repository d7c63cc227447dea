//! Asks the system for records that are not in memory, many at a time.
//!
//! A request is a system call, so it must pay: after a read that waited for the device, some reads
//! are requested beforehand. Then one is not, to see whether reads still wait.

use std::sync::atomic::{AtomicU32, Ordering};

/// Reads wait often if one in this many does.
const OFTEN: i64 = 32;
/// Reads that are requested beforehand after reads waited often.
const FOLLOWING: u32 = 64;

/// How many more reads are requested beforehand.
#[derive(Default)]
pub(crate) struct Readahead(AtomicU32);

impl Readahead {
    /// Calls `read`, which reads this many records, and before that `ask` if earlier reads waited.
    pub(crate) fn read<T>(
        &self,
        records: usize,
        ask: impl FnOnce(),
        read: impl FnOnce() -> T,
    ) -> T {
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            ask();
            self.0.store(left - 1, Ordering::Relaxed);
            return read();
        }
        let before = major_faults();
        let made = read();
        let waited = (major_faults() - before).saturating_mul(OFTEN);
        if waited > i64::try_from(records).unwrap_or(i64::MAX) {
            self.0.store(FOLLOWING, Ordering::Relaxed);
        }
        made
    }
}

/// The number of mapped pages that this thread has waited for. Not the time: that is long, too, if
/// other threads have the processor.
#[cfg(target_os = "linux")]
fn major_faults() -> i64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a live value of this type, of which zeros are one.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_majflt
    }
}

/// Not known on this system.
#[cfg(not(target_os = "linux"))]
fn major_faults() -> i64 {
    0
}
