//! Many threads on one filter of fixed size.

mod batch;
mod bucket;
mod buckets;
mod convert;
mod counter;
mod insert;
mod lookup;
mod shared;
mod snapshot;
mod table;
// WebAssembly has no threads.
#[cfg(all(test, not(target_family = "wasm")))]
pub(crate) mod tests;

pub use shared::Shared;
