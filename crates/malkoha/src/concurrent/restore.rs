//! Assembles a table from the pieces of another one, which may come from a damaged or hostile file.

use crate::geometry::Geometry;
use crate::locks::Locking;
use crate::spill::SpillKey;

use super::counter::Counter;
use super::shared::Shared;
use super::space::Space;
use super::sync::Ordering;
use super::table::Table;

/// Why a piece does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    /// There is one segment too many, or some are missing.
    Segment,
    /// It has another number of words than a segment has, or bits above their lanes.
    Words,
    /// Copies beside the table without one in it, or more than can be counted.
    Spilled,
    /// The system lacks the memory.
    Memory,
}

/// A table whose first segments have arrived.
#[derive(Debug)]
pub(super) struct Restorer<P: Locking> {
    table: Table<P>,
    /// The number of the next segment.
    next: usize,
    copies: u64,
}

impl<P: Locking> Restorer<P> {
    pub(super) fn new(geometry: Geometry) -> Result<Self, Misfit> {
        let space = Space::new(&geometry).ok_or(Misfit::Memory)?;
        Ok(Self { table: Table::new(geometry, space), next: 0, copies: 0 })
    }

    /// Adds the next segment.
    pub(super) fn add(&mut self, words: &[u64]) -> Result<(), Misfit> {
        let Table { space, lanes, addressing, .. } = &self.table;
        if self.next == space.segments() {
            return Err(Misfit::Segment);
        }
        let fits = |&word: &u64| lanes.is_within(word);
        if words.len() as u64 != addressing.places() || !words.iter().all(fits) {
            return Err(Misfit::Words);
        }
        for (word, &new) in space.segment(self.next as u64).iter().zip(words) {
            word.store(new, Ordering::Relaxed);
            self.copies += u64::from(lanes.occupied(new));
        }
        self.next += 1;
        Ok(())
    }

    /// Adds copies beside the table, of a fingerprint whose segment has arrived.
    pub(super) fn add_spilled(&mut self, key: SpillKey, copies: u64) -> Result<(), Misfit> {
        let table = &mut self.table;
        let SpillKey { segment, place, fingerprint, value } = key;
        let resident = table
            .addressing
            .is_possible(segment, place, fingerprint)
            .then(|| table.occupant(segment.into(), place.into(), fingerprint.into()));
        let is_in = resident
            .filter(|probe| probe.first <= probe.second)
            .is_some_and(|probe| (segment as usize) < self.next && table.is_seen(&probe));
        let total = self.copies.checked_add(copies);
        let fits = is_in && value == 0 && copies > 0;
        self.copies = total.filter(|_| fits).ok_or(Misfit::Spilled)?;
        table.add_spilled(key, copies);
        Ok(())
    }

    /// The whole table, for inserts that consider `max_kicks` evictions.
    pub(super) fn finish(self, max_kicks: u32, capacity: u64) -> Result<Shared<P>, Misfit> {
        let Self { table, next, copies } = self;
        if next < table.space.segments() {
            return Err(Misfit::Segment);
        }
        Ok(Shared { table, max_kicks, capacity, len: Counter::new(copies) })
    }
}
