//! Keys with their values: all of a table, or a range of them.

use std::cmp::Ordering;
use std::ops::{Bound, RangeBounds};
use std::vec;

use super::merge::Merge;
use super::snapshot::{Entry, Snapshot};
use crate::error::Result;
use crate::locate::Located;

/// An iterator over keys with their values, by [`Snapshot::iter`], [`Snapshot::prefix`] or
/// [`Snapshot::range`].
pub struct Entries<'s>(Source<'s>);

enum Source<'s> {
    /// All keys in the order of the log.
    Log(Box<dyn Iterator<Item = Result<Located<'s>>> + Send + 's>),
    /// Keys that were found in the log and sorted.
    Found(vec::IntoIter<Entry<'s>>),
    /// Keys that are kept in order.
    Order(Box<Merge<'s>>),
}

impl<'s> Entries<'s> {
    /// All keys of a table.
    pub(super) fn all(snapshot: &'s Snapshot, table: u32) -> Self {
        if snapshot.tables.is_ordered(table) {
            return Self(Source::Order(Box::new(Merge::new(snapshot, table, Bounds::ALL))));
        }
        Self(Source::Log(Box::new(log(snapshot, table))))
    }

    /// The keys of a table in a range, sorted.
    pub(super) fn among(snapshot: &'s Snapshot, table: u32, bounds: Bounds) -> Result<Self> {
        if snapshot.tables.is_ordered(table) {
            return Ok(Self(Source::Order(Box::new(Merge::new(snapshot, table, bounds)))));
        }
        let mut found = Vec::new();
        for record in log(snapshot, table) {
            let record = record?;
            if bounds.contains(record.record.key().name) {
                found.push(entry(record)?);
            }
        }
        found.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        Ok(Self(Source::Found(found.into_iter())))
    }
}

impl<'s> Iterator for Entries<'s> {
    type Item = Result<Entry<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Log(records) => Some(records.next()?.and_then(entry)),
            Source::Found(entries) => entries.next().map(Ok),
            Source::Order(merge) => Some(merge.next()?.and_then(entry)),
        }
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

fn entry(found: Located<'_>) -> Result<Entry<'_>> {
    let (key, value) = found.into_parts()?;
    Ok(Entry { key, value })
}

/// The keys that are wanted.
pub(super) struct Bounds {
    start: Bound<Vec<u8>>,
    end: Bound<Vec<u8>>,
    /// How many bytes all of them have in common at the beginning.
    pub(super) shared: usize,
}

impl Bounds {
    const ALL: Self = Self { start: Bound::Unbounded, end: Bound::Unbounded, shared: 0 };

    pub(super) fn prefix(prefix: &[u8]) -> Self {
        let start = Bound::Included(prefix.to_vec());
        let mut end = prefix.to_vec();
        // The first key behind all of them is the prefix with its last byte raised.
        while end.pop_if(|last| *last == u8::MAX).is_some() {}
        let end = match end.last_mut() {
            Some(last) => {
                *last += 1;
                Bound::Excluded(end)
            }
            None => Bound::Unbounded,
        };
        Self { start, end, shared: prefix.len() }
    }

    pub(super) fn range(keys: &impl RangeBounds<[u8]>) -> Self {
        let own = |bound: Bound<&[u8]>| bound.map(<[u8]>::to_vec);
        let (start, end) = (own(keys.start_bound()), own(keys.end_bound()));
        let shared = match (bytes(&start), bytes(&end)) {
            (Some(start), Some(end)) => start.iter().zip(end).take_while(|(a, b)| a == b).count(),
            _ => 0,
        };
        Self { start, end, shared }
    }

    fn contains(&self, key: &[u8]) -> bool {
        !self.is_after(key) && !self.is_behind(key)
    }

    /// Whether they all lie behind a key.
    pub(super) fn is_after(&self, key: &[u8]) -> bool {
        match (&self.start, bytes(&self.start).map(|start| key.cmp(start))) {
            (Bound::Included(_), Some(order)) => order == Ordering::Less,
            (_, Some(order)) => order != Ordering::Greater,
            (_, None) => false,
        }
    }

    /// Whether a key lies behind them all.
    pub(super) fn is_behind(&self, key: &[u8]) -> bool {
        match (&self.end, bytes(&self.end).map(|end| key.cmp(end))) {
            (Bound::Included(_), Some(order)) => order == Ordering::Greater,
            (_, Some(order)) => order != Ordering::Less,
            (_, None) => false,
        }
    }
}

fn bytes(bound: &Bound<Vec<u8>>) -> Option<&[u8]> {
    match bound {
        Bound::Included(bytes) | Bound::Excluded(bytes) => Some(bytes),
        Bound::Unbounded => None,
    }
}
