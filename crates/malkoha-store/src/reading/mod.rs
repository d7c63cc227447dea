//! Reading without a lock what hardly ever changes.
//!
//! ```text
//! reader --place--> gate open? --> value, note of what is kept on
//!                   gate closed --> lock
//! writer --lock--> close the gate, barrier in all threads, wait until no place names it
//! ```

mod gate;
mod gated;
mod kept;
mod places;
mod sync;

pub(crate) use gated::{Gated, Open, Writing};
pub(crate) use kept::Kept;
