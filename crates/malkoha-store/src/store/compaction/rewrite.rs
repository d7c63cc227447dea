//! Copies the live records of files: decides about each record, and writes it again if it is
//! needed.

use std::mem;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::locate::{Located, locate};
use crate::log::{
    Content, Copying, HEADER_BYTES, Key, Kind, LogFile, MIN_FILE_BYTES, Record, Scan, Writer,
};
use crate::recovery::OnDamage;
use crate::store::read::is_alive;
use crate::store::{Inner, Maintained};

/// Bytes that are copied while writers wait.
const STRETCH: u64 = 1 << 16;
/// How long a copy sleeps before it checks again whether to stop.
const NAP: Duration = Duration::from_millis(20);

/// The speed of compaction, and when it stops.
pub(in crate::store) struct Pace<'a> {
    /// Bytes per second, if there is a limit.
    pub(in crate::store) rate: Option<u64>,
    /// Called between stretches.
    pub(in crate::store) stop: &'a dyn Fn() -> bool,
}

impl Pace<'static> {
    /// As fast as possible, to the end.
    pub(in crate::store) const FULL: Self = Self { rate: None, stop: &|| false };
}

/// The decision about a record.
enum Decision {
    /// It is replaced, or hides nothing.
    Drop,
    /// It has ended, and hides nothing: its key leaves the index.
    DropKey,
    /// It is copied.
    Keep,
    /// A tombstone of this origin replaces it, for the older records, unless the key has a younger
    /// record.
    Tombstone(u64),
}

