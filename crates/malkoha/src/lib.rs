//! A set that remembers in a few bits a key, and also forgets: cuckoo filters.
#![warn(missing_docs)]

mod addressing;
mod arch;
mod builder;
mod error;
mod filter;
mod format;
mod geometry;
mod key;
mod layout;
mod map;
pub mod params;
mod table;

pub use builder::{Builder, Plan};
pub use error::{BatchFull, BuildError, FromIterError, Full};
pub use filter::{CuckooFilter, FilterView};
pub use format::ReadError;
#[cfg(feature = "mmap")]
pub use format::{MappedFile, MappedFilter};
pub use geometry::{Geometry, Layout, MAX_CAPACITY};
pub use key::{Key, KeyHasher};
pub use map::CuckooMap;
pub use table::Memory;
