//! Makes room on a full device, as long as a write finds none.
//!
//! Usually the file that gives back most is rewritten. Where deletes are spread over all files, and
//! a tombstone is about as long as what it removes, that alone exchanges one for the other, because
//! a tombstone is needed until all older files are rewritten. So a pass over all files, from the
//! oldest on, begins once tombstones take much of the log, or no file gives back enough. It ends as
//! soon as the write has room, and the next write goes on from there. A whole pass gives back
//! everything that was dead, and all tombstones.

use std::sync::Arc;

use super::compact::Pace;
use super::victims::is_worthwhile;
use super::{Inner, Maintained};
use crate::error::{Error, Result};
use crate::index;
use crate::log::{FileTable, HEADER_BYTES, LEAST_DEAD, LogFile};
use crate::recovery::OnDamage;

/// The share of dead bytes from which puts rewrite files. Deletes are worth any effort, because a
/// full store must not stay full.
const SHARE: f64 = 0.1;
/// The part of the live bytes from which tombstones are too many.
const MANY: u64 = 8;

/// What one write has tried to find room.
#[derive(Default)]
struct Tried {
    /// The sequence number at which a pass ends: 0 until it is known.
    pass_ends: u64,
    /// Files for whose copy there was no room, as that of a batch longer than a file.
    too_long: Vec<u64>,
}

impl Tried {
    /// Whether a file cannot be rewritten now.
    fn is_hopeless(&self, file: &LogFile) -> bool {
        file.is_unreadable() || self.too_long.contains(&file.id())
    }
}

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
        let mut tried = Tried::default();
        loop {
            match write() {
                Err(error @ Error::NoSpace { .. }) => {
                    if !self.make_room(&mut self.maintenance(), share, &mut tried)? {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
    }

    /// Gives back all that is dead on a full device.
    pub(super) fn make_all_room(&self, maintained: &mut Maintained) -> Result<()> {
        let mut tried = Tried::default();
        while self.make_room(maintained, 0.0, &mut tried)? {}
        Ok(())
    }

    /// Ends what a crash left of a compaction on a full device: a copy whose rest fits nowhere but
    /// into the last file, or a new checkpoint in the room for a copy.
    pub(super) fn end_interrupted(&self) -> Result<()> {
        self.writer()?.want_reserve(&self.files.load())?;
        self.note_interrupted()?;
        let (mut maintained, mut tried) = (self.maintenance(), Tried::default());
        while let Some(victim) = self.interrupted(&tried)? {
            self.rewrite_for_room(&mut maintained, victim, &mut tried)?;
        }
        let lacks = self.writer()?.lacks();
        if lacks.is_some_and(|bytes| index::size(&*self.storage) >= bytes) {
            self.restore_reserve(&mut maintained)?;
        }
        Ok(())
    }

    /// Notes what the last file has already of those that may have been copied into it.
    fn note_interrupted(&self) -> Result<()> {
        if !self.writer()?.is_short() {
            return Ok(());
        }
        // As before the copy began.
        self.end_expired()?;
        let (writer, table) = (self.writer()?, self.files.load());
        let Some(tail) = writer.tail() else { return Ok(()) };
        let origins = tail.origins();
        for file in table.files().iter().filter(|file| file.id() != tail.id()) {
            // The header and the seal count as live. No other file is read.
            if writer.fits(file.live().saturating_sub(2 * HEADER_BYTES as u64)) {
                file.note_copy(&origins, self.rest_of_copy(file, &origins));
            }
        }
        Ok(())
    }

    /// A file whose copy may have been interrupted, where the room for one is used up: of those
    /// whose rest fits into the last file the one that gives back most.
    fn interrupted(&self, tried: &Tried) -> Result<Option<Arc<LogFile>>> {
        let (writer, table) = (self.writer()?, self.files.load());
        if !writer.is_short() {
            return Ok(None);
        }
        let files = table.files().iter().filter(|file| !tried.is_hopeless(file));
        let rests = files.filter_map(|file| Some((file.rest()?, file)));
        let fit = rests.filter(|(rest, _)| writer.fits(*rest));
        let most = fit.max_by_key(|(rest, file)| file.end().saturating_sub(*rest));
        Ok(most.map(|(_, file)| Arc::clone(file)))
    }

    /// Rewrites a file, if that makes room for a write that is worth it. Returns whether there was
    /// such a file.
    fn make_room(
        &self,
        maintained: &mut Maintained,
        share: f64,
        tried: &mut Tried,
    ) -> Result<bool> {
        self.end_expired()?;
        if tried.pass_ends == 0 {
            tried.pass_ends = self.writer()?.sequence();
        }
        let Some(victim) = self.victim_for_room(&self.files.load(), share, tried) else {
            return Ok(false);
        };
        self.rewrite_for_room(maintained, victim, tried)?;
        Ok(true)
    }

    fn victim_for_room(
        &self,
        table: &FileTable,
        share: f64,
        tried: &Tried,
    ) -> Option<Arc<LogFile>> {
        let sum = |bytes: fn(&LogFile) -> u64| table.files().iter().map(|it| bytes(it)).sum();
        let (dead, tombstones): (u64, u64) = (sum(LogFile::dead), sum(LogFile::tombstones));
        let oldest = table.files().first()?;
        let gives = |file: &LogFile| file.gives(file.id() == oldest.id());
        let others = table.files().iter().filter(|file| !tried.is_hopeless(file));
        let best = others.max_by_key(|file| gives(file))?;
        // The copy takes the rest of a page in addition.
        let is_enough = gives(best) >= LEAST_DEAD.min(best.end() / 4)
            && is_worthwhile(gives(best), best.end(), share);
        let is_mostly_dead = gives(best) >= best.end() / 2;
        let pass = || {
            // Tombstones stay as long as an older file does.
            let goes_on =
                !tried.is_hopeless(oldest) && oldest.header.first_sequence < tried.pass_ends;
            (goes_on && is_worthwhile(dead + tombstones, table.bytes(), share)).then_some(oldest)
        };
        let victim = if is_enough && (is_mostly_dead || tombstones <= self.space.live() / MANY) {
            Some(best)
        } else {
            pass().or(is_enough.then_some(best))
        };
        victim.map(Arc::clone)
    }

    /// Rewrites a file and removes it, or notes that this cannot be done.
    fn rewrite_for_room(
        &self,
        maintained: &mut Maintained,
        victim: Arc<LogFile>,
        tried: &mut Tried,
    ) -> Result<()> {
        let mut turn = self.turn()?;
        if turn.writer.tail().is_some_and(|tail| tail.id() == victim.id()) {
            turn.writer.seal()?;
        }
        drop(turn);
        let pace = Pace { rate: None, stop: &|| false };
        match self.rewrite(&victim, &[], &pace, OnDamage::Refuse) {
            Ok(_) => self.remove_files(maintained, vec![victim])?,
            // It stays for a repair; the others need not wait for that.
            Err(error) if error.is_unreadable() => victim.set_unreadable(),
            Err(Error::NoSpace { .. }) => tried.too_long.push(victim.id()),
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
