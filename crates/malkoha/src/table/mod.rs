//! The table of fixed size, and what `Filter` asks of every table.

pub(crate) mod batch;
mod change;
mod distinct;
mod expiring;
mod fixed;
mod lookup;
pub(crate) mod memory;
mod rounds;
pub(crate) mod source;
#[cfg(test)]
mod tests;
pub(crate) mod traits;

pub use fixed::Fixed;
pub(crate) use fixed::Parts;
pub use memory::Memory;
pub(crate) use memory::zeroed;
#[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
pub(crate) use memory::{IS_MAPPED, MAPPED_FROM, mapped};
pub use rounds::Rounds;
