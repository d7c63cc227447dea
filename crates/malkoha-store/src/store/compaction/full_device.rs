//! Makes room on a full device, as long as a write finds none.

use std::sync::Arc;

use super::rewrite::Pace;
use super::select::Tried;
use crate::error::{Error, Result};
use crate::index;
use crate::log::{HEADER_BYTES, LogFile};
use crate::recovery::OnDamage;
use crate::store::{Inner, Maintained};

/// The share of dead bytes from which puts rewrite files. Deletes are worth any effort, because a
/// full store must not stay full.
const SHARE: f64 = 0.1;

impl Inner {
    /// Waits until this many bytes can be written, and tries again as long as compaction makes room
    /// on a full device.
    pub(in crate::store) fn with_room<T>(
        &self,
        bytes: u64,
        deletes: bool,
        mut write: impl FnMut() -> Result<T>,
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

    /// Gives back all dead bytes on a full device.
    pub(super) fn make_all_room(&self, maintained: &mut Maintained) -> Result<()> {
        let mut tried = Tried::default();
        while self.make_room(maintained, 0.0, &mut tried)? {}
        Ok(())
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
            tried.pass_ends = self.writer()?.sequence;
        }
        let Some(file) = self.file_for_room(share, tried) else { return Ok(false) };
        self.rewrite_for_room(maintained, file, tried)?;
        Ok(true)
    }

    /// Rewrites a file and removes it, or notes that this cannot be done.
    fn rewrite_for_room(
        &self,
        maintained: &mut Maintained,
        file: Arc<LogFile>,
        tried: &mut Tried,
    ) -> Result<()> {
        let mut turn = self.turn()?;
        if turn.writer.tail.as_ref().is_some_and(|tail| tail.id() == file.id()) {
            turn.writer.seal()?;
        }
        drop(turn);
        match self.rewrite(&file, &[], &Pace::FULL, OnDamage::Refuse) {
            Ok(_) => self.remove_files(maintained, vec![file])?,
            // It stays for a repair; the others need not wait for that.
            Err(error) if error.is_unreadable() => file.set_unreadable(),
            Err(Error::NoSpace { .. }) => tried.too_long.push(file.id()),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Ends a compaction that a crash interrupted on a full device: a copy whose rest fits only
    /// into the last file, or a new checkpoint that took the room for a copy.
    pub(in crate::store) fn end_interrupted(&self) -> Result<()> {
        self.writer()?.want_reserve(&self.files.load())?;
        self.note_interrupted()?;
        let (mut maintained, mut tried) = (self.maintenance(), Tried::default());
        while let Some(file) = self.interrupted(&tried)? {
            self.rewrite_for_room(&mut maintained, file, &mut tried)?;
        }
        let lacks = self.writer()?.lacks();
        if lacks.is_some_and(|bytes| index::size(&*self.storage) >= bytes) {
            self.restore_reserve(&mut maintained)?;
        }
        Ok(())
    }

    /// Notes for each file that may have been copied into the last file what the copy lacks.
    fn note_interrupted(&self) -> Result<()> {
        if !self.writer()?.reserve.is_short() {
            return Ok(());
        }
        // As before the copy began.
        self.end_expired()?;
        let (writer, files) = (self.writer()?, self.files.load());
        let Some(tail) = &writer.tail else { return Ok(()) };
        let origins = tail.origins();
        for file in files.all().iter().filter(|file| file.id() != tail.id()) {
            // The header and the seal count as live. No other file is read.
            if writer.fits(file.live().saturating_sub(2 * HEADER_BYTES as u64)) {
                file.note_copy(&origins, self.rest_of_copy(file, &origins));
            }
        }
        Ok(())
    }

    /// If the room for a copy is used up: of the files whose copy may have been interrupted, and
    /// whose rest fits into the last file, the one that gives back most.
    fn interrupted(&self, tried: &Tried) -> Result<Option<Arc<LogFile>>> {
        let (writer, files) = (self.writer()?, self.files.load());
        if !writer.reserve.is_short() {
            return Ok(None);
        }
        let files = files.all().iter().filter(|file| !tried.is_hopeless(file));
        let rests = files.filter_map(|file| Some((file.rest()?, file)));
        let fit = rests.filter(|(rest, _)| writer.fits(*rest));
        let most = fit.max_by_key(|(rest, file)| file.end().saturating_sub(*rest));
        Ok(most.map(|(_, file)| Arc::clone(file)))
    }
}
