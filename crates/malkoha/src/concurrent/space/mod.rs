//! Where the buckets of a shared table lie: all in one piece, or in parts that are split.

mod fixed;
mod growing;

pub use fixed::Fixed;
pub use growing::Growing;
pub(crate) use growing::plan;

use std::fmt::Debug;

use super::bucket::Lanes;
use super::sync::AtomicU64;
use crate::addressing::Probe;
use crate::geometry::Geometry;

/// Whether a filter that threads share grows: [`Fixed`] or [`Growing`], and nothing else.
#[expect(private_bounds, reason = "sealed: how a table uses its memory is no promise")]
pub trait Space: Buckets {}

/// A part of a segment, which is another one once it is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    name: usize,
    /// How many bits of its fingerprints' names are free.
    span: u64,
}

/// What a table asks of its memory. Each fingerprint of a segment belongs to one *part* of it, which
/// has all the places of the segment, so moves and searches stay in a part.
pub(crate) trait Buckets: Debug + Send + Sync {
    /// The bucket at a place of the part that the fingerprint belongs to now. To be asked again
    /// whenever the version of the fingerprint's stripe has changed.
    fn bucket(&self, segment: u64, place: u64, fingerprint: u64) -> &AtomicU64;

    /// Runs a change on the part that the probe belongs to, which is not split meanwhile.
    fn in_part<R>(&self, probe: &Probe, change: impl FnOnce(&[AtomicU64]) -> R) -> R;

    /// The part that the probe belongs to now.
    fn extent(&self, probe: &Probe) -> Extent;

    /// Makes room where the probe belongs, unless it belongs to another part by now than to the one
    /// that was full. Calls `raise` between the moment from which lookups find the new places and
    /// that from which they miss the old ones. `false`: there is no way.
    fn split(&self, lanes: &Lanes, probe: &Probe, full: Extent, raise: impl FnOnce()) -> bool;

    /// Buckets of all parts.
    fn buckets(&self) -> u64;

    /// Bytes of the buckets and of what leads to them.
    fn bytes(&self) -> u64;

    /// The false-positive rate when this share of the slots is occupied.
    fn fpr(&self, geometry: &Geometry, load: f64) -> f64;
}
