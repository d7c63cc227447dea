//! Opening: the checkpoint, then the log beyond it.

mod found;
mod read;
mod unknown;

use std::io;
use std::mem;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::index::{self, Checkpoint, FileEntry, Index, PARTS};
use crate::log::{
    FileHeader, HEADER_BYTES, LogFile, LogFiles, UNIT, file_name, parse_name, parse_run_name,
    random_seed,
};
use crate::replay::{Changes, apply, reserve, side_by_side, threads, threads_for};
use crate::storage::Storage;
use crate::store::backup::UNFINISHED;
pub use found::{Cut, Recovery};
use read::{Ended, Read};
use unknown::Opened;

/// A store as it was found.
pub(crate) struct Recovered {
    pub(crate) index: Index,
    pub(crate) files: LogFiles,
    /// The last file, if it is not full: its end is that of the log.
    pub(crate) tail: Option<Arc<LogFile>>,
    pub(crate) next_id: u64,
    pub(crate) sequence: u64,
    pub(crate) seed: u64,
    /// Unused files: left by a compaction, or behind the end of the log.
    pub(crate) useless: Vec<String>,
    /// Numbers of the log files for which there is a file of sorted records.
    pub(crate) sorted: Vec<u64>,
    /// Whether the checkpoint is complete.
    pub(crate) checkpointed: bool,
    pub(crate) recovery: Recovery,
}

