//! Reclaims space: the live records of a file are rewritten at the end of the log, and the file is
//! removed.
//!
//! The order makes it safe to stop at any step. A copy lies behind all records of its key, so a
//! replay that meets both uses the copy. Files are removed, the oldest first, only after the log is
//! synced and a checkpoint without them is written.
//!
//! A tombstone is rewritten as long as there is a file older than it, other than those that are
//! removed before its own: such a file may still have the key. The tombstone remembers its age, so
//! that it disappears eventually.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fate::Fate;
use super::victims::is_worthwhile;
use super::{Inner, Maintained, Store};
use crate::error::{Error, Result};
use crate::locate::Located;
use crate::log::{
    Content, Copying, HEADER_BYTES, Key, Kind, LogFile, MIN_FILE_BYTES, Scan, Step, Writer,
};
use crate::recovery::OnDamage;

/// Bytes that are copied while writers wait.
const STRETCH: u64 = 1 << 16;
/// The share of dead bytes from which `compact` rewrites a file.
const WORTHWHILE: f64 = 0.02;

/// How fast, and when to stop.
pub(super) struct Pace<'a> {
    /// Bytes per second, if there is a limit.
    pub(super) rate: Option<u64>,
    /// Called between stretches.
    pub(super) stop: &'a dyn Fn() -> bool,
}

impl Store {
    /// Gives back the space of dead records, where it is more than a fiftieth of a file, and memory
    /// that the index does not need any more. Others wait for a 64th of the index to be rebuilt,
    /// and writers for the copying of 64 KiB, at most.
    ///
    /// # Errors
    ///
    /// If a file is damaged, the device is full, or the system refuses. Nothing is lost then, and
    /// what could be given back is.
    pub fn compact(&self) -> Result<()> {
        // Readable files need not wait for unreadable ones, and what finds no room may find some
        // afterwards.
        let swept = match self.sweep_removed() {
            Err(error) if !error.is_unreadable() && !matches!(error, Error::NoSpace { .. }) => {
                return Err(error);
            }
            swept => swept,
        };
        let mut maintained = self.inner.maintenance();
        // Also the last file, if space can be reclaimed from it: tombstones, if all files before it
        // are removed.
        let others = self.inner.files.load().files().len().saturating_sub(1);
        let all = self.inner.victims(WORTHWHILE)?.len() == others;
        let mut writer = self.inner.writer()?;
        let gives = |tail: &Arc<LogFile>| {
            is_worthwhile(tail.dead(), tail.end(), WORTHWHILE) || all && tail.tombstones() > 0
        };
        if writer.tail().is_some_and(gives) {
            writer.seal()?;
        }
        drop(writer);
        // The index too, before it is written into a checkpoint.
        self.inner.index.shrink();
        let pace = Pace { rate: None, stop: &|| false };
        self.inner.renew_index(&maintained, pace.stop)?;
        let mut victims = self.inner.victims(WORTHWHILE)?.into_iter();
        let refused = match self.inner.compact(&mut maintained, |_| Ok(victims.next()), &pace) {
            // The tombstones of some would get longer than the room for a copy.
            Err(error @ Error::NoSpace { .. }) => {
                self.inner.make_all_room(&mut maintained)?;
                Err(error)
            }
            done => Ok(done?),
        };
        // Also what is reserved for later writes: they get a file of their own.
        let writer = self.inner.writer()?;
        let trimmed = writer.tail().map_or(Ok(()), |tail| tail.trim());
        self.inner.space.note(&self.inner.files.load(), &writer);
        trimmed.and(swept).and(if writer.is_short() { refused } else { Ok(()) })
    }
}

impl Inner {
    /// Rewrites files. `next` names each, given those that are done but not removed.
    pub(super) fn compact(
        &self,
        maintained: &mut Maintained,
        mut next: impl FnMut(&[Arc<LogFile>]) -> Result<Option<Arc<LogFile>>>,
        pace: &Pace<'_>,
    ) -> Result<()> {
        let (mut done, mut failed) = (Vec::new(), None);
        while let Some(file) = next(&done)? {
            match self.rewrite(&file, &done, pace, OnDamage::Refuse) {
                Ok(true) => done.push(file),
                Ok(false) => break,
                // The copied files have room that can be reclaimed.
                Err(Error::NoSpace { .. }) if !done.is_empty() => {
                    self.remove_files(maintained, mem::take(&mut done))?;
                    match self.rewrite(&file, &done, pace, OnDamage::Refuse) {
                        Ok(true) => done.push(file),
                        Ok(false) => break,
                        Err(error) => {
                            failed.get_or_insert(error);
                            break;
                        }
                    }
                }
                // An unreadable file stays for a repair; the others need not wait for that.
                Err(error) if error.is_unreadable() => {
                    file.set_unreadable();
                    failed.get_or_insert(error);
                }
                Err(error) => {
                    failed.get_or_insert(error);
                    break;
                }
            }
            if self.given(&done) >= self.together() || self.writer()?.is_short() {
                self.remove_files(maintained, mem::take(&mut done))?;
            }
        }
        self.remove_files(maintained, done)?;
        failed.map_or(Ok(()), Err)
    }

