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
mod gate;
mod gated;
#[cfg(not(any(loom, shuttle)))]
mod places;
#[cfg(any(loom, shuttle))]
#[path = "places/checked.rs"]
mod places;
#[cfg(all(test, not(target_family = "wasm")))]
mod tests;

pub use gate::Holding;
pub use gated::{Gated, Open, Reading, Writing, settle};