impl Recovered {
    /// A store that has no files yet.
    pub(crate) fn new(index: Index, seed: u64) -> Self {
        Self {
            index,
            files: LogFiles::default(),
            tail: None,
            next_id: 1,
            sequence: 1,
            seed,
            useless: Vec::new(),
            sorted: Vec::new(),
            checkpointed: false,
            recovery: Recovery::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    /// An error.
    Refuse,
    /// Continue behind it.
    Skip,
}

/// Reads the store. Changes nothing.
pub(crate) fn recover(storage: &dyn Storage, on_damage: OnDamage) -> Result<Option<Recovered>> {
    let names = storage.list().map_err(Error::io("list", "."))?;
    if names.iter().any(|name| name == UNFINISHED) {
        return Err(Error::UnfinishedBackup);
    }
    let mut ids: Vec<u64> = names.iter().filter_map(|name| parse_name(name)).collect();
    ids.sort_unstable();
    let repairing = on_damage == OnDamage::Skip;
    let (checkpoint, damage) = match index::read(storage) {
        Ok(found) => (found, None),
        Err(error) if error.is_damage() => (None, Some(error)),
        // Opening for writing could never replace it.
        Err(error) if error.is_unreadable() && repairing => (None, Some(error)),
        Err(error) => return Err(error),
    };
    // A repair reads the log alone, but learns from the checkpoint which part was durable.
    let (checkpoint, known) = match checkpoint {
        Some((known, _)) if repairing => (None, Some(known)),
        other => (other, None),
    };
    let mut skipped = Vec::new();
    if ids.is_empty() && checkpoint.is_none() {
        // A repair does not use the checkpoint, but its existence shows that there is a store.
        if !repairing || !names.iter().any(|name| name == index::CHECKPOINT) {
            return damage.map_or(Ok(None), Err);
        }
        if !known.as_ref().is_some_and(|known| known.files.is_empty()) {
            let file = index::CHECKPOINT.to_owned();
            let what = "the log files that it names are missing";
            skipped.push(Error::Damaged { file, offset: 0, what });
        }
    }
    let unfinished = |name: &&String| **name == index::TEMPORARY || LogFile::is_copy(name);
    let (checkpoint, index) = match checkpoint {
        Some((checkpoint, index)) => (Some(checkpoint), index),
        None => (None, Index::new()?),
    };
    let mut opening = Opening {
        storage,
        on_damage,
        seed: checkpoint.as_ref().or(known.as_ref()).map(|checkpoint| checkpoint.seed),
        found: Recovered {
            sequence: checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.sequence),
            useless: names.iter().filter(unfinished).cloned().collect(),
            sorted: names.iter().filter_map(|name| parse_run_name(name)).collect(),
            recovery: Recovery { checkpoint: damage, skipped, ..Recovery::default() },
            ..Recovered::new(index, 0)
        },
        known: known.map(|known| known.files).unwrap_or_default(),
        reserved: None,
        replayed: false,
    };
    if repairing {
        opening.seed = opening.seed.or_else(|| opening.any_seed(&ids));
    }
    let start = match &checkpoint {
        Some(checkpoint) => opening.known_files(checkpoint, &ids)?,
        None => Start { from_id: 0, resumed: None },
    };
    let tail = opening.replay_all(&ids, start)?;
    if repairing {
        opening.note_lost_ends(&ids);
        opening.keep_useless()?;
    }
    let Opening { mut found, seed, reserved, replayed, .. } = opening;
    found.checkpointed = checkpoint.is_some() && !replayed && found.useless.is_empty();
    found.recovery.cut = tail.as_deref().and_then(|tail| Cut::from(tail, tail.end()));
    // They were abandoned, the last one first.
    found.recovery.cut_files.reverse();
    found.tail = tail;
    // If much was overwritten or deleted, too much room was made.
    let keys = found.index.len();
    if reserved.is_some_and(|reserved| keys < reserved - reserved / 8) {
        side_by_side(PARTS, threads_for(keys), |number| {
            found.index.part_mut(number).shrink();
            Ok(())
        })?;
    }
    // Numbers of unused files are used again, so that a gap always means a compaction.
    let is_kept = |id: &&u64| !found.useless.contains(&file_name(**id));
    let next_id = ids.iter().rev().find(is_kept).map_or(1, |id| id + 1);
    found.next_id = next_id.max(checkpoint.map_or(1, |checkpoint| checkpoint.next_id));
    found.seed = seed.unwrap_or_else(random_seed);
    Ok(Some(found))
}

struct Start {
    /// The first file that the checkpoint does not know.
    from_id: u64,
    /// The last one that it knows, which may have more records since.
    resumed: Option<Arc<LogFile>>,
}

struct Opening<'a> {
    storage: &'a dyn Storage,
    on_damage: OnDamage,
    /// `None` until a checkpoint or a header of a file has it.
    seed: Option<u64>,
    found: Recovered,
    /// For a repair: the files of the checkpoint.
    known: Vec<FileEntry>,
    /// The keys that the index got room for.
    reserved: Option<u64>,
    /// Whether the log has something that the checkpoint has not.
    replayed: bool,
}

