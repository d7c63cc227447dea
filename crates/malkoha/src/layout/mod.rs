//! Layouts: where the candidate slots of a key lie, and how they are read, filled and moved.
//!
//! A layout is a small `Copy` value of precomputed constants. It owns no memory: every operation
//! is given the table's bytes. So one set of code serves owned tables, mapped files and views.

pub(crate) mod bits;
pub(crate) mod copies;
pub(crate) mod gap;
mod lanes;
mod search;
pub(crate) mod semisorted;
mod swar;

pub use copies::Copies;
pub(crate) use copies::{CopyLayout, NEAR, Offer};
pub(crate) use gap::GapWindows;
pub(crate) use lanes::{Lanes, Position};
pub(crate) use search::{Neighbours, Search, Step, insert, prefetch_neighbours};
pub(crate) use semisorted::SemiSorted;
pub(crate) use swar::Swar;

use crate::addressing::{Addressing, Aim, Probe};

/// One way to lay out a table.
///
/// A *place* is what a key can be put into: a bucket, or a single slot of a window. Whatever the
/// bytes hold (a hostile file, say), no operation panics or reads outside the table.
pub(crate) trait TableLayout: Copy {
    /// A key's candidate places.
    type Candidates: AsRef<[u64]>;

    fn addressing(&self) -> &Addressing;
    fn segment_bytes(&self) -> u64;
    /// The bit of its segment at which a place begins.
    fn bit(&self, place: u64) -> u64;

    #[inline(always)]
    fn probe(&self, hash: u64) -> Probe {
        self.addressing().probe(hash)
    }

    /// The byte at which the probe's segment begins.
    #[inline(always)]
    fn base(&self, probe: &Probe) -> usize {
        bits::split(0, (probe.segment * self.segment_bytes()) << 3).0
    }

    /// The byte in which a place begins, to prefetch.
    #[inline(always)]
    fn byte(&self, base: usize, place: u64) -> usize {
        bits::split(base, self.bit(place)).0
    }

    /// Where a lookup loads.
    #[inline(always)]
    fn aim(&self, probe: &Probe) -> Aim {
        let segment = probe.segment * self.segment_bytes() * 8;
        let (first, second) = (segment + self.bit(probe.first), segment + self.bit(probe.second));
        Aim { first, second, fingerprint: probe.fingerprint }
    }

    /// Places a segment.
    fn places(&self) -> u64 {
        self.addressing().places()
    }

    /// Whether the fingerprint is in one of its candidate slots. The one operation whose loads are
    /// not checked: it is all that a lookup does.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for, and `aim` is the layout's.
    unsafe fn contains(&self, bytes: &[u8], aim: &Aim) -> bool;
    /// Copies of the fingerprint in its candidate slots.
    fn count(&self, bytes: &[u8], probe: &Probe) -> u32;
    /// Takes a free candidate slot if there is one.
    fn try_insert(&self, bytes: &mut [u8], probe: &Probe, value: u64) -> bool;
    fn remove(&self, bytes: &mut [u8], probe: &Probe) -> bool;
    /// Occupied slots of the segment that begins at byte `base`.
    fn occupied(&self, bytes: &[u8], base: usize) -> u64;

    fn candidates(&self, probe: &Probe) -> Self::Candidates;
    /// Whether a slot of `place` is free.
    ///
    /// # Safety
    ///
    /// `bytes` is a table of the geometry that the layout was made for, a segment of which begins
    /// at `base`; `place` is below `places()`.
    unsafe fn has_room(&self, bytes: &[u8], base: usize, place: u64) -> bool;
    /// Calls `each` with the place that each move out of `place` leads to, in order: move 0 first.
    fn for_each_target(&self, bytes: &[u8], base: usize, place: u64, each: impl FnMut(u64));
    /// Makes move number `choice` of `place`, whose target is `to`, which has room.
    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64);
    /// Puts a key into its candidate of this number, which has room.
    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, value: u64);
}
