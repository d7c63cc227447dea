//! What describes a table.

use crate::geometry::Geometry;

/// Everything about a table but its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) geometry: Geometry,
    pub(crate) max_kicks: u32,
    pub(crate) capacity: u64,
    pub(crate) len: u64,
}