impl Opening<'_> {
    /// Opens the files of a checkpoint, at their places in it.
    fn known_files(&mut self, checkpoint: &Checkpoint, ids: &[u64]) -> Result<Start> {
        for entry in &checkpoint.files {
            let file = self.known_file(entry)?;
            // Only the last one may have more to read.
            if Some(entry) != checkpoint.files.last() {
                file.close();
            }
            self.found.files.insert(Arc::new(file));
        }
        let known = |id: &u64| checkpoint.files.iter().any(|file| file.id == *id);
        let leftover = ids.iter().filter(|&id| *id < checkpoint.next_id && !known(id));
        self.found.useless.extend(leftover.map(|&id| file_name(id)));
        let resumed = self.found.files.all().last().filter(|_| checkpoint.open_tail).cloned();
        Ok(Start { from_id: checkpoint.next_id, resumed })
    }

    fn known_file(&self, entry: &FileEntry) -> Result<LogFile> {
        let mut file = match LogFile::open(self.storage, entry.id) {
            Err(Error::Io { source, file, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Damaged { file, offset: 0, what: "the file is missing" });
            }
            file => file?,
        };
        if file.header.seed != self.seed.unwrap_or(file.header.seed) {
            return Err(file.damaged(32, "it belongs to another store"));
        }
        if entry.end > file.length() {
            return Err(file.damaged(file.length(), "the end of the file is missing"));
        }
        if entry.end < HEADER_BYTES as u64 || !entry.end.is_multiple_of(UNIT) {
            return Err(file.damaged(entry.end, "the checkpoint has an end where no record ends"));
        }
        if !self.found.files.is_free(entry.base, file.length()) {
            return Err(file.damaged(0, "the checkpoint has another file in its place"));
        }
        file.base = entry.base;
        file.set_end(entry.end);
        file.set_durable(entry.end);
        file.add_dead(entry.dead.min(entry.end));
        file.add_tombstones(entry.tombstones.min(entry.end));
        file.add_expiring(&entry.expiring);
        Ok(file)
    }

    /// Replays the log behind the checkpoint. Returns the file in which it ends, unless that is
    /// full.
    fn replay_all(&mut self, ids: &[u64], start: Start) -> Result<Option<Arc<LogFile>>> {
        let new = &ids[ids.partition_point(|&id| id < start.from_id)..];
        // Compaction removes a file only after it has written a checkpoint without it.
        let missing = (start.from_id..).zip(new).find(|&(id, &found)| id != found);
        if let Some((id, _)) = missing.filter(|_| start.from_id > 0) {
            let (file, what) = (file_name(id), "the file is missing");
            self.damage(Error::Damaged { file, offset: 0, what })?;
        }
        if let Some(file) = start.resumed {
            let read = self.read(&file, file.end(), self.found.sequence, new)?;
            self.replayed |= read.end > file.end();
            let mut taken = Vec::new();
            let ended = self.take(&mut taken, &file, read, new)?;
            self.apply(&mut taken, 0)?;
            if ended == Ended::Log {
                return Ok(Some(file));
            }
        }
        // Files are opened and read in parallel, and then processed in order: a file only counts if
        // the log continues until there.
        self.replayed |= !new.is_empty();
        let mut unread = new.iter().map(|&id| self.written_bytes(id)).sum::<Result<u64>>()?;
        for (group, ids) in new.chunks(threads()).enumerate() {
            let later = |i: usize| &new[group * threads() + i + 1..];
            let opened: Vec<Mutex<Option<Result<Opened<Read>>>>> =
                ids.iter().map(|_| Mutex::default()).collect();
            // Assumes records of a hundred bytes.
            side_by_side(ids.len(), threads_for(unread / 100), |i| {
                *opened[i].lock() = Some(self.read_unknown(ids[i], later(i)));
                Ok(())
            })?;
            let mut taken = Vec::new();
            for (i, opened) in opened.into_iter().enumerate() {
                let opened = opened.into_inner().expect("all were read");
                match self.take_unknown(&mut taken, ids[i], opened, later(i))? {
                    Continue(()) => {}
                    Break(tail) => {
                        self.apply(&mut taken, 0)?;
                        return Ok(tail);
                    }
                }
            }
            let read: u64 = taken.iter().map(|(file, _)| file.end()).sum();
            unread = unread.saturating_sub(read);
            self.apply(&mut taken, unread)?;
        }
        Ok(None)
    }

    /// Counts as damage those files and ends of files that the checkpoint knows and that are
    /// missing. The log alone does not show it.
    fn note_lost_ends(&mut self, ids: &[u64]) {
        let Recovered { files, recovery, useless, .. } = &mut self.found;
        for entry in &self.known {
            let (name, found) = (file_name(entry.id), files.all().iter());
            let (offset, what) =
                match found.map(|it| (it.id(), it.end())).find(|it| it.0 == entry.id) {
                    Some((_, end)) if end >= entry.end => continue,
                    Some((_, end)) => (end, "the end of the file is missing"),
                    None if ids.contains(&entry.id) => (0, "its records are missing"),
                    None => (0, "the file is missing"),
                };
            let is_of_it = |it: &Error| match it {
                Error::Damaged { file, .. } | Error::Io { file, .. } => *file == name,
                _ => false,
            };
            if !recovery.skipped.iter().any(is_of_it) {
                useless.retain(|useless| *useless != name);
                recovery.skipped.push(Error::Damaged { file: name, offset, what });
            }
        }
    }

    /// Counts files that a repair would remove as damage, unless they are all zeros. They then get
    /// other names.
    fn keep_useless(&mut self) -> Result<()> {
        for name in mem::take(&mut self.found.useless) {
            let written = match parse_name(&name).map(|id| self.open(id)) {
                None | Some(Ok(Opened::Unwritten)) => false,
                Some(Err(error)) if !error.is_unreadable() => return Err(error),
                Some(_) => true,
            };
            if written {
                let what = "it lies behind the end of the log";
                self.found.recovery.skipped.push(Error::Damaged { file: name, offset: 0, what });
            } else {
                self.found.useless.push(name);
            }
        }
        Ok(())
    }

    /// Notes damage, or fails.
    fn damage(&mut self, error: Error) -> Result<()> {
        if self.on_damage == OnDamage::Refuse {
            return Err(error);
        }
        self.found.recovery.skipped.push(error);
        Ok(())
    }

    /// Processes the rest of a file after its first stretch, and sets its end.
    fn take(
        &mut self,
        taken: &mut Vec<(Arc<LogFile>, Changes)>,
        file: &Arc<LogFile>,
        mut read: Read,
        later: &[u64],
    ) -> Result<Ended> {
        loop {
            for error in read.damage {
                self.damage(error)?;
            }
            file.set_end(read.end);
            self.note_durable(file, read.durable);
            file.add_tombstones(read.changes.tombstones);
            file.add_dead(read.changes.marks);
            file.add_expiring(&read.changes.expiring);
            self.found.sequence = read.sequence;
            taken.push((Arc::clone(file), read.changes));
            if read.ended != Ended::Stretch {
                break;
            }
            self.apply(taken, file.written_bytes(read.end))?;
            read = self.read(file, read.end, read.sequence, later)?;
        }
        if read.ended == Ended::Log {
            self.cut_off(later)?;
        }
        Ok(read.ended)
    }

    /// Notes which part was durable when a file was written.
    fn note_durable(&self, file: &LogFile, durable: Option<u64>) {
        let before = self.found.files.all().iter().rev().filter(|it| it.id() < file.id());
        if let Some(durable) = durable {
            file.set_durable(durable.min(file.end()));
            // Earlier files were noted at that time.
            before.take_while(|it| it.durable() < it.end()).for_each(|it| it.set_durable(it.end()));
        } else if let Some(last) = before.take(1).find(|it| it.id() + 1 == file.id()) {
            last.set_durable(file.header.durable_before.min(last.end()));
        }
    }

    /// Abandons files behind the end of the log, where nothing was ever acknowledged. The last one
    /// is removed first, because a gap after a crash would mean that a compaction had synced the
    /// log before it.
    fn cut_off(&mut self, ids: &[u64]) -> Result<()> {
        for &id in ids.iter().rev() {
            // Any header will do to see which bytes of a file are not zero.
            let file = LogFile::with_header(self.storage, FileHeader::new(id, 0, 0, 0))?;
            self.found.recovery.cut_files.extend(Cut::from(&file, 0));
            self.found.useless.push(file.name());
        }
        Ok(())
    }

    /// Adds the changes to the index. About `unread` bytes of the log will follow.
    fn apply(&mut self, taken: &mut Vec<(Arc<LogFile>, Changes)>, unread: u64) -> Result<()> {
        let index = &self.found.index;
        if self.reserved.is_none() && index.len() == 0 {
            self.reserved = Some(reserve(index, taken, unread)?);
        }
        apply(index, &self.found.files, taken)?;
        taken.clear();
        Ok(())
    }
}