    /// Copies the live records of a file. `before` are files that will be removed before it.
    /// Returns whether nothing in the file is needed any more.
    pub(super) fn rewrite(
        &self,
        file: &Arc<LogFile>,
        before: &[Arc<LogFile>],
        pace: &Pace<'_>,
        on_damage: OnDamage,
    ) -> Result<bool> {
        let start = Instant::now();
        let first = file.header.first_sequence;
        if on_damage == OnDamage::Refuse && self.writer()?.is_nearly_full(file.least()) {
            check_whole(file)?;
        }
        let mut scan = Scan::new(file, HEADER_BYTES as u64, first, file.end());
        loop {
            // Half a copy gives nothing back, and may have taken the room that is kept for one.
            let must_end = self.writer()?.is_short();
            if !must_end && (pace.stop)() {
                self.writer()?.set_copying(Copying::No);
                return Ok(false);
            }
            let ended = {
                let mut turn = self.turn()?;
                let oldest = self.oldest_other(file, before);
                let is_oldest = oldest.is_none_or(|other| other > first);
                let most = |scan: &Scan<'_>| file.needed(scan.offset(), is_oldest);
                // Nearly as long as the file itself: what is dead in it becomes room for
                // tombstones, and removing it still gives back a little more.
                let gives = file.least().saturating_sub(MIN_FILE_BYTES);
                if scan.offset() == HEADER_BYTES as u64 {
                    turn.writer.hold_copy(most(&scan))?;
                }
                let bytes = most(&scan).max(gives.min(turn.writer.reserved()));
                turn.writer.set_copying(Copying::Writes(bytes));
                let copied =
                    self.copy_stretch(&mut turn.writer, file, &mut scan, oldest, on_damage);
                turn.writer.set_copying(match copied {
                    Ok(false) => Copying::Paused(most(&scan)),
                    _ => Copying::No,
                });
                copied?
            };
            if ended {
                return Ok(true);
            }
            if let Some(rate) = pace.rate.filter(|_| !must_end) {
                let stop = || (pace.stop)() || self.pressure(0) > 0.0;
                wait_for(start, scan.offset(), rate, &stop);
            }
        }
    }

    /// Copies the live records of the next stretch of a file. Returns whether it was the last.
    fn copy_stretch(
        &self,
        writer: &mut Writer,
        file: &Arc<LogFile>,
        scan: &mut Scan<'_>,
        oldest: Option<u64>,
        on_damage: OnDamage,
    ) -> Result<bool> {
        let begin = scan.offset();
        while scan.offset() - begin < STRETCH {
            match scan.step() {
                Step::Record(record, offset, sequence) => {
                    let old = Located { location: file.location(offset), file, record };
                    self.keep(writer, old, sequence, oldest)?;
                }
                Step::Sealed => return Ok(true),
                Step::End if scan.offset() >= file.end() => return Ok(true),
                Step::End if on_damage == OnDamage::Refuse => {
                    return Err(file.no_record(scan.offset()));
                }
                Step::End if !scan.skip() => return Ok(true),
                Step::End => {}
            }
        }
        Ok(false)
    }

    /// The first sequence number of the oldest file that is neither this one nor one of `before`.
    pub(super) fn oldest_other(&self, file: &LogFile, before: &[Arc<LogFile>]) -> Option<u64> {
        let table = self.files.load();
        let is_before = |id: u64| before.iter().any(|file| file.id() == id);
        let others = table.files().iter().filter(|it| it.id() != file.id() && !is_before(it.id()));
        others.map(|it| it.header.first_sequence).min()
    }

    /// Writes a record again if it is needed.
    fn keep(
        &self,
        writer: &mut Writer,
        old: Located<'_>,
        sequence: u64,
        oldest: Option<u64>,
    ) -> Result<()> {
        let key = old.record.key();
        let hash = key.hash(&self.hasher);
        // A page that is lost after the checksum was compared shows another key.
        old.file.check_read(old.location)?;
        match self.fate(&old.record, (hash, old.location), sequence, oldest) {
            Fate::Gone => Ok(()),
            Fate::Put => {
                // A copy that is known to be whole: otherwise the zeros of a page that is lost
                // meanwhile would get a valid checksum.
                let copy = (key.name.to_vec(), old.record.stored().to_vec());
                old.file.check_read(old.location)?;
                let content = Content {
                    packed: old.record.head.is_packed(),
                    ..Content::put(Key { name: &copy.0, ..key }, &copy.1, old.record.expires())
                };
                let (new, offset) = self.append(writer, std::slice::from_ref(&content))?;
                self.publish(&content, hash, &new, offset, Some(&old))
            }
            Fate::Tombstone(origin) => {
                let is_put = old.record.head.kind == Kind::Put;
                if !is_put && (old.file.is_copied(origin) || self.lives(hash, key)?) {
                    return Ok(());
                }
                let content = Content::delete(key, Some(origin));
                let (new, offset) = self.append(writer, std::slice::from_ref(&content))?;
                self.publish(&content, hash, &new, offset, is_put.then_some(&old))
            }
            Fate::Ended => {
                self.index.shard_mut_of(hash).remove(hash, old.location);
                self.space.replace(old.remove_present(), 0);
                Ok(())
            }
        }
    }
}

/// Reads a file before its copy takes the room that is kept for one: the first half of a copy gives
/// nothing back.
fn check_whole(file: &LogFile) -> Result<()> {
    let mut scan = Scan::new(file, HEADER_BYTES as u64, file.header.first_sequence, file.end());
    loop {
        match scan.step() {
            Step::Record(..) => {}
            Step::End if scan.offset() < file.end() => return Err(file.no_record(scan.offset())),
            Step::Sealed | Step::End => return Ok(()),
        }
    }
}

/// Waits until `bytes` bytes may have been read at this rate.
fn wait_for(start: Instant, bytes: u64, rate: u64, stop: &dyn Fn() -> bool) {
    const NAP: Duration = Duration::from_millis(20);
    #[expect(clippy::cast_precision_loss, reason = "a duration needs no more than 53 bits")]
    let due = Duration::from_secs_f64(bytes as f64 / rate as f64);
    while start.elapsed() < due && !stop() {
        std::thread::sleep(NAP.min(due.saturating_sub(start.elapsed())));
    }
}
