//! Opening: the checkpoint, then what the log has beyond it.

mod read;

use std::io;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use malkoha::KeyHasher;
use parking_lot::Mutex;

use crate::error::{Error, Result};
use crate::index::{self, Checkpoint, FileEntry, Index, SHARDS};
use crate::log::{FileTable, HEADER_BYTES, LogFile, file_name, parse_name};
use crate::replay::{Changes, apply, reserve, side_by_side, threads, threads_for};
use crate::storage::{Mapping, Storage};
use read::{Ended, Read};

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
        reserved: None,
    };
    let start = match &checkpoint {
        Some(checkpoint) => opening.known_files(checkpoint, &ids)?,
        None => Start { from_id: 0, resumed: None },
    };
    let tail = opening.replay_all(&index, &ids, start)?;
    let Opening { table, sequence, seed, skipped, useless, reserved, .. } = opening;
    // Where much was overwritten or deleted, there was room for too many.
    if reserved.is_some_and(|keys| index.len() < keys - keys / 8) {
        side_by_side(SHARDS, threads_for(index.len()), |number| {
            index.shard_mut(number).shrink();
            Ok(())
        })?;
    }
    // Numbers of useless files are given again, so that a gap always means a compaction.
    let is_kept = |id: &&u64| !useless.contains(&file_name(**id));
    let next_id = ids.iter().rev().find(is_kept).map_or(1, |id| id + 1);
    let next_id = next_id.max(checkpoint.map_or(1, |checkpoint| checkpoint.next_id));
    let seed = seed.unwrap_or_else(|| KeyHasher::random().seed());
    Ok(Some(Recovered { index, table, tail, next_id, sequence, seed, skipped, useless }))
}

/// A file that the checkpoint does not know, and its first stretch; `None` if it has no header, not
/// even a damaged one.
type Unknown = Option<(LogFile, Read)>;

/// Where replaying begins.
struct Start {
    /// The first file that the checkpoint does not know.
    from_id: u64,
    /// The last one that it knows, which may have more records since.
    resumed: Option<Arc<LogFile>>,
}

