//! Records that come from the device, where many can be asked for at a time.
//!
//! Asking takes a system call for each, so it is done only where it pays: a stretch of keys that waited
//! for the device is followed by some that are asked for beforehand, then by one that is not, to see
//! whether that is still so.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::log::FileTable;
use crate::storage::major_faults;

/// Keys of a stretch: as many reads are on their way at once.
pub(super) const STRETCH: usize = 256;
/// The part of the keys of a stretch from which on waiting for the device is often.
const OFTEN: i64 = 32;
/// Stretches that are asked for beforehand since one waited often.
const FOLLOWING: u32 = 64;

/// How many stretches are asked for beforehand, from now on.
#[derive(Default)]
pub(super) struct Cold(AtomicU32);

impl Cold {
    /// Reads a stretch of so many keys, of which the first candidates are at these locations.
    pub(super) fn read<T>(
        &self,
        table: &FileTable,
        locations: impl ExactSizeIterator<Item = u64>,
        read: impl FnOnce() -> T,
    ) -> T {
        let keys = i64::try_from(locations.len()).unwrap_or(i64::MAX);
        let left = self.0.load(Ordering::Relaxed);
        if left > 0 {
            locations.for_each(|location| table.will_need(location));
            self.0.store(left - 1, Ordering::Relaxed);
            return read();
        }
        let before = major_faults();
        let made = read();
        if (major_faults() - before).saturating_mul(OFTEN) > keys {
            self.0.store(FOLLOWING, Ordering::Relaxed);
        }
        made
    }
}
