//! Many threads on one filter.

mod batch;
mod beyond;
mod bucket;
mod convert;
mod counter;
mod files;
mod insert;
mod restore;
mod shared;
mod snapshot;
mod space;
pub(crate) mod sync;
mod table;
mod target;
// WebAssembly has no threads.
#[cfg(all(test, not(target_family = "wasm")))]
pub(crate) mod tests;
mod words;

pub(crate) use shared::KICKS;
pub use shared::Shared;
pub(crate) use snapshot::Piece;
pub(crate) use space::{Extent, MAX_DOUBLINGS, MOST_PLACES, plan as plan_growing};
pub use space::{InParts, OnePiece, Space};
