//! The records of one log file, sorted by key, for tables that are kept in order.
//!
//! Written records never move, so sorted ones stay sorted. Records that were written since the last
//! look become a new run, which is merged with runs that are not much longer. All of this follows
//! from the log. A file next to the log file ([`super::run_file`]) only saves the time of sorting
//! again.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::UNIT;
use super::file::LogFile;
use super::header::HEADER_BYTES;
use super::record::{Kind, Record};
use super::run::{Run, Sorted, begin, common};
use super::run_file::{run_name, to_bytes, written};
use super::scan::Scan;
use crate::error::{Error, Result};
use crate::storage::{Storage, remove_if_there};

impl LogFile {
    /// The sorted records of a table at least up to an offset, and all places without a whole
    /// record.
    pub(crate) fn sorted(
        &self,
        storage: &dyn Storage,
        table: u32,
        end: u64,
        is_ordered: &dyn Fn(u32) -> bool,
    ) -> (Vec<Arc<Run>>, Vec<u64>) {
        let mut sorted = self.order.sorted.lock();
        sorted.look(storage, self, is_ordered);
        sorted.extend(self, end, is_ordered);
        self.order.bytes.store(sorted.bytes(), Ordering::Relaxed);
        let runs = sorted.tables.get(&table).cloned().flatten().unwrap_or_default();
        (runs, sorted.damaged.clone())
    }

    /// Sorts the records again, because one of them is no longer what it was.
    pub(crate) fn sort_again(&self) {
        *self.order.sorted.lock() = Sorted { looked: true, ..Sorted::default() };
    }

    /// Writes the file of sorted records, if it lacks some. Returns whether it has all now. Without
    /// `has_room` for these bytes, and before the log file is durable, it stays as it is.
    pub(crate) fn save_sorted(
        &self,
        storage: &dyn Storage,
        is_ordered: &dyn Fn(u32) -> bool,
        has_room: impl FnOnce(u64) -> bool,
    ) -> Result<bool> {
        let (mut sorted, end) = (self.order.sorted.lock(), self.end());
        // A crash must not leave it with records that the log file has lost.
        if sorted.saved >= end || self.durable() < end || !sorted.damaged.is_empty() {
            return Ok(sorted.saved >= end);
        }
        let is_used = sorted.looked;
        sorted.look(storage, self, is_ordered);
        sorted.extend(self, end, is_ordered);
        if !sorted.damaged.is_empty() || !sorted.unite(self) {
            return Ok(false);
        }
        if sorted.saved < end {
            let bytes = to_bytes(&self.header, &sorted);
            if !has_room(bytes.len() as u64) {
                return Ok(false);
            }
            let name = run_name(self.id());
            let made = remove_if_there(storage, &name).and_then(|()| {
                let file = storage.create(&name, bytes.len() as u64)?;
                file.write_at(0, &bytes)
            });
            match made.map_err(Error::io("write", name)) {
                Err(Error::NoSpace { .. }) => return Ok(false),
                made => made?,
            }
            sorted.saved = end;
        }
        if !is_used {
            // Nobody reads in order, so it need not be in memory.
            *sorted = Sorted { saved: end, ..Sorted::default() };
        }
        Ok(true)
    }

    /// Whether there is a file of sorted records, and of none behind the end.
    pub(crate) fn has_sorted(&self, storage: &dyn Storage) -> bool {
        written(storage, self).is_some_and(|sorted| sorted.0 == self.end())
    }

    /// Checks that the file of sorted records, if there is one, has all tables.
    pub(crate) fn check_sorted(&self, storage: &dyn Storage, is_ordered: &dyn Fn(u32) -> bool) {
        self.order.sorted.lock().look(storage, self, is_ordered);
    }

    /// There is a file of all its sorted records.
    pub(crate) fn set_sorted_saved(&self) {
        self.order.sorted.lock().saved = self.end();
    }

    /// Bytes of memory that sorted records take.
    pub(crate) fn order_bytes(&self) -> u64 {
        self.order.bytes.load(Ordering::Relaxed)
    }
}

impl Sorted {
    fn bytes(&self) -> u64 {
        self.tables.values().flatten().flatten().map(|run| run.bytes()).sum()
    }

