//! A table put together from the pieces of another one, which may come from a damaged or hostile
//! file.

use crate::geometry::Geometry;
use crate::locks::Locking;
use crate::spill::SpillKey;

use super::beyond::Child;
use super::counter::Counter;
use super::shared::Shared;
use super::space::{Buckets, Extent, STASH};
use super::sync::Ordering;
use super::table::Table;
use super::target::Target;

/// Why a piece does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// It is not the part behind the one before, or some are missing.
    Extent,
    /// It has another number of words than a part has, bits above their lanes, or fingerprints that
    /// belong to another part.
    Words,
    /// Copies beside the table of which none is in it, where keys always find a place; or more than
    /// can be counted.
    Spilled,
    /// The system does not give the memory.
    Memory,
}

/// A table of which the first parts are there.
#[derive(Debug)]
pub(super) struct Restorer<P: Locking, S> {
    table: Table<P, S>,
    /// The name with which the next part begins.
    next: usize,
    copies: u64,
}

impl<P: Locking, S: Buckets> Restorer<P, S> {
    /// `space` is empty: [`OnePiece::new`](super::space::OnePiece::new), or
    /// [`InParts::without_parts`](super::space::InParts::without_parts).
    pub(super) fn new(geometry: Geometry, space: S) -> Self {
        Self { table: Table::new(geometry, space), next: 0, copies: 0 }
    }

    /// Adds the next part. Nothing is allocated for it until it has been checked.
    pub(super) fn add(&mut self, extent: Extent, words: &[u64]) -> Result<(), Misfit> {
        let Table { space, lanes, addressing, .. } = &mut self.table;
        if extent.name != self.next || !space.is_extent(extent) {
            return Err(Misfit::Extent);
        }
        let segment = space.segment(extent.name);
        let fits = |word: u64| {
            lanes.is_within(word)
                && lanes.fingerprints(word).all(|f| extent.has(space.name(segment, f)))
        };
        if words.len() as u64 != addressing.places() || !words.iter().all(|&word| fits(word)) {
            return Err(Misfit::Words);
        }
        let part = space.add(extent).ok_or(Misfit::Memory)?;
        for (word, &new) in part.iter().zip(words) {
            word.store(new, Ordering::Relaxed);
            self.copies += u64::from(lanes.occupied(new));
        }
        self.next = extent.end();
        Ok(())
    }

    /// Adds copies beside the table, of a fingerprint whose part is there.
    pub(super) fn add_spilled(&mut self, key: SpillKey, copies: u64) -> Result<(), Misfit> {
        let table = &mut self.table;
        let SpillKey { segment, place, fingerprint, value } = key;
        let resident = table.addressing.is_possible(segment, place, fingerprint).then(|| {
            Target::from(table.occupant(segment.into(), place.into(), fingerprint.into()))
        });
        let is_in = resident.filter(|probe| probe.first <= probe.second).is_some_and(|probe| {
            let name = table.space.name(probe.segment, probe.fingerprint);
            // Where parts have marks, one that is not in a slot found no place.
            let extent = || table.space.extent(&probe);
            name < self.next && (table.is_seen(&probe) || table.space.mark(extent(), STASH))
        });
        let total = self.copies.checked_add(copies);
        let fits = is_in && value == 0 && copies > 0;
        self.copies = total.filter(|_| fits).ok_or(Misfit::Spilled)?;
        table.add_spilled(key, copies);
        Ok(())
    }

    /// Adds a table below the part with this name, which is there, and the copies in it.
    pub(super) fn add_below(&mut self, name: usize, child: (Child<P>, u64)) -> Result<(), Misfit> {
        self.table.attach(name, child.0);
        self.copies = self.copies.checked_add(child.1).ok_or(Misfit::Spilled)?;
        Ok(())
    }

    /// The whole table, and the copies in it.
    pub(super) fn table(self) -> Result<(Table<P, S>, u64), Misfit> {
        let Self { table, next, copies } = self;
        if next == table.space.names() { Ok((table, copies)) } else { Err(Misfit::Extent) }
    }

    /// The whole table, for inserts that consider `max_kicks` evictions.
    pub(super) fn finish(self, max_kicks: u32, capacity: u64) -> Result<Shared<P, S>, Misfit> {
        let (table, copies) = self.table()?;
        Ok(Shared { table, max_kicks, capacity, len: Counter::new(copies) })
    }

    /// Copies so far.
    pub(super) fn copies(&self) -> u64 {
        self.copies
    }

    /// The memory of the table.
    pub(super) fn space(&self) -> &S {
        &self.table.space
    }
}
