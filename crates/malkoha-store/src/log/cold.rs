//! Bytes that come from the device, where many reads can be requested at a time.
//!
//! A request takes a system call, so it must pay: after a read that waited for the device, some
//! reads are requested beforehand, then one is not, to see whether reads still wait.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::storage::major_faults;

/// If this part of the reads wait for the device, that counts as often.
const OFTEN: i64 = 32;
/// Reads that are requested beforehand after reads waited often.
const FOLLOWING: u32 = 64;

/// How many more reads are requested beforehand.
#[derive(Default)]
pub(crate) struct Cold(AtomicU32);

impl Cold {
    /// Reads this many things, and calls `ask` first if earlier reads had to wait.
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
