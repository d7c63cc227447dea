//! Cuckoo filters for C: sets and maps of fixed size or growing, of one owner or shared, in memory
//! or in files. The header `include/malkoha.h` is made from this crate, and is its documentation.
//!
//! ```text
//! malkoha.h --keys, batches, pairs--> Filter (filter.rs) --> Set or Map (kinds.rs) --> malkoha
//!                    `--guard (status.rs)--> a status, and its text for malkoha_error()
//! ```
//!
//! No panic leaves it, and no pointer is read that is null. Everything that is not shared lies
//! behind a lock, so threads of C cannot race whatever they do.

pub mod batches;
pub mod expiry;
pub mod files;
pub mod filter;
pub mod keys;
mod kinds;
mod memory;
pub mod options;
pub mod pairs;
pub mod status;
mod tables;
