//! Filters as bytes: a header, the table as it lies in memory, a checksum for each segment.
//!
//! `docs/FORMAT.md` specifies every byte. Everything is little-endian, and reading trusts nothing:
//! each length is checked before memory is allocated, and memory is allocated as bytes arrive.

mod checksums;
pub(crate) mod error;
mod expiring;
mod fields;
mod fixed;
#[cfg(feature = "std")]
pub(crate) mod growable;
mod header;
pub(crate) mod kind;
#[cfg(feature = "mmap")]
pub(crate) mod mapped;
#[cfg(feature = "std")]
mod replace;
mod spilled;
#[cfg(feature = "std")]
mod stream;

pub use error::ReadError;
pub(crate) use expiring::write as write_expiring;
pub(crate) use fixed::{piece, piece_count, view, write};
#[cfg(feature = "mmap")]
pub(crate) use growable::map as map_growable;
#[cfg(feature = "std")]
pub use growable::{GrowableExpiringLoader, GrowableLoader};
#[cfg(feature = "std")]
pub(crate) use growable::{read as read_growable, write as write_growable};
pub use kind::FileKind;
pub(crate) use kind::HEADER_BYTES;
#[cfg(feature = "mmap")]
pub use mapped::MappedFile;
#[cfg(feature = "std")]
pub use replace::{replace_file, take_after};
#[cfg(feature = "std")]
pub(crate) use stream::whole;
