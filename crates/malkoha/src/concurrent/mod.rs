//! Many threads on one filter.

mod batch;
mod bucket;
mod convert;
mod counter;
mod filter;
mod insert;
mod slots;
mod space;
pub(crate) mod sync;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use filter::{ConcurrentCuckooFilter, GrowableConcurrentCuckooFilter};
pub use space::{Fixed, Growing, Space};
