//! Reads the sorted runs of all files together, in the order of keys.
//!
//! A run has records that were replaced or deleted since, and keys that are in other runs too. Of
//! all records of a key, at most the one that the index of the snapshot has is returned. Each
//! record is compared with its checksum before its key decides anything: a damaged key would lead
//! to wrong results.

use std::sync::Arc;

use super::entries::Bounds;
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::locate::Located;
use crate::log::{Key, LogFile, RECORD_LINES, Run, UNIT, begin};

pub(super) struct Merge<'s> {
    snapshot: &'s Snapshot,
    table: u32,
    bounds: Bounds,
    cursors: Vec<Cursor<'s>>,
    /// The cursors with a head, and the beginnings of its key. The first one is the least.
    heap: Vec<(u64, usize)>,
    /// Records that each cursor prefetches.
    ahead: usize,
    errors: Vec<Error>,
}

/// A position in a run.
struct Cursor<'s> {
    file: &'s Arc<LogFile>,
    run: Run,
    at: usize,
    /// A record before the position that was not returned yet.
    head: Option<Located<'s>>,
}

impl Cursor<'_> {
    fn offset(&self, at: usize) -> Option<u64> {
        self.run.get(at).map(|&unit| u64::from(unit) * UNIT)
    }

    fn prefetch(&self, at: usize) {
        if let Some(offset) = self.offset(at) {
            self.file.prefetch(self.file.location(offset), RECORD_LINES);
        }
    }

    /// Prefetches the place in the index of a record that was prefetched before.
    fn prefetch_place(&self, snapshot: &Snapshot, table: u32) {
        let name = self.offset(self.at).and_then(|offset| self.file.name_at(offset));
        if let Some(name) = name {
            snapshot.prefetch(snapshot.hash(Key { table, name: &name }));
        }
    }

    fn name(&self) -> &[u8] {
        self.head.as_ref().map_or(&[], |head| head.record.key().name)
    }

    /// Whether the records around the end of a search are whole. A damaged one could have led it
    /// there.
    fn is_found(&self) -> bool {
        let around = [self.at.checked_sub(1), Some(self.at)];
        let offsets = around.into_iter().flatten().filter_map(|at| self.offset(at));
        let mut locations = offsets.map(|offset| self.file.location(offset));
        locations.all(|it| self.file.record(it).is_ok() && self.file.check_read(it).is_ok())
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
            errors: Vec::new(),
        };
        let (mut files, mut damaged) = (snapshot.files().collect::<Vec<_>>(), Vec::new());
        // Files with a damaged record are sorted again without it.
        for attempt in 0..2 {
            let begin = merge.cursors.len();
            for &(file, end) in &files {
                damaged.extend(merge.open(file, end).map(|offset| (file, offset)));
            }
            search(&mut merge.cursors[begin..], &merge.bounds);
            let bad: Vec<u64> = merge.cursors[begin..]
                .iter()
                .filter(|cursor| attempt == 0 && !cursor.is_found())
                .map(|cursor| cursor.file.id())
                .collect();
            if bad.is_empty() {
                break;
            }
            files.retain(|(file, _)| bad.contains(&file.id()));
            files.iter().for_each(|(file, _)| file.sort_again());
            merge.cursors.retain(|cursor| !bad.contains(&cursor.file.id()));
            damaged.retain(|(file, _)| !bad.contains(&file.id()));
        }
        merge.errors = damaged.iter().rev().map(|(file, offset)| file.no_record(*offset)).collect();
        merge.ahead = 2 + AHEAD / merge.cursors.len().max(1);
        merge.fill();
        merge
    }

    /// Adds the runs of a file. Returns its places without a whole record.
    fn open(&mut self, file: &'s Arc<LogFile>, end: u64) -> impl Iterator<Item = u64> + use<> {
        let tables = &self.snapshot.tables;
        let storage = &*self.snapshot.storage;
        let (runs, damaged) =
            file.sorted(storage, self.table, end, &|table| tables.is_ordered(table));
        let cursor = |run| Cursor { file, run, at: 0, head: None };
        self.cursors.extend(runs.into_iter().map(cursor));
        damaged.into_iter().filter(move |&offset| offset < end)
    }

    fn fill(&mut self) {
        for number in 0..self.cursors.len() {
            (1..self.ahead)
                .for_each(|at| self.cursors[number].prefetch(self.cursors[number].at + at));
            if let Some(begin) = self.advance(number) {
                self.heap.push((begin, number));
            }
        }
        (0..self.heap.len() / 2).rev().for_each(|at| self.sift(at));
    }

    /// Moves a cursor to its next record that is wanted. Returns the beginning of its key.
    fn advance(&mut self, number: usize) -> Option<u64> {
        let cursor = &mut self.cursors[number];
        cursor.head = None;
        while let Some(offset) = cursor.offset(cursor.at) {
            cursor.prefetch(cursor.at + self.ahead);
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
            if self.bounds.is_behind(key.name) {
                cursor.at = cursor.run.len();
                return None;
            }
            let begin = begin(key.name.get(self.bounds.shared..).unwrap_or_default());
            let shows = self.snapshot.shows(&record, self.snapshot.hash(key), location);
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
        if let Some(error) = self.errors.pop() {
            return Some(Err(error));
        }
        let &(_, number) = self.heap.first()?;
        let found = self.cursors[number].head.take();
        match self.advance(number) {
            Some(begin) => self.heap[0].0 = begin,
            None => drop(self.heap.swap_remove(0)),
        }
        self.sift(0);
        found.map(Ok)
    }
}

/// Records of all runs together that are prefetched.
const AHEAD: usize = 12;

/// Moves each cursor to its first record that may be wanted: all of them a step at a time, so that
/// their records are loaded together.
fn search(cursors: &mut [Cursor<'_>], bounds: &Bounds) {
    let mut ends: Vec<usize> = cursors.iter().map(|cursor| cursor.run.len()).collect();
    let middle = |cursor: &Cursor<'_>, end: usize| cursor.at + (end - cursor.at) / 2;
    while cursors.iter().zip(&ends).any(|(cursor, &end)| cursor.at < end) {
        for (cursor, &end) in cursors.iter().zip(&ends) {
            cursor.prefetch(middle(cursor, end));
        }
        for (cursor, end) in cursors.iter_mut().zip(&mut ends).filter(|(it, end)| it.at < **end) {
            let middle = middle(cursor, *end);
            let offset = cursor.offset(middle).unwrap_or_default();
            let is_before = cursor.file.name_at(offset).is_some_and(|name| bounds.is_after(&name));
            if is_before {
                cursor.at = middle + 1;
            } else {
                *end = middle;
            }
        }
    }
}
