//! Reads the sorted runs of all files together, in the order of keys.
//!
//! A run has records that were replaced or deleted since, and keys that are in other runs too. Of
//! all records of a key, at most the one that the index of the snapshot has is returned. Each
//! record is compared with its checksum before its key decides anything: a damaged key would lead
//! to wrong results.

use std::mem;
use std::sync::Arc;

use super::entries::Bounds;
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::locate::Located;
use crate::log::{Key, LogFile, RECORD_LINES, Run, begin};

pub(super) struct Merge<'s> {
    snapshot: &'s Snapshot,
    table: u32,
    bounds: Bounds,
    cursors: Vec<Cursor<'s>>,
    /// The cursors with a head, and the beginnings of its key. The first one is the least.
    heap: Vec<(u64, usize)>,
    /// Records that each cursor prefetches.
    ahead: usize,
    /// The location of the last record that was returned.
    last: u64,
    errors: Vec<Error>,
}

/// The wanted records of a run.
struct Cursor<'s> {
    file: &'s Arc<LogFile>,
    run: Arc<Run>,
    /// The next one.
    at: usize,
    /// Behind the last one.
    until: usize,
    /// A record before the next one that was not returned yet.
    head: Option<Located<'s>>,
}

impl Cursor<'_> {
    /// The offset of the record so far ahead.
    fn offset(&self, ahead: usize) -> Option<u64> {
        let at = self.at + ahead;
        (at < self.until).then(|| self.run.offset(at))
    }

    fn prefetch(&self, ahead: usize) {
        if let Some(offset) = self.offset(ahead) {
            self.file.prefetch(self.file.location(offset), RECORD_LINES);
        }
    }

    /// Prefetches the place in the index of the next record, which was prefetched before.
    fn prefetch_place(&self, snapshot: &Snapshot, table: u32) {
        let name = self.offset(0).and_then(|offset| self.file.name_at(offset));
        if let Some(name) = name {
            snapshot.index.prefetch(Key { table, name: &name }.hash(&snapshot.hasher));
        }
    }

    fn name(&self) -> &[u8] {
        self.head.as_ref().map_or(&[], |head| head.record.key().name)
    }
}

impl<'s> Merge<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, table: u32, bounds: Bounds) -> Self {
        let mut merge = Self {
            snapshot,
            table,
            bounds,
            cursors: Vec::new(),
            heap: Vec::new(),
            ahead: 0,
            last: u64::MAX,
            errors: Vec::new(),
        };
        for (file, end) in snapshot.files() {
            let others = merge.cursors.len();
            let opened = merge.open(file, end).or_else(|_| {
                // Sorted again, its runs are without the damaged record that was read.
                merge.cursors.truncate(others);
                file.sort_again();
                merge.open(file, end)
            });
            merge.errors.extend(opened.err());
        }
        merge.errors.reverse();
        merge.ahead = 2 + AHEAD / merge.cursors.len().max(1);
        merge.fill();
        merge
    }

    /// Adds the wanted records of a file, and an error for each of its places without a whole one.
    fn open(&mut self, file: &'s Arc<LogFile>, end: u64) -> Result<()> {
        let tables = &self.snapshot.tables;
        let storage = &*self.snapshot.storage;
        let (runs, damaged) =
            file.sorted(storage, self.table, end, &|table| tables.is_ordered(table));
        for run in runs {
            let at = run.find(file, &self.bounds.start)?;
            let until =
                self.bounds.end.as_ref().map_or(Ok(run.len()), |end| run.find(file, end))?;
            if at < until {
                self.cursors.push(Cursor { file, run, at, until, head: None });
            }
        }
        let damaged = damaged.into_iter().filter(|&offset| offset < end);
        self.errors.extend(damaged.map(|offset| file.no_record(offset)));
        Ok(())
    }

    fn fill(&mut self) {
        let cursors = &self.cursors;
        cursors.iter().for_each(|cursor| (0..self.ahead).for_each(|it| cursor.prefetch(it)));
        cursors.iter().for_each(|cursor| cursor.prefetch_place(self.snapshot, self.table));
        for number in 0..self.cursors.len() {
            if let Some(begin) = self.advance(number) {
                self.heap.push((begin, number));
            }
        }
        (0..self.heap.len() / 2).rev().for_each(|at| self.sift(at));
    }

    /// Moves a cursor to its next record that is present. Returns the beginning of its key.
    fn advance(&mut self, number: usize) -> Option<u64> {
        let cursor = &mut self.cursors[number];
        cursor.head = None;
        while let Some(offset) = cursor.offset(0) {
            cursor.prefetch(self.ahead);
            cursor.at += 1;
            cursor.prefetch_place(self.snapshot, self.table);
            let (file, location) = (cursor.file, cursor.file.location(offset));
            let record = match file.record(location) {
                Ok(record) => record,
                Err(error) => {
                    self.errors.push(error);
                    continue;
                }
            };
            let key = record.key();
            let begin = begin(key.name.get(self.bounds.shared..).unwrap_or_default());
            let shows = self.snapshot.shows(&record, key.hash(&self.snapshot.hasher), location);
            // A page that is lost after the checksum was compared shows another key.
            if let Err(error) = file.check_read(location) {
                self.errors.push(error);
            } else if shows {
                cursor.head = Some(Located { location, file, record });
                return Some(begin);
            }
        }
        None
    }

    /// Moves an element of the heap down to its place.
    fn sift(&mut self, mut at: usize) {
        loop {
            let children = [2 * at + 1, 2 * at + 2].into_iter().filter(|&it| it < self.heap.len());
            let Some(least) = children.min_by(|&a, &b| self.compare(a, b)) else { return };
            if self.compare(at, least).is_le() {
                return;
            }
            self.heap.swap(at, least);
            at = least;
        }
    }

    fn compare(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let ((a, of_a), (b, of_b)) = (self.heap[a], self.heap[b]);
        a.cmp(&b).then_with(|| self.cursors[of_a].name().cmp(self.cursors[of_b].name()))
    }
}

impl<'s> Iterator for Merge<'s> {
    type Item = Result<Located<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(error) = self.errors.pop() {
                return Some(Err(error));
            }
            let &(_, number) = self.heap.first()?;
            let found = self.cursors[number].head.take()?;
            match self.advance(number) {
                Some(begin) => self.heap[0].0 = begin,
                None => drop(self.heap.swap_remove(0)),
            }
            self.sift(0);
            // A hostile file of sorted records may have one of them twice.
            if mem::replace(&mut self.last, found.location) != found.location {
                return Some(Ok(found));
            }
        }
    }
}

/// Records of all runs together that are prefetched.
const AHEAD: usize = 12;
