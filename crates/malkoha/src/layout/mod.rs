//! Layouts: where the candidate slots of a key lie, and how they are read, filled and moved.
//!
//! A layout is a small `Copy` value of precomputed constants. It owns no memory: every operation
//! is given the table's bytes. So one set of code serves owned tables, mapped files and views.

pub(crate) mod bits;
pub(crate) mod bucket_pair;
pub(crate) mod copies;
pub(crate) mod expiring;
pub(crate) mod four_lanes;
pub(crate) mod gap;
mod lanes;
mod search;
pub(crate) mod search_budget;
pub(crate) mod semisorted;
mod swar;
pub(crate) mod traits;

pub use copies::Copies;
pub(crate) use gap::GapWindows;
pub(crate) use lanes::{Lanes, Matches};
pub(crate) use search::{FAR_BYTES, Neighbours, Search, Step, insert_with_moves};
pub(crate) use semisorted::SemiSorted;
pub(crate) use swar::Swar;
pub(crate) use traits::{NEVER, Placement, Relocate, TableLayout};
