//! Opening: the checkpoint, then what the log has beyond it.

use std::io;
use std::sync::Arc;

use malkoha::KeyHasher;

use crate::error::{Error, Result};
use crate::index::{self, Checkpoint, FileEntry, Index};
use crate::log::{
    FileTable, HEADER_BYTES, LogFile, NO_RECORD, Scan, Step, UNIT, file_name, find_record,
    parse_name,
};
use crate::replay::Replay;
use crate::storage::{Mapping, Storage};

/// A store as it was found.
pub(crate) struct Recovered {
    pub(crate) index: Index,
    pub(crate) table: FileTable,
    /// The last file, if it is not full: its end is that of the log.
    pub(crate) tail: Option<Arc<LogFile>>,
    pub(crate) next_id: u64,
    pub(crate) sequence: u64,
    pub(crate) seed: u64,
    /// Damage that was skipped.
    pub(crate) skipped: Vec<Error>,
    /// Files without use: left by a compaction, or behind the end of the log.
    pub(crate) useless: Vec<String>,
}

/// What to do about damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDamage {
    /// An error.
    Refuse,
    /// Go on behind it.
    Skip,
}

/// Reads the store. Changes nothing.
pub(crate) fn recover(storage: &dyn Storage, on_damage: OnDamage) -> Result<Option<Recovered>> {
    let names = storage.list().map_err(Error::io("list", "."))?;
    let mut ids: Vec<u64> = names.iter().filter_map(|name| parse_name(name)).collect();
    ids.sort_unstable();
    let (checkpoint, checkpoint_damage) = match index::read(storage) {
        // A repair trusts the log alone.
        _ if on_damage == OnDamage::Skip => (None, None),
        Ok(found) => (found, None),
        Err(error) if error.is_damage() => (None, Some(error)),
        Err(error) => return Err(error),
    };
    if ids.is_empty() && checkpoint.is_none() {
        return checkpoint_damage.map_or(Ok(None), Err);
    }
    let mut useless = Vec::new();
    if names.iter().any(|name| name == index::TEMPORARY) {
        useless.push(index::TEMPORARY.to_owned());
    }
    let (checkpoint, index) = match checkpoint {
        Some((checkpoint, index)) => (Some(checkpoint), index),
        None => (None, Index::new()?),
    };
    let seed = checkpoint.as_ref().map(|checkpoint| checkpoint.seed);
    let mut opening = Opening {
        storage,
        on_damage,
        seed,
        table: FileTable::default(),
        sequence: checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.sequence),
        skipped: Vec::new(),
        useless,
    };
    let start = match &checkpoint {
        Some(checkpoint) => opening.known_files(checkpoint, &ids)?,
        None => Start { from_id: 0, resumed: None },
    };
    let tail = opening.replay_all(&index, &ids, start)?;
    let Opening { table, sequence, seed, skipped, useless, .. } = opening;
    // Numbers of useless files are given again, so that a gap always means a compaction.
    let is_kept = |id: &&u64| !useless.contains(&file_name(**id));
    let next_id = ids.iter().rev().find(is_kept).map_or(1, |id| id + 1);
    let next_id = next_id.max(checkpoint.map_or(1, |checkpoint| checkpoint.next_id));
    let seed = seed.unwrap_or_else(|| KeyHasher::random().seed());
    Ok(Some(Recovered { index, table, tail, next_id, sequence, seed, skipped, useless }))
}

/// Where replaying begins.
struct Start {
    /// The first file that the checkpoint does not know.
    from_id: u64,
    /// The last one that it knows, which may have more records since.
    resumed: Option<Arc<LogFile>>,
}

struct Opening<'a> {
    storage: &'a dyn Storage,
    on_damage: OnDamage,
    seed: Option<u64>,
    table: FileTable,
    sequence: u64,
    skipped: Vec<Error>,
    useless: Vec<String>,
}

