//! Many threads on one filter.

mod batch;
mod bucket;
mod convert;
mod counter;
mod filter;
mod insert;
#[cfg_attr(not(test), expect(dead_code, reason = "the filters' common face will open files"))]
mod restore;
mod slots;
#[cfg_attr(not(test), expect(dead_code, reason = "the filters' common face will call it"))]
mod snapshot;
mod space;
pub(crate) mod sync;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use filter::{ConcurrentCuckooFilter, GrowableConcurrentCuckooFilter};
pub use space::{Fixed, Growing, Space};
