//! Filters and maps that start small, grow to any size, and never ask for the keys again.
//!
//! ```text
//! hash --grid--> two places, string --directory--> segment, two buckets
//!      --codec, segment--> slots --lookup, change, remove, rebuild--> result
//! many hashes --sample, reserve--> room --bulk--> slots
//! ```

mod batch;
mod bulk;
mod change;
mod codec;
mod directory;
mod exhausted;
mod expiring;
mod fill;
mod grid;
mod kept;
mod lookup;
mod matches;
mod occupants;
mod partial;
mod partitions;
mod pool;
mod rebuild;
mod record;
mod regroup;
mod remove;
mod reserve;
mod sample;
mod segment;
mod shape;
mod shrink;
mod sole;
mod stash;
mod stream;
mod table;
mod union;
mod widths;

pub use kept::KeptBits;
pub use rebuild::most_places_growing;
pub use table::Growing;

pub(crate) use bulk::{has_outgrown, sorted};
pub(crate) use grid::{Grid, MIX_BITS, PLACES};
pub(crate) use partitions::{Gathered, MAX_PARTITIONS, PARTITION_BITS, partition_number};
pub(crate) use pool::Pool;
pub(crate) use record::{Home, Known, NOTHING_KNOWN, Record, count_slots};
pub(crate) use sample::{New, is_large, keys_with};
pub(crate) use segment::Form;
pub(crate) use shape::Shape;
pub(crate) use table::GrowParts;
pub(crate) use widths::{MAX_BITS, MAX_DEPTH, Widths};
