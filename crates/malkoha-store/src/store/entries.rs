//! Keys with their values: all of a table, or a range of them.

use std::ops::{Bound, RangeBounds};

use super::merge::Merge;
use super::snapshot::{Entry, Snapshot};
use crate::error::Result;
use crate::locate::Located;
use crate::log::common;

/// An iterator over keys with their values, by [`Snapshot::iter`], [`Snapshot::prefix`] or
/// [`Snapshot::range`].
pub struct Entries<'s>(Box<dyn Iterator<Item = Result<Entry<'s>>> + Send + 's>);

impl<'s> Entries<'s> {
    /// All keys of a table: in the order of the log, unless they are kept in order.
    pub(super) fn all(snapshot: &'s Snapshot, table: u32) -> Self {
        if snapshot.tables.is_ordered(table) {
            return Self::merged(snapshot, table, Bounds::ALL);
        }
        Self(Box::new(log(snapshot, table).map(entry)))
    }

    /// The keys of a table in a range, sorted.
    pub(super) fn among(snapshot: &'s Snapshot, table: u32, bounds: Bounds) -> Result<Self> {
        if snapshot.tables.is_ordered(table) {
            return Ok(Self::merged(snapshot, table, bounds));
        }
        let mut found = Vec::new();
        for record in log(snapshot, table) {
            let record = record?;
            if bounds.contains(record.record.key().name) {
                found.push(entry(Ok(record))?);
            }
        }
        found.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Ok(Self(Box::new(found.into_iter().map(Ok))))
    }

    fn merged(snapshot: &'s Snapshot, table: u32, bounds: Bounds) -> Self {
        Self(Box::new(Merge::new(snapshot, table, bounds).map(entry)))
    }
}

impl<'s> Iterator for Entries<'s> {
    type Item = Result<Entry<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// The present records of a table, in the order of the log.
fn log<'s>(
    snapshot: &'s Snapshot,
    table: u32,
) -> impl Iterator<Item = Result<Located<'s>>> + Send + use<'s> {
    let of_file = move |(file, end)| snapshot.records_of(file, end, move |of| of == table);
    snapshot.files().flat_map(of_file)
}

fn entry(found: Result<Located<'_>>) -> Result<Entry<'_>> {
    let (key, value) = found?.into_parts()?;
    Ok(Entry { key, value })
}

/// The keys that are wanted: not before the start, and before the end.
pub(super) struct Bounds {
    pub(super) start: Vec<u8>,
    pub(super) end: Option<Vec<u8>>,
    /// How many bytes all of them have in common at the beginning.
    pub(super) shared: usize,
}

impl Bounds {
    const ALL: Self = Self { start: Vec::new(), end: None, shared: 0 };

    pub(super) fn prefix(prefix: &[u8]) -> Self {
        let mut end = prefix.to_vec();
        // The first key behind all of them is the prefix with its last byte raised.
        while end.pop_if(|last| *last == u8::MAX).is_some() {}
        let end = end.last_mut().map(|last| *last += 1).map(|()| end);
        Self { start: prefix.to_vec(), end, shared: prefix.len() }
    }

    pub(super) fn range(keys: &impl RangeBounds<[u8]>) -> Self {
        // The first key behind another one has a zero more.
        let bytes = |bound: Bound<&[u8]>, is_behind: fn(&Bound<&[u8]>) -> bool| match bound {
            Bound::Unbounded => None,
            Bound::Included(key) | Bound::Excluded(key) => {
                Some([key, if is_behind(&bound) { &[0] } else { &[] }].concat())
            }
        };
        let start = bytes(keys.start_bound(), |it| matches!(it, Bound::Excluded(_)));
        let end = bytes(keys.end_bound(), |it| matches!(it, Bound::Included(_)));
        let start = start.unwrap_or_default();
        let shared = end.as_ref().map_or(0, |end| common(&start, end).len());
        Self { start, end, shared }
    }

    fn contains(&self, key: &[u8]) -> bool {
        *key >= *self.start && self.end.as_ref().is_none_or(|end| *key < **end)
    }
}
