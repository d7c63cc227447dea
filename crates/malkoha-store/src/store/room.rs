//! Makes room on a full device, as long as a write finds none.
//!
//! Usually the file with the most dead bytes is rewritten. Where deletes are spread over all files,
//! and a tombstone is about as long as what it removes, that alone only replaces the one by the
//! other: a tombstone is needed until all files are rewritten that are older. So a pass over all
//! files, from the oldest on, begins once tombstones take much of the log, or no file has enough
//! dead bytes. It ends as soon as the write has room, and the next write goes on from there. A whole
//! pass gives back everything that was dead, and all tombstones.

use std::sync::Arc;

use super::compact::Pace;
use super::victims::is_worthwhile;
use super::{Inner, Maintained};
use crate::error::{Error, Result};
use crate::log::{FileTable, LEAST_DEAD, LogFile};
use crate::recovery::OnDamage;

/// The share of dead bytes from which puts rewrite files. Deletes are worth any effort, because a
/// full store must not stay full.
const SHARE: f64 = 0.1;
/// The part of the live bytes from which tombstones are too many.
const MANY: u64 = 8;

impl Inner {
    /// Waits until this many bytes may be written, and tries again as long as compaction makes room
    /// on a full device.
    pub(super) fn with_room<T>(
        &self,
        bytes: u64,
        deletes: bool,
        write: impl Fn() -> Result<T>,
    ) -> Result<T> {
        self.wait_for_space(bytes);
        let share = if deletes { 0.0 } else { SHARE };
        let mut pass_ends = None;
        loop {
            match write() {
                Err(error @ Error::NoSpace { .. }) => {
                    if !self.make_room(share, &mut pass_ends)? {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
    }

    /// Rewrites a file, if that makes room for a write that is worth it. The pass ends at the
    /// sequence number `pass_ends`. Returns whether there was such a file.
    fn make_room(&self, share: f64, pass_ends: &mut Option<u64>) -> Result<bool> {
        let mut maintained = self.maintenance();
        self.end_expired()?;
        let ends = *pass_ends.get_or_insert(self.writer()?.sequence());
        let Some(victim) = self.victim_for_room(&self.files.load(), share, ends) else {
            return Ok(false);
        };
        self.rewrite_for_room(&mut maintained, victim)?;
        Ok(true)
    }

    fn victim_for_room(&self, table: &FileTable, share: f64, ends: u64) -> Option<Arc<LogFile>> {
        let sum = |bytes: fn(&LogFile) -> u64| table.files().iter().map(|it| bytes(it)).sum();
        let (dead, tombstones, log): (u64, u64, u64) =
            (sum(LogFile::dead), sum(LogFile::tombstones), sum(LogFile::end));
        let readable = || table.files().iter().filter(|file| !file.is_unreadable());
        let most = readable().max_by_key(|file| file.dead())?;
        // The copy takes a header, a seal and the rest of a page in addition.
        let gives = most.dead() >= LEAST_DEAD.min(most.end() / 4)
            && is_worthwhile(most.dead(), most.end(), share);
        let is_mostly_dead = most.dead() >= most.end() / 2;
        let pass = || {
            // Tombstones stay as long as an older file does.
            let oldest = table.files().first().filter(|file| !file.is_unreadable())?;
            let goes_on = oldest.header.first_sequence < ends;
            (goes_on && is_worthwhile(dead + tombstones, log, share)).then_some(oldest)
        };
        let victim = if gives && (is_mostly_dead || tombstones <= self.space.live() / MANY) {
            Some(most)
        } else {
            pass().or(gives.then_some(most))
        };
        victim.map(Arc::clone)
    }

    fn rewrite_for_room(&self, maintained: &mut Maintained, victim: Arc<LogFile>) -> Result<()> {
        let mut turn = self.turn()?;
        if turn.writer.tail().is_some_and(|tail| tail.id() == victim.id()) {
            turn.writer.seal()?;
        }
        drop(turn);
        let pace = Pace { rate: None, stop: &|| false };
        if self.rewrite(&victim, &[], &pace, OnDamage::Refuse)? {
            self.remove_files(maintained, vec![victim])?;
        }
        Ok(())
    }
}
