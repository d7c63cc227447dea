//! Growable filters and maps as bytes: a header, the segments one by one, the spilled copies.
//!
//! Written and read in pieces, so that a dump need never be in memory as a whole.

pub(crate) mod expiring;
mod header;
mod load;
pub(crate) mod pieces;

pub use expiring::GrowableExpiringLoader;
pub use load::GrowableLoader;
#[cfg(feature = "mmap")]
pub(crate) use load::map;
pub(crate) use load::read;
pub(crate) use pieces::write;
