//! Reclaims space: the live records of a file are written again at the end of the log, and the file
//! is removed.
//!
//! ```text
//! select --file--> rewrite (decide: which records) --copied--> remove
//! full_device: until a write has found room
//! ```
//!
//! The order makes it safe to stop at any step. A copy lies behind all records of its key, so a
//! replay that meets both uses the copy. Files are removed, the oldest first, only after the log is
//! synced and a checkpoint without them is written.
//!
//! A tombstone is copied as long as there is an older file, other than those that are removed
//! before its own: such a file may still have the key. The tombstone keeps its age, so that it
//! disappears eventually.

mod full_device;
mod remove;
mod rewrite;
mod select;

use std::sync::Arc;

use super::Store;
use crate::error::{Error, Result};
use crate::log::LogFile;
pub(super) use rewrite::Pace;
use select::is_worthwhile;

/// The share of dead bytes from which [`Store::compact`] rewrites a file.
const WORTHWHILE: f64 = 0.02;

impl Store {
    /// Gives back the space of dead records, where it is more than a fiftieth of a file, and memory
    /// that the index does not need. Others wait for a 64th of the index to be rebuilt, and writers
    /// for the copying of 64 KiB, at most.
    ///
    /// # Errors
    ///
    /// If a file is damaged, the device is full, or the system refuses. Nothing is lost then, and
    /// all other space is given back.
    pub fn compact(&self) -> Result<()> {
        // Readable files need not wait for unreadable ones, and compaction may make room.
        let deleted = match self.delete_removed_tables() {
            Err(error) if !error.is_unreadable() && !matches!(error, Error::NoSpace { .. }) => {
                return Err(error);
            }
            deleted => deleted,
        };
        let mut maintained = self.inner.maintenance();
        // Also the last file, if space can be reclaimed from it: tombstones, if all files before it
        // are removed.
        let others = self.inner.files.load().all().len().saturating_sub(1);
        let all = self.inner.files_worth(WORTHWHILE)?.len() == others;
        let mut writer = self.inner.writer()?;
        let gives = |tail: &Arc<LogFile>| {
            is_worthwhile(tail.dead(), tail.end(), WORTHWHILE) || all && tail.tombstones() > 0
        };
        if writer.tail.as_ref().is_some_and(gives) {
            writer.seal()?;
        }
        drop(writer);
        // The index too, before it is written into a checkpoint.
        self.inner.index.shrink();
        self.inner.renew_index(&maintained, Pace::FULL.stop)?;
        let mut files = self.inner.files_worth(WORTHWHILE)?.into_iter();
        let refused = match self.inner.compact(&mut maintained, |_| Ok(files.next()), &Pace::FULL) {
            // The tombstones of some would get longer than the room for a copy.
            Err(error @ Error::NoSpace { .. }) => {
                self.inner.make_all_room(&mut maintained)?;
                Err(error)
            }
            done => Ok(done?),
        };
        // Also the room that is reserved for later writes: they get a file of their own.
        let writer = self.inner.writer()?;
        let trimmed = writer.tail.as_ref().map_or(Ok(()), |tail| tail.trim());
        self.inner.throttle.note(&self.inner.files.load(), &writer);
        trimmed.and(deleted).and(if writer.reserve.is_short() { refused } else { Ok(()) })
    }
}
