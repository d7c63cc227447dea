//! Records of the log become entries of the index. The last record of a key replaces the others.
//!
//! Files are read in parallel by as many threads as there are processors. Their records are sorted
//! by part while they are read. Then each thread processes one part at a time, which fits a
//! cache.

use std::sync::Arc;
use std::thread;

use malkoha::{KeyHasher, side_by_side};

use crate::error::Result;
use crate::index::{Index, PARTS, PartMut, part_of};
use crate::locate::locate_among;
use crate::log::{Expiring, Kind, LogFile, LogFiles, Record, UNIT};

/// Records whose places in the index are on their way.
const AHEAD: usize = 32;

/// The changes of the index by a stretch of a file, in order.
pub(crate) struct Changes {
    hasher: KeyHasher,
    parts: Box<[Vec<Change>]>,
    /// Of a batch that is not complete, with their bytes and ends, and where it begins.
    batch: Vec<(Change, u64, Option<u64>)>,
    begin: Option<(u64, u64)>,
    /// Puts that end, even if they were replaced since.
    pub(crate) expiring: Expiring,
    /// Bytes of tombstones.
    pub(crate) tombstones: u64,
    /// Bytes of marks.
    pub(crate) marks: u64,
    /// Bytes of all records.
    bytes: u64,
}

#[derive(Clone, Copy)]
struct Change {
    hash: u64,
    offset: u64,
    is_put: bool,
}

impl Changes {
    pub(crate) fn new(file: &LogFile) -> Self {
        Self {
            hasher: KeyHasher::new(file.header.seed),
            parts: vec![Vec::new(); PARTS].into(),
            batch: Vec::new(),
            begin: None,
            expiring: Expiring::default(),
            tombstones: 0,
            marks: 0,
            bytes: 0,
        }
    }

    /// Takes the next record.
    #[inline]
    pub(crate) fn push(&mut self, record: &Record<'_>, offset: u64, sequence: u64) {
        if record.head.kind == Kind::Mark {
            self.marks += record.bytes();
            return;
        }
        let is_put = record.head.kind == Kind::Put;
        let change = Change { hash: record.key().hash(&self.hasher), offset, is_put };
        if !record.more() && self.begin.is_none() {
            return self.take(change, record.bytes(), record.expires());
        }
        self.begin.get_or_insert((offset, sequence));
        self.batch.push((change, record.bytes(), record.expires()));
        if !record.more() {
            self.finish();
        }
    }

    #[inline]
    fn take(&mut self, change: Change, bytes: u64, end: Option<u64>) {
        self.bytes += bytes;
        if let Some(end) = end {
            self.expiring.add(end, bytes);
        }
        if !change.is_put {
            self.tombstones += bytes;
        }
        self.parts[part_of(change.hash)].push(change);
    }

    /// Offset and sequence number of a batch whose end is missing.
    pub(crate) fn unfinished(&self) -> Option<(u64, u64)> {
        self.begin
    }

    /// Processes a batch as far as it exists.
    pub(crate) fn finish(&mut self) {
        self.begin = None;
        for (change, bytes, end) in std::mem::take(&mut self.batch) {
            self.take(change, bytes, end);
        }
    }

    /// Drops a batch whose end is missing.
    pub(crate) fn cut(&mut self) {
        self.batch.clear();
        self.begin = None;
    }
}

/// Threads that share the work of opening.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The number of threads for `records` records: starting a thread takes as long as replaying some
/// thousands.
pub(crate) fn threads_for(records: u64) -> usize {
    if records < 10_000 { 1 } else { threads() }
}

/// Does `work` for each part of the index, on as many threads as `records` records are worth.
/// Returns one of the errors, if any.
pub(crate) fn each_part(records: u64, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
    let threads = threads_for(records).min(PARTS);
    let share = |first| (first..PARTS).step_by(threads).try_for_each(&work);
    side_by_side((0..threads).collect(), share).into_iter().collect()
}

/// Makes room in an empty index for the keys of the records that were read, and of `unread` more
/// bytes of such records, if none of them is overwritten. Returns the number of keys.
pub(crate) fn reserve(index: &Index, read: &[(Arc<LogFile>, Changes)], unread: u64) -> Result<u64> {
    let puts = |(_, changes): &(_, Changes)| {
        changes.parts.iter().flatten().filter(|change| change.is_put).count() as u64
    };
    let puts: u64 = read.iter().map(puts).sum();
    let bytes: u64 = read.iter().map(|(_, changes)| changes.bytes).sum();
    let following = u128::from(puts) * u128::from(unread) / u128::from(bytes.max(1));
    let keys = puts.saturating_add(u64::try_from(following).unwrap_or(u64::MAX));
    let last = read.iter().map(|(file, _)| file.location(file.end())).max().unwrap_or(0);
    each_part(keys, |number| {
        index.part_mut(number).reserve(keys / PARTS as u64, last + unread / UNIT)
    })?;
    Ok(keys)
}

/// Applies the changes, file after file. `files` has all of them.
pub(crate) fn apply(
    index: &Index,
    files: &LogFiles,
    read: &[(Arc<LogFile>, Changes)],
) -> Result<()> {
    let changes = read.iter().flat_map(|(_, changes)| &changes.parts);
    let changes: usize = changes.map(Vec::len).sum();
    each_part(changes as u64, |number| {
        let mut part = index.part_mut(number);
        read.iter().try_for_each(|(file, changes)| {
            apply_to(&mut part, files, file, &changes.parts[number])
        })
    })
}

fn apply_to(
    part: &mut PartMut<'_>,
    files: &LogFiles,
    file: &LogFile,
    changes: &[Change],
) -> Result<()> {
    for (i, change) in changes.iter().enumerate() {
        if let Some(later) = changes.get(i + AHEAD) {
            part.prefetch(later.hash);
        }
        let (hash, new) = (change.hash, file.location(change.offset));
        let old = match part.find(hash) {
            None => None,
            Some(candidates) => {
                let record = file.record(new)?;
                locate_among(candidates.as_slice().iter().copied(), files, record.key())?
            }
        };
        match (&old, change.is_put) {
            (Some(old), true) => part.update(hash, old.location, new)?,
            (None, true) => part.insert(hash, new)?,
            (Some(old), false) => part.remove(hash, old.location),
            (None, false) => {}
        }
        if let Some(old) = old {
            old.remove_present();
        }
    }
    Ok(())
}
