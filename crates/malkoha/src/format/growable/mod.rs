//! Growable filters and maps as bytes: a header, the segments one by one, the spilled copies.
//!
//! Written and read in pieces, so that a dump need never be in memory as a whole.

mod expiring;
mod header;
mod load;
mod piece;
mod read;
mod write;

pub use expiring::GrowableExpiringLoader;
pub use load::GrowableLoader;
#[cfg(feature = "mmap")]
pub(super) use read::map;
pub(crate) use read::read;
pub(crate) use write::write;

use header::GrowableHeader;

/// Bytes in front of a segment's table.
const RECORD_BYTES: usize = 16;
/// Bytes of a checksum.
const CHECKSUM_BYTES: usize = 8;
/// Entries of the spill list in a piece, at most.
const SPILL_PIECE: usize = 2048;
