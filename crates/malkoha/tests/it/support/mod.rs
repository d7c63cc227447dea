//! Crafted keys, damaged files and repeatable random numbers.

pub(crate) mod crafted;
pub(crate) mod mutate;
mod random;
pub(crate) mod xxh3;
