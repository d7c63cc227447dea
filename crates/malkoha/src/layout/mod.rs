//! Layouts: where the candidate slots of a key lie, and how they are read, filled and moved.
//!
//! A layout is a small `Copy` value of precomputed constants. It owns no memory: every operation
//! is given the table's bytes. So one set of code serves owned tables, mapped files and views.

pub(crate) mod bits;
mod lanes;
mod swar;

pub(crate) use lanes::{Lanes, Position};
pub(crate) use swar::Swar;

use crate::addressing::Probe;

/// A fingerprint (and value) that is on its way to a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    /// The byte at which the segment begins.
    pub(crate) base: usize,
    /// The place that the item is about to enter.
    pub(crate) place: u64,
    pub(crate) fingerprint: u64,
    pub(crate) value: u64,
}

/// One way to lay out a table.
///
/// Invariant: the occupied slots of a bucket come before its empty ones, so a bucket has room
/// exactly when its last slot is empty. Whatever the bytes hold (a hostile file, say), no
/// operation panics or reads outside the table.
pub(crate) trait TableLayout: Copy {
    fn probe(&self, hash: u64) -> Probe;
    /// The byte at which the probe's segment begins.
    fn base(&self, probe: &Probe) -> usize;
    /// The bytes of the two places, to prefetch.
    fn touched(&self, probe: &Probe) -> [usize; 2];

    fn contains(&self, bytes: &[u8], probe: &Probe) -> bool;
    /// Copies of the fingerprint in its candidate slots.
    fn count(&self, bytes: &[u8], probe: &Probe) -> u32;
    /// Takes a free candidate slot if there is one.
    fn try_insert(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool;
    fn remove(&self, bytes: &mut [u8], probe: &Probe) -> bool;

    /// Puts the item at its place. If another had to leave, the walk goes on with that one towards
    /// its other place, and the answer is `false`.
    ///
    /// Which item leaves depends on the table's bytes alone, so equal histories give equal tables.
    fn kick(&self, bytes: &mut [u8], walk: &mut Walk) -> bool;
    /// Undoes a `kick` that answered `false`.
    fn unkick(&self, bytes: &mut [u8], walk: &mut Walk);

    /// The walk of a key that found no free slot.
    #[inline]
    fn start(&self, probe: &Probe, value: u64) -> Walk {
        Walk { base: self.base(probe), place: probe.second, fingerprint: probe.fingerprint, value }
    }
}

/// Inserts, with at most `max_kicks` evictions. On `false` the table is as it was.
#[inline]
pub(crate) fn insert<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    probe: &Probe,
    value: u64,
    max_kicks: u32,
) -> bool {
    layout.try_insert(bytes, probe, value)
        || kick_until_placed(layout, bytes, layout.start(probe, value), max_kicks)
}

#[cold]
#[inline(never)]
fn kick_until_placed<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    mut walk: Walk,
    max_kicks: u32,
) -> bool {
    for _ in 0..max_kicks {
        if layout.kick(bytes, &mut walk) {
            return true;
        }
    }
    for _ in 0..max_kicks {
        layout.unkick(bytes, &mut walk);
    }
    false
}
