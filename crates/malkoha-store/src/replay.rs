//! Records of the log become entries of the index, last record of a key first come.

use std::sync::Arc;

use malkoha::KeyHasher;

use crate::error::Result;
use crate::index::Index;
use crate::log::{FileTable, Kind, LogFile, Record};

/// Records whose places in the index are on their way.
const AHEAD: usize = 64;

/// Takes the records of one file in order.
pub(crate) struct Replay<'a> {
    index: &'a Index,
    table: &'a FileTable,
    file: &'a Arc<LogFile>,
    hasher: KeyHasher,
    /// Of a batch that is not complete, and where it begins.
    batch: Vec<Entry<'a>>,
    begin: Option<(u64, u64)>,
    ready: Vec<Entry<'a>>,
}

struct Entry<'a> {
    hash: u64,
    location: u64,
    bytes: u64,
    kind: Kind,
    key: &'a [u8],
}

impl<'a> Replay<'a> {
    pub(crate) fn new(
        index: &'a Index,
        table: &'a FileTable,
        file: &'a Arc<LogFile>,
        hasher: KeyHasher,
    ) -> Self {
        Self { index, table, file, hasher, batch: Vec::new(), begin: None, ready: Vec::new() }
    }

    /// Takes the next record.
    pub(crate) fn push(&mut self, record: Record<'a>, offset: u64, sequence: u64) -> Result<()> {
        let entry = Entry {
            hash: self.hasher.hash_bytes(record.key),
            location: self.file.location(offset),
            bytes: record.bytes(),
            kind: record.head.kind,
            key: record.key,
        };
        if record.more() || self.begin.is_some() {
            self.begin.get_or_insert((offset, sequence));
            self.batch.push(entry);
            if record.more() {
                return Ok(());
            }
            self.begin = None;
            self.batch.iter().for_each(|entry| self.index.prefetch(entry.hash));
            self.ready.append(&mut self.batch);
        } else {
            self.index.prefetch(entry.hash);
            self.ready.push(entry);
        }
        if self.ready.len() >= AHEAD { self.finish() } else { Ok(()) }
    }

    /// Offset and sequence number of a batch whose end is missing.
    pub(crate) fn unfinished(&self) -> Option<(u64, u64)> {
        self.begin
    }

    /// Leaves out a batch whose end is missing.
    pub(crate) fn cut(&mut self) {
        self.batch.clear();
        self.begin = None;
    }

    /// Takes in what is complete.
    pub(crate) fn finish(&mut self) -> Result<()> {
        for entry in self.ready.drain(..) {
            let old = locate(self.index, self.table, entry.hash, entry.key)?;
            match entry.kind {
                Kind::Put => match &old {
                    Some(old) => self.index.update(entry.hash, old.location, entry.location)?,
                    None => self.index.insert(entry.hash, entry.location)?,
                },
                Kind::Delete => {
                    self.file.add_tombstones(entry.bytes);
                    if let Some(old) = &old {
                        self.index.remove(entry.hash, old.location);
                    }
                }
                Kind::Seal => {}
            }
            if let Some(old) = old {
                old.file.add_dead(old.record.bytes());
            }
        }
        Ok(())
    }
}

/// The record that a key has now.
pub(crate) struct Located<'t> {
    pub(crate) location: u64,
    pub(crate) file: &'t Arc<LogFile>,
    pub(crate) record: Record<'t>,
}

/// Looks a key up, with the table that all locations in the index belong to.
pub(crate) fn locate<'t>(
    index: &Index,
    table: &'t FileTable,
    hash: u64,
    key: &[u8],
) -> Result<Option<Located<'t>>> {
    let (candidates, ()) = index.find(hash, || ());
    locate_among(&candidates, table, key)
}

/// The candidate that has the key.
#[inline]
pub(crate) fn locate_among<'t>(
    candidates: &[u64],
    table: &'t FileTable,
    key: &[u8],
) -> Result<Option<Located<'t>>> {
    for &location in candidates {
        let file = table.file(location).ok_or_else(crate::index::lost_file)?;
        let record = file.record(location)?;
        if record.key == key {
            return Ok(Some(Located { location, file, record }));
        }
    }
    Ok(None)
}
