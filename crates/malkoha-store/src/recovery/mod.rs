//! Opening: the checkpoint, then the log beyond it.

mod known;
mod read;
mod replay;
mod unknown;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::{self, Checkpoint, FileEntry, Index};
use crate::log::{LogFile, LogFiles, file_name, parse_name, parse_run_name, random_seed};
use crate::replay::each_part;
use crate::storage::Storage;

/// A file that a copy has until it is complete: with it the directory is not a store.
pub(crate) const UNFINISHED: &str = "BACKUP.unfinished";

/// The remains of a crash, and the damage, that opening found. If a store is opened read-only while
/// another process writes to it, that write looks the same.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Recovery {
    /// The damage of the checkpoint, if it has any: the index was built from the log instead.
    pub checkpoint: Option<Error>,
    /// The part of the last write that a crash left. It was never acknowledged as durable.
    pub cut: Option<Cut>,
    /// Whole log files behind that, never acknowledged either. Opening for writing removes them.
    pub cut_files: Vec<Cut>,
    /// The damage that [`Store::open_past_damage`](crate::Store::open_past_damage) skipped.
    pub skipped: Vec<Error>,
    /// Keys that were written there and not put later, as far as they can be read. One that was
    /// deleted later is among them.
    pub lost_keys: Vec<LostKey>,
}

/// A key that was written where something is damaged now, and not later.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostKey {
    /// The name of its table. `None` for a key of the store itself, and where the list of tables is
    /// lost.
    pub table: Option<String>,
    /// The number of its table; 0 for the store itself.
    pub table_number: u32,
    /// The key.
    pub key: Vec<u8>,
}

/// Bytes behind the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cut {
    /// The log file.
    pub file: String,
    /// Their offset in it, in bytes.
    pub offset: u64,
    /// How many there are, in bytes.
    pub bytes: u64,
}

impl Cut {
    /// The bytes of a file from an offset on, unless all are zero.
    fn from(file: &LogFile, offset: u64) -> Option<Self> {
        let last = file.leftovers(offset).last()?;
        Some(Self { file: file.name(), offset, bytes: last.end - offset })
    }
}

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
    opening.finish(tail, checkpoint.as_ref(), &ids).map(Some)
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
    fn finish(
        self,
        tail: Option<Arc<LogFile>>,
        checkpoint: Option<&Checkpoint>,
        ids: &[u64],
    ) -> Result<Recovered> {
        let Self { mut found, seed, reserved, replayed, .. } = self;
        found.checkpointed = checkpoint.is_some() && !replayed && found.useless.is_empty();
        found.recovery.cut = tail.as_deref().and_then(|tail| Cut::from(tail, tail.end()));
        // They were abandoned, the last one first.
        found.recovery.cut_files.reverse();
        found.tail = tail;
        // If much was overwritten or deleted, too much room was made.
        let keys = found.index.len();
        if reserved.is_some_and(|reserved| keys < reserved - reserved / 8) {
            each_part(keys, |number| {
                found.index.part_mut(number).shrink();
                Ok(())
            })?;
        }
        // Numbers of unused files are used again, so that a gap always means a compaction.
        let is_kept = |id: &&u64| !found.useless.contains(&file_name(**id));
        let next_id = ids.iter().rev().find(is_kept).map_or(1, |id| id + 1);
        found.next_id = next_id.max(checkpoint.map_or(1, |checkpoint| checkpoint.next_id));
        found.seed = seed.unwrap_or_else(random_seed);
        Ok(found)
    }

    /// Notes damage, or fails.
    fn damage(&mut self, error: Error) -> Result<()> {
        if self.on_damage == OnDamage::Refuse {
            return Err(error);
        }
        self.found.recovery.skipped.push(error);
        Ok(())
    }
}
