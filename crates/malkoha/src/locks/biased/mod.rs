//! Reading without a lock what is seldom changed.
//!
//! ```text
//! reader --place--> gate open? --> value, note of what is kept on
//!                   gate closed --> lock
//! writer --lock--> close the gate, barrier in all threads, wait until no place names it
//! ```
//!
//! Public for `malkoha-store` alone, whose index is read in this way. It may change with any
//! release.

mod barrier;
mod lock;
#[cfg(not(any(loom, shuttle)))]
mod places;
#[cfg(any(loom, shuttle))]
#[path = "places/checked.rs"]
mod places;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;
mod value;

pub use lock::Holding;
pub use value::{Biased, Open, Reading, Writing, settle};
