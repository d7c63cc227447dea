//! Counts of dead bytes and tombstones of a log file, and what is known about its copy.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::expiring::Expiring;
use super::file::{Interrupted, LogFile};
use super::header::HEADER_BYTES;

impl LogFile {
    /// Bytes of records that were overwritten or deleted, or that have ended.
    pub(crate) fn dead(&self) -> u64 {
        self.usage.dead.load(Ordering::Relaxed)
    }

    pub(crate) fn add_dead(&self, bytes: u64) {
        self.usage.dead.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn tombstones(&self) -> u64 {
        self.usage.tombstones.load(Ordering::Relaxed)
    }

    pub(crate) fn add_tombstones(&self, bytes: u64) {
        self.usage.tombstones.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of present records, or a little more.
    pub(crate) fn live(&self) -> u64 {
        self.end().saturating_sub(self.dead() + self.tombstones())
    }

    /// Counts a record of `bytes` bytes as the present one of its key until it ends. Returns how
    /// many of these bytes count as live; the others count as dead.
    pub(crate) fn add_present(&self, end: Option<u64>, bytes: u64) -> u64 {
        if end.is_none_or(|end| self.usage.expiring.lock().add(end, bytes)) {
            return bytes;
        }
        self.add_dead(bytes);
        0
    }

    /// A record is no longer the present one of its key. Returns how many of its bytes counted as
    /// live until then.
    pub(crate) fn remove_present(&self, end: Option<u64>, bytes: u64) -> u64 {
        if end.is_none_or(|end| self.usage.expiring.lock().remove(end, bytes)) {
            self.add_dead(bytes);
            return bytes;
        }
        0
    }

    /// Counts records that have ended by now as dead. Returns how many bytes did not count as dead
    /// before.
    pub(crate) fn end_expired(&self, now: u64) -> u64 {
        let bytes = self.usage.expiring.lock().end(now);
        self.add_dead(bytes);
        bytes
    }

    /// The most bytes of a file for the records that compaction copies from an offset on.
    pub(crate) fn needed(&self, from: u64, is_oldest: bool) -> u64 {
        let (dead, tombstones) = (self.dead(), self.tombstones());
        let (gone, longer) = if is_oldest {
            (dead + tombstones, 0)
        } else if self.usage.expiring.lock().has_ended() {
            // One that has ended may leave a tombstone, which is no longer than it was.
            (0, tombstones / 2)
        } else {
            // A tombstone of at least 16 bytes gets 8 for its age.
            (dead, tombstones / 2)
        };
        let kept = (self.end() - from).min(self.end().saturating_sub(gone)) + longer;
        HEADER_BYTES as u64 + self.rest().map_or(kept, |rest| rest.min(kept))
    }

    /// The least bytes that rewriting this file gives back.
    pub(crate) fn gives(&self, is_oldest: bool) -> u64 {
        self.end().saturating_sub(self.needed(HEADER_BYTES as u64, is_oldest))
    }

    /// Present records that end, by when they do.
    pub(crate) fn expiring(&self) -> Expiring {
        self.usage.expiring.lock().clone()
    }

    pub(crate) fn add_expiring(&self, more: &Expiring) {
        self.usage.expiring.lock().merge(more);
    }

    /// The sequence numbers that its copies of tombstones had at first, in order.
    pub(crate) fn origins(&self) -> Arc<[u64]> {
        // Other readers report damage.
        let records = self.records(self.end()).flatten();
        let mut origins: Vec<u64> = records.filter_map(|(record, ..)| record.origin()).collect();
        origins.sort_unstable();
        origins.into()
    }

    /// Notes the tombstones that a copy already has, and the most bytes that it still needs.
    pub(crate) fn note_copy(&self, origins: &Arc<[u64]>, rest: u64) {
        let noted = Interrupted { origins: Arc::clone(origins), rest };
        let _ = self.usage.interrupted.set(Box::new(noted));
    }

    /// Whether a tombstone of this origin was copied before.
    pub(crate) fn is_copied(&self, origin: u64) -> bool {
        let noted = self.usage.interrupted.get();
        noted.is_some_and(|noted| noted.origins.binary_search(&origin).is_ok())
    }

    /// The most bytes that a copy still needs, if that was noted.
    pub(crate) fn rest(&self) -> Option<u64> {
        self.usage.interrupted.get().map(|noted| noted.rest)
    }

    /// Another file has the same records.
    pub(super) fn take_usage(&self, other: &Self) {
        self.add_dead(other.dead());
        self.add_tombstones(other.tombstones());
        self.add_expiring(&other.expiring());
    }
}