/// An opening on its way.
struct Opening<'a> {
    storage: &'a dyn Storage,
    on_damage: OnDamage,
    seed: Option<u64>,
    table: FileTable,
    sequence: u64,
    skipped: Vec<Error>,
    useless: Vec<String>,
    /// The keys that the index got room for.
    reserved: Option<u64>,
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
            let read = self.read(&file, file.end(), self.sequence, new)?;
            let mut taken = Vec::new();
            let ended = self.take(index, &mut taken, &file, read, new)?;
            self.apply(index, &mut taken, 0)?;
            if ended == Ended::Log {
                return Ok(Some(file));
            }
        }
        // Files are opened and read side by side, and then looked at in their order: what one says
        // counts only if the log goes on until there.
        let mut unread =
            new.iter().map(|&id| Ok(self.map(id)?.len() as u64)).sum::<Result<u64>>()?;
        for (group, ids) in new.chunks(threads()).enumerate() {
            let later = |i: usize| &new[group * threads() + i + 1..];
            let opened: Vec<Mutex<Option<Result<Unknown>>>> =
                ids.iter().map(|_| Mutex::default()).collect();
            // Records of a hundred bytes, say.
            side_by_side(ids.len(), threads_for(unread / 100), |i| {
                *opened[i].lock() = Some(self.read_unknown(ids[i], later(i)));
                Ok(())
            })?;
            let mut taken = Vec::new();
            for (i, opened) in opened.into_iter().enumerate() {
                let opened = opened.into_inner().expect("all were read");
                match self.take_unknown(index, &mut taken, ids[i], opened, later(i))? {
                    Continue(()) => {}
                    Break(tail) => {
                        self.apply(index, &mut taken, 0)?;
                        return Ok(tail);
                    }
                }
            }
            let read: u64 = taken.iter().map(|(file, _)| file.capacity()).sum();
            unread = unread.saturating_sub(read);
            self.apply(index, &mut taken, unread)?;
        }
        Ok(None)
    }

    fn map(&self, id: u64) -> Result<Mapping> {
        let name = file_name(id);
        let file = self.storage.open(&name, false).map_err(Error::io("open", &*name))?;
        file.map().map_err(Error::io("map", name))
    }

    /// Opens a file that the checkpoint does not know, and reads its first stretch.
    fn read_unknown(&self, id: u64, later: &[u64]) -> Result<Unknown> {
        let map = self.map(id)?;
        let header = map.get(0, map.len().min(HEADER_BYTES)).unwrap_or_default();
        if header.iter().all(|&byte| byte == 0) {
            return Ok(None);
        }
        let file = LogFile::open(self.storage, id, 0, false)?;
        let read = self.read(&file, HEADER_BYTES as u64, file.header.first_sequence, later)?;
        Ok(Some((file, read)))
    }

    /// Takes in what `read_unknown` found. Breaks with the tail where the log ends.
    fn take_unknown(
        &mut self,
        index: &Index,
        taken: &mut Vec<(Arc<LogFile>, Changes)>,
        id: u64,
        opened: Result<Unknown>,
        later: &[u64],
    ) -> Result<ControlFlow<Option<Arc<LogFile>>>> {
        let (mut file, mut read) = match opened {
            Ok(Some((file, read))) => (file, read),
            Ok(None) if self.is_synced_later(id, 0, later)? => {
                let blank = Error::Damaged { file: file_name(id), offset: 0, what: "it is blank" };
                return self.damage(blank).map(Continue);
            }
            Ok(None) => {
                // Made, but not written before a crash: nothing behind it was ever answered for.
                self.useless.extend([id].iter().chain(later).map(|&id| file_name(id)));
                return Ok(Break(None));
            }
            Err(error) if error.is_damage() => return self.damage(error).map(Continue),
            Err(error) => return Err(error),
        };
        if file.header.seed != *self.seed.get_or_insert(file.header.seed) {
            return self.damage(file.damaged(32, "it belongs to another store")).map(Continue);
        }
        let first = file.header.first_sequence;
        if first < self.sequence {
            self.damage(file.damaged(24, "its records have the numbers of older ones"))?;
            read = self.read(&file, HEADER_BYTES as u64, self.sequence, later)?;
        }
        file.base = self.table.free_base(file.capacity());
        let file = Arc::new(file);
        self.table.insert(Arc::clone(&file));
        Ok(match self.take(index, taken, &file, read, later)? {
            Ended::Log => Break(Some(file)),
            _ => Continue(()),
        })
    }

    /// Notes damage, or fails.
    fn damage(&mut self, error: Error) -> Result<()> {
        if self.on_damage == OnDamage::Refuse {
            return Err(error);
        }
        self.skipped.push(error);
        Ok(())
    }

    /// Takes in the rest of a file, of which one stretch is read, and sets its end.
    fn take(
        &mut self,
        index: &Index,
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
            file.add_tombstones(read.changes.tombstones);
            self.sequence = read.sequence;
            taken.push((Arc::clone(file), read.changes));
            if read.ended != Ended::Stretch {
                break;
            }
            self.apply(index, taken, file.capacity() - read.end)?;
            read = self.read(file, read.end, read.sequence, later)?;
        }
        if read.ended == Ended::Log {
            // Behind the end of the log is nothing that was ever answered for.
            self.useless.extend(later.iter().map(|&id| file_name(id)));
        }
        Ok(read.ended)
    }

    /// Brings into the index what was read. `unread` bytes of the log will follow, more or less.
    fn apply(
        &mut self,
        index: &Index,
        taken: &mut Vec<(Arc<LogFile>, Changes)>,
        unread: u64,
    ) -> Result<()> {
        if self.reserved.is_none() && index.len() == 0 {
            self.reserved = Some(reserve(index, taken, unread)?);
        }
        apply(index, &self.table, taken)?;
        taken.clear();
        Ok(())
    }
}
