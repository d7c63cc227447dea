//! Cuckoo hash tables that keep the keys: two tables of one slot, and d choices of b slots.

mod slots;
mod table;

pub use table::{BucketedCuckooTable, CuckooHashTable, Growth};