    /// Reads the file of sorted records once, if there is one, and begins again if a table had no
    /// order when the others were sorted.
    fn look(&mut self, storage: &dyn Storage, file: &LogFile, is_ordered: &dyn Fn(u32) -> bool) {
        if !mem::replace(&mut self.looked, true) {
            match written(storage, file) {
                Some((until, sequence, tables)) => {
                    (self.until, self.sequence, self.tables) = (until, sequence, tables);
                    self.saved = until;
                }
                None => self.saved = 0,
            }
        }
        if self.tables.iter().any(|(table, runs)| runs.is_none() && is_ordered(*table)) {
            *self = Self { looked: true, ..Self::default() };
        }
    }

    /// Sorts the records up to `end` too.
    fn extend(&mut self, file: &LogFile, end: u64, is_ordered: &dyn Fn(u32) -> bool) {
        if self.until == 0 {
            (self.until, self.sequence) = (HEADER_BYTES as u64, file.header.first_sequence);
        }
        if self.until >= end {
            return;
        }
        let mut found: BTreeMap<u32, Unsorted> = BTreeMap::new();
        let mut scan = Scan::new(file, self.until, self.sequence, end);
        for step in scan.by_ref() {
            match step {
                Ok((record, offset, _)) if record.head.kind == Kind::Put => {
                    let table = record.key().table;
                    if !is_ordered(table) {
                        // Its runs would lack this record if it is kept in order again.
                        self.tables.insert(table, None);
                    } else if !found.entry(table).or_default().push(file, &record, offset) {
                        self.damaged.push(offset);
                    }
                }
                Err(offset) if self.damaged.last() != Some(&offset) => self.damaged.push(offset),
                _ => {}
            }
        }
        (self.until, self.sequence) = (scan.offset(), scan.sequence());
        for (table, run) in found {
            let runs = self.tables.entry(table).or_default().get_or_insert_default();
            let mut run = run.sort();
            while let Some(last) = runs.pop_if(|last| last.len() < 2 * run.len()) {
                match Run::merge(file, &last, &run) {
                    Some(merged) => run = merged,
                    // Sorted at once, they need no merging, and damage is noted.
                    None => {
                        *self = Self { looked: true, ..Self::default() };
                        return self.extend(file, end, is_ordered);
                    }
                }
            }
            runs.push(run);
        }
    }

    /// Merges the runs of each table. Returns whether that was possible.
    fn unite(&mut self, file: &LogFile) -> bool {
        for runs in self.tables.values_mut().flatten() {
            while let [.., first, second] = &runs[..] {
                let Some(merged) = Run::merge(file, first, second) else { return false };
                runs.truncate(runs.len() - 2);
                runs.push(merged);
            }
        }
        true
    }
}

/// Records of a table in the order of the log.
#[derive(Default)]
struct Unsorted {
    names: Vec<u8>,
    records: Vec<Named>,
    /// Bytes that all names begin with.
    shared: usize,
}

struct Named {
    /// The first bytes of the name behind those that all share.
    begin: u64,
    /// Where the name lies.
    at: usize,
    length: usize,
    unit: u32,
}

impl Unsorted {
    /// Takes a record. Returns whether it was still whole when its name had been read.
    fn push(&mut self, file: &LogFile, record: &Record<'_>, offset: u64) -> bool {
        let name = record.key().name;
        let at = self.names.len();
        self.names.extend_from_slice(name);
        if file.check_read(file.location(offset)).is_err() {
            self.names.truncate(at);
            return false;
        }
        let unit = u32::try_from(offset / UNIT).expect("files have at most 8 GiB");
        self.records.push(Named { begin: 0, at, length: name.len(), unit });
        let first = &self.names[..self.records[0].length];
        let name = &self.names[at..];
        let same = common(first, name).len();
        self.shared = if self.records.len() == 1 { same } else { self.shared.min(same) };
        true
    }

    fn sort(mut self) -> Arc<Run> {
        let name = |it: &Named| &self.names[it.at..it.at + it.length];
        for record in &mut self.records {
            record.begin = begin(&name(record)[self.shared..]);
        }
        self.records.sort_unstable_by(|a, b| {
            a.begin.cmp(&b.begin).then_with(|| name(a).cmp(name(b))).then(a.unit.cmp(&b.unit))
        });
        Arc::new(Run {
            units: self.records.iter().map(|it| it.unit).collect(),
            shared: self.names[..self.shared].to_vec(),
            begins: self.records.iter().map(|it| it.begin).collect(),
        })
    }
}
