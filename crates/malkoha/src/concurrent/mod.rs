//! Many threads on one filter.

mod batch;
mod bucket;
mod convert;
mod counter;
mod filter;
mod insert;
mod locks;
mod slots;
mod space;
mod sync;
mod table;
// WebAssembly has no threads.
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;
mod words;

pub use filter::{ConcurrentCuckooFilter, GrowableConcurrentCuckooFilter};
pub use locks::{
    ElidedMcsLock, Global, Lock, Locking, McsLock, NoLock, ParkingLock, Rtm, Status, Striped,
    Transactions,
};
pub use space::{Fixed, Growing, Space};