impl Inner {
    /// Rewrites files. `next` returns each, given those that are copied but not removed.
    pub(in crate::store) fn compact(
        &self,
        maintained: &mut Maintained,
        mut next: impl FnMut(&[Arc<LogFile>]) -> Result<Option<Arc<LogFile>>>,
        pace: &Pace<'_>,
    ) -> Result<()> {
        let (mut done, mut failed) = (Vec::new(), None);
        while let Some(file) = next(&done)? {
            let mut copied = self.rewrite(&file, &done, pace, OnDamage::Refuse);
            if matches!(copied, Err(Error::NoSpace { .. })) && !done.is_empty() {
                // The copied files have room that can be reclaimed.
                self.remove_files(maintained, mem::take(&mut done))?;
                copied = self.rewrite(&file, &done, pace, OnDamage::Refuse);
            }
            match copied {
                Ok(true) => done.push(file),
                Ok(false) => break,
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
            if self.given(&done) >= self.together() || self.writer()?.reserve.is_short() {
                self.remove_files(maintained, mem::take(&mut done))?;
            }
        }
        self.remove_files(maintained, done)?;
        failed.map_or(Ok(()), Err)
    }

    /// Copies the live records of a file. `before` are files that will be removed before it.
    /// Returns whether nothing in the file is needed any more.
    pub(in crate::store) fn rewrite(
        &self,
        file: &Arc<LogFile>,
        before: &[Arc<LogFile>],
        pace: &Pace<'_>,
        on_damage: OnDamage,
    ) -> Result<bool> {
        let start = Instant::now();
        if on_damage == OnDamage::Refuse && self.writer()?.is_nearly_full(file.least()) {
            // Before its copy takes the room that is kept for one: the first half of a copy gives
            // nothing back.
            let damage = file.records(file.end()).find_map(Result::err);
            damage.map_or(Ok(()), |offset| Err(file.no_record(offset)))?;
        }
        let mut scan = file.records(file.end());
        loop {
            // Half a copy gives nothing back, and may have taken the room that is kept for one.
            let must_end = self.writer()?.reserve.is_short();
            if !must_end && (pace.stop)() {
                self.writer()?.copying = Copying::No;
                return Ok(false);
            }
            let ended = {
                let mut turn = self.turn()?;
                let oldest = self.oldest_other(file, before);
                let is_oldest = oldest.is_none_or(|other| other > file.header.first_sequence);
                let most = |scan: &Scan<'_>| file.needed(scan.offset(), is_oldest);
                // Nearly as long as the file itself: its dead bytes become room for tombstones, and
                // removing it still gives back a little more.
                let gives = file.least().saturating_sub(MIN_FILE_BYTES);
                if scan.offset() == HEADER_BYTES as u64 {
                    turn.writer.hold_copy(most(&scan))?;
                }
                let bytes = most(&scan).max(gives.min(turn.writer.reserve.held()));
                turn.writer.copying = Copying::Writes(bytes);
                let copied =
                    self.copy_stretch(&mut turn.writer, file, &mut scan, oldest, on_damage);
                turn.writer.copying = match copied {
                    Ok(false) => Copying::Paused(most(&scan)),
                    _ => Copying::No,
                };
                copied?
            };
            if ended {
                return Ok(true);
            }
            if let Some(rate) = pace.rate.filter(|_| !must_end) {
                let due = Duration::from_secs_f64(scan.offset() as f64 / rate as f64);
                while start.elapsed() < due && !(pace.stop)() && self.pressure(0) == 0.0 {
                    thread::sleep(NAP.min(due.saturating_sub(start.elapsed())));
                }
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
            match scan.next() {
                Some(Ok((record, offset, sequence))) => {
                    let old = Located { location: file.location(offset), file, record };
                    self.copy(writer, old, sequence, oldest)?;
                }
                Some(Err(offset)) if on_damage == OnDamage::Refuse => {
                    return Err(file.no_record(offset));
                }
                Some(Err(_)) => {}
                None => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The first sequence number of the oldest file that is neither this one nor one of `before`.
    pub(super) fn oldest_other(&self, file: &LogFile, before: &[Arc<LogFile>]) -> Option<u64> {
        let files = self.files.load();
        let is_before = |id: u64| before.iter().any(|file| file.id() == id);
        let others = files.all().iter().filter(|it| it.id() != file.id() && !is_before(it.id()));
        others.map(|it| it.header.first_sequence).min()
    }

    /// Writes a record again if it is needed.
    fn copy(
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
        match self.decide(&old.record, hash, old.location, sequence, oldest) {
            Decision::Drop => Ok(()),
            Decision::Keep => {
                // A copy in memory that is known to be whole: otherwise the zeros of a page that is
                // lost meanwhile would get a valid checksum.
                let copy = (key.name.to_vec(), old.record.stored().to_vec());
                old.file.check_read(old.location)?;
                let content = Content {
                    packed: old.record.head.is_packed(),
                    ..Content::put(Key { name: &copy.0, ..key }, &copy.1, old.record.expires())
                };
                let (new, offset) = self.append(writer, std::slice::from_ref(&content))?;
                self.publish(&content, hash, &new, offset, Some(&old))
            }
            Decision::Tombstone(origin) => {
                let is_put = old.record.head.kind == Kind::Put;
                if !is_put && (old.file.is_copied(origin) || self.lives(hash, key)?) {
                    return Ok(());
                }
                let content = Content::delete(key, Some(origin));
                let (new, offset) = self.append(writer, std::slice::from_ref(&content))?;
                self.publish(&content, hash, &new, offset, is_put.then_some(&old))
            }
            Decision::DropKey => {
                self.index.part_mut_of(hash).remove(hash, old.location);
                self.throttle.replace(old.remove_present(), 0);
                Ok(())
            }
        }
    }

    /// Decides about a record, if the oldest other file begins with the sequence number `oldest`.
    fn decide(
        &self,
        record: &Record<'_>,
        hash: u64,
        location: u64,
        sequence: u64,
        oldest: Option<u64>,
    ) -> Decision {
        let origin = record.origin().unwrap_or(sequence);
        let older_exists = oldest.is_some_and(|first| first < origin);
        match record.head.kind {
            Kind::Put if !self.index.has(hash, location) => Decision::Drop,
            Kind::Put if is_alive(record) => Decision::Keep,
            // An older record of the key must not reappear.
            Kind::Put | Kind::Delete if older_exists => Decision::Tombstone(origin),
            Kind::Put => Decision::DropKey,
            Kind::Delete | Kind::Seal | Kind::Mark => Decision::Drop,
        }
    }

    /// Whether a key has a younger record than its tombstones, which hides the older ones as well.
    fn lives(&self, hash: u64, key: Key<'_>) -> Result<bool> {
        Ok(locate(&self.index, &self.files.load(), hash, key)?.is_some())
    }

    /// The most bytes that rewriting a file still takes if its copy already has tombstones of these
    /// origins.
    pub(super) fn rest_of_copy(&self, file: &LogFile, origins: &[u64]) -> u64 {
        let (oldest, mut rest) = (self.oldest_other(file, &[]), 0);
        // Rewriting the file reports damage.
        for (record, offset, sequence) in file.records(file.end()).flatten() {
            let (hash, location) = (record.key().hash(&self.hasher), file.location(offset));
            rest += match self.decide(&record, hash, location, sequence, oldest) {
                Decision::Keep => record.bytes(),
                Decision::Tombstone(origin) if origins.binary_search(&origin).is_err() => {
                    Content::delete(record.key(), Some(origin)).shape().bytes()
                }
                Decision::Tombstone(_) | Decision::DropKey | Decision::Drop => 0,
            };
        }
        rest
    }
}
