//! Where the buckets of a shared table lie: all in one piece, or in parts that are split.

mod depth;
mod in_parts;
mod one_piece;
mod plan;

pub(crate) use depth::{Deep, Depth, Root};
pub use in_parts::InParts;
pub(crate) use in_parts::{BELOW, STASH};
pub use one_piece::OnePiece;
pub(crate) use plan::{MAX_DOUBLINGS, MOST_PLACES, plan};

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::atomic::AtomicU32;

use super::bucket::Lanes;
use super::files::Files;
use super::sync::AtomicU64;
use crate::addressing::Probe;
use crate::geometry::Geometry;

/// Whether a filter that threads share grows: [`OnePiece`] or [`InParts`], and nothing else.
#[expect(private_bounds, reason = "sealed: how a table uses its memory is no promise")]
pub trait Space: Buckets + Files {}

/// A part of a segment, which is another one once it is split: that of the fingerprints whose names
/// begin like its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The first of these names.
    pub(crate) name: usize,
    /// How many of the lowest bits of its fingerprints' names are free.
    pub(crate) span: u64,
}

impl Extent {
    /// The name behind the last.
    pub(crate) fn end(self) -> usize {
        self.name + (1 << self.span)
    }

    /// Whether fingerprints of this name belong to the part.
    pub(crate) fn has(self, name: usize) -> bool {
        name >> self.span == self.name >> self.span
    }
}

/// What came of an attempt to make room in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Something has changed, so that another attempt may find room.
    Made,
    /// It is full and cannot be split.
    Spent,
    /// There is no way.
    None,
}

/// What a table asks of its memory. Each fingerprint of a segment belongs to one *part* of it,
/// which has all the places of the segment, so moves and searches stay in a part.
pub(crate) trait Buckets: Debug + Send + Sync {
    /// Whether [`in_part`](Self::in_part) holds a lock which [`alone`](Self::alone) waits for. If
    /// not, the stripes' locks alone keep fingerprints where they are.
    const HAS_LOCKS: bool;
    /// Locks and versions of a table.
    const STRIPES: u64;

    /// Memory for another table of the same shape, to be given its parts. `None` if the system does
    /// not give it.
    fn without_parts(&self, geometry: &Geometry) -> Option<Self>
    where
        Self: Sized;

    /// The names of all segments, one after the other: what a walk through all parts counts to.
    fn names(&self) -> usize;

    /// The segment of a name.
    fn segment(&self, name: usize) -> u64;

    /// The name of such a fingerprint, which may be that of a part.
    fn name(&self, segment: u64, fingerprint: u64) -> usize;

    /// Both buckets of a key in the part that it belongs to now, and where keys lie that are not in
    /// this part: 0, or [`STASH`], the spill list, and [`BELOW`], a table below. To be asked again
    /// whenever the version of the fingerprint's stripe has changed.
    fn look(&self, probe: &Probe) -> ([&AtomicU64; 2], u64);

    /// A part, to be looked up where all of it is needed.
    type Part<'a>: Deref<Target = [AtomicU64]>
    where
        Self: 'a;

    /// Runs a change on the part that the probe belongs to, which is not split meanwhile.
    fn in_part<R>(&self, probe: &Probe, change: impl FnOnce(&Self::Part<'_>) -> R) -> R;

    /// Runs an operation on the part that begins with this name, which is not split meanwhile.
    /// Where there are locks, no change runs in it either.
    fn alone(&self, name: usize, operation: impl FnOnce(Extent, &[AtomicU64]));

    /// Whether a part can have this extent.
    fn is_extent(&self, extent: Extent) -> bool;

    /// Adds a part, for which there is room, to a table of one owner that has none of its names
    /// yet; returns where its words go. `None` if the system does not give the memory.
    fn add(&mut self, extent: Extent) -> Option<&[AtomicU64]>;

    /// The part that the probe belongs to now.
    fn extent(&self, probe: &Probe) -> Extent;

    /// Makes room where the probe belongs, unless it belongs to another part by now than to the one
    /// that was full: splits this one, or marks it with [`STASH`] if the number of its keys is not
    /// the reason. Calls `raise` between the moment from which lookups find the new places and
    /// that from which they miss the old ones.
    fn split(
        &self,
        lanes: &Lanes,
        probe: &Probe,
        full: Extent,
        is_full: impl FnOnce(&[AtomicU64]) -> bool,
        raise: impl FnOnce(),
    ) -> Room;

    /// What the alternate place of a fingerprint depends on.
    #[inline(always)]
    fn known(&self, fingerprint: u64) -> u64 {
        fingerprint
    }

    /// Whether a key that fits nowhere goes to the spill list, in a part that is marked so. If not,
    /// it is to be seen again whether the part is full.
    fn is_stashing(&self, _: &Probe) -> bool {
        false
    }

    /// Adds a mark to a part. `false`: parts have no marks.
    fn mark(&self, _: Extent, _mark: u64) -> bool {
        false
    }

    /// The shape of a table below one of this shape, and how often it can be split.
    fn shape_below(&self, geometry: &Geometry) -> (Geometry, u32) {
        (*geometry, 0)
    }

    /// The memory of a table of this shape below the part with this name, to be given its parts.
    /// `None`: there can be no such table, or the system does not give the memory.
    fn below(&self, _: usize, _: &Geometry, _doublings: u32) -> Option<InParts<Deep>> {
        None
    }

    /// Whether some segment may owe for a refusal.
    fn is_owing(&self) -> bool;

    /// What the segment owes for a refusal, if there can be any: not part of the protocol.
    fn owed(&self, segment: u64) -> Option<&AtomicU32>;

    /// Buckets of all parts.
    fn buckets(&self) -> u64;

    /// Bytes of the buckets and of what leads to them.
    fn bytes(&self) -> u64;

    /// The false-positive rate when this share of the slots is occupied.
    fn fpr(&self, geometry: &Geometry, load: f64) -> f64;
}