impl Opening<'_> {
    /// Opens the files of a checkpoint, at their places in it.
    fn known_files(&mut self, checkpoint: &Checkpoint, ids: &[u64]) -> Result<Start> {
        for entry in &checkpoint.files {
            let file = self.known_file(entry)?;
            self.table.insert(Arc::new(file));
        }
        let known = |id: &u64| checkpoint.files.iter().any(|file| file.id == *id);
        let leftover = ids.iter().filter(|&id| *id < checkpoint.next_id && !known(id));
        self.useless.extend(leftover.map(|&id| file_name(id)));
        let resumed = self.table.files().last().filter(|_| checkpoint.open_tail).cloned();
        Ok(Start { from_id: checkpoint.next_id, resumed })
    }

    fn known_file(&self, entry: &FileEntry) -> Result<LogFile> {
        let file = match LogFile::open(self.storage, entry.id, entry.base, false) {
            Err(Error::Io { source, file, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Damaged { file, offset: 0, what: "the file is missing" });
            }
            file => file?,
        };
        if file.header.seed != self.seed.unwrap_or(file.header.seed) {
            return Err(file.damaged(32, "it belongs to another store"));
        }
        if entry.end > file.capacity() {
            return Err(file.damaged(file.capacity(), "the end of the file is missing"));
        }
        if !self.table.is_free(entry.base, file.capacity()) {
            return Err(file.damaged(0, "the checkpoint has another file in its place"));
        }
        file.set_end(entry.end);
        file.set_durable(entry.end);
        file.add_dead(entry.dead);
        file.add_tombstones(entry.tombstones);
        Ok(file)
    }

    /// Replays what the checkpoint does not have. The file in which the log ends, unless it is full.
    fn replay_all(
        &mut self,
        index: &Index,
        ids: &[u64],
        start: Start,
    ) -> Result<Option<Arc<LogFile>>> {
        let new = &ids[ids.partition_point(|&id| id < start.from_id)..];
        if let Some(file) = start.resumed {
            let from = file.end();
            if self.replay(index, &file, from, new)? == Ended::Log {
                return Ok(Some(file));
            }
        }
        for (i, &id) in new.iter().enumerate() {
            let later = &new[i + 1..];
            if self.is_blank(id)? && !self.is_synced_later(id, 0, later)? {
                // Made, but not written before a crash: nothing behind it was ever answered for.
                self.useless.extend(new[i..].iter().map(|&id| file_name(id)));
                return Ok(None);
            }
            let Some(file) = self.open_unknown(id)? else { continue };
            if file.header.first_sequence < self.sequence {
                self.damage(file.damaged(24, "its records have the numbers of older ones"))?;
            }
            self.sequence = self.sequence.max(file.header.first_sequence);
            let file = Arc::new(file);
            self.table.insert(Arc::clone(&file));
            if self.replay(index, &file, HEADER_BYTES as u64, later)? == Ended::Log {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    fn map(&self, id: u64) -> Result<Mapping> {
        let name = file_name(id);
        let file = self.storage.open(&name, false).map_err(Error::io("open", &*name))?;
        file.map().map_err(Error::io("map", name))
    }

    /// Whether a file has no header, not even a damaged one.
    fn is_blank(&self, id: u64) -> Result<bool> {
        let map = self.map(id)?;
        let header = map.get(0, map.len().min(HEADER_BYTES)).unwrap_or_default();
        Ok(header.iter().all(|&byte| byte == 0))
    }

    fn open_unknown(&mut self, id: u64) -> Result<Option<LogFile>> {
        let base = self.table.free_base(self.map(id)?.len() as u64);
        let file = match LogFile::open(self.storage, id, base, false) {
            Err(error) if error.is_damage() => return self.damage(error).map(|()| None),
            file => file?,
        };
        if file.header.seed != *self.seed.get_or_insert(file.header.seed) {
            let error = file.damaged(32, "it belongs to another store");
            return self.damage(error).map(|()| None);
        }
        Ok(Some(file))
    }

    /// Notes damage, or fails.
    fn damage(&mut self, error: Error) -> Result<()> {
        if self.on_damage == OnDamage::Refuse {
            return Err(error);
        }
        self.skipped.push(error);
        Ok(())
    }

    /// Replays one file from an offset, and sets its end.
    fn replay(
        &mut self,
        index: &Index,
        file: &Arc<LogFile>,
        from: u64,
        later: &[u64],
    ) -> Result<Ended> {
        let table = self.table.clone();
        let hasher = KeyHasher::new(file.header.seed);
        let mut scan = Scan::new(file, from, self.sequence, file.capacity());
        let mut replay = Replay::new(index, &table, file, hasher);
        let ended = loop {
            match scan.step() {
                Step::Record(record, offset, sequence) => replay.push(record, offset, sequence)?,
                Step::Sealed if replay.unfinished().is_none() => break Ended::File,
                Step::Sealed | Step::End => {
                    let here = (scan.offset(), scan.sequence());
                    let (offset, sequence) = replay.unfinished().unwrap_or(here);
                    if !self.is_damage(file, offset, sequence, later)? {
                        replay.cut();
                        scan.back_to(offset, sequence);
                        break Ended::Log;
                    }
                    self.damage(file.damaged(offset, NO_RECORD))?;
                    replay.cut();
                    if !scan.skip() {
                        break Ended::File;
                    }
                }
            }
        };
        replay.finish()?;
        file.set_end(scan.offset());
        self.sequence = scan.sequence();
        self.later_useless(ended, later);
        Ok(ended)
    }

    /// Behind the end of the log is nothing that was ever answered for.
    fn later_useless(&mut self, ended: Ended, later: &[u64]) {
        if ended == Ended::Log {
            self.useless.extend(later.iter().map(|&id| file_name(id)));
        }
    }

    /// Whether there was a record at `offset` once: something says that it was durable. Otherwise
    /// the log ends there, as it may after a crash.
    fn is_damage(&self, file: &LogFile, offset: u64, sequence: u64, later: &[u64]) -> Result<bool> {
        let mut at = (offset, sequence);
        while let Some((found, sequence)) = find_record(file, at.0 + UNIT, at.1) {
            let record = file.try_record(found);
            let unsynced = record.and_then(|record| record.head.unsynced());
            let was_durable = unsynced.is_some_and(|bytes| found.saturating_sub(bytes) > offset);
            if was_durable || self.on_damage == OnDamage::Skip {
                return Ok(true);
            }
            at = (found, sequence);
        }
        self.is_synced_later(file.id(), offset, later)
    }

    /// Whether later files say that this offset of a file was durable.
    fn is_synced_later(&self, id: u64, offset: u64, later: &[u64]) -> Result<bool> {
        let Some(&next) = later.first() else { return Ok(false) };
        if next != id + 1 {
            // A compaction removed what was between, and that synced the log.
            return Ok(true);
        }
        for &id in later {
            let Ok(later) = LogFile::open(self.storage, id, 0, false) else { continue };
            if id == next && later.header.durable_before > offset {
                return Ok(true);
            }
            let first = later.header.first_sequence;
            let mut scan = Scan::new(&later, HEADER_BYTES as u64, first, later.capacity());
            while let Step::Record(record, ..) = scan.step() {
                if record.head.unsynced().is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// What ended where replaying a file ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    File,
    Log,
}
