//! Bytes that come from the device, where many can be asked for at a time.
//!
//! Asking takes a system call, so it is done only where it pays: a read that waited for the device
//! is followed by some that are asked for beforehand, then by one that is not, to see whether that
//! is still so.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::storage::major_faults;

/// The part of the things that are read from which on waiting for the device is often.
const OFTEN: i64 = 32;
/// Reads that are asked for beforehand since one waited often.
const FOLLOWING: u32 = 64;

/// How many reads are asked for beforehand, from now on.
#[derive(Default)]
pub(crate) struct Cold(AtomicU32);

impl Cold {
    /// Reads `things` things, after `ask` if earlier reads had to wait.
    pub(crate) fn read<T>(&self, things: usize, ask: impl FnOnce(), read: impl FnOnce() -> T) -> T {
        let things = i64::try_from(things).unwrap_or(i64::MAX);
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            ask();
            self.0.store(left - 1, Ordering::Relaxed);
            return read();
        }
        let before = major_faults();
        let made = read();
        if (major_faults() - before).saturating_mul(OFTEN) > things {
            self.0.store(FOLLOWING, Ordering::Relaxed);
        }
        made
    }
}
