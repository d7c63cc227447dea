//! Runs the examples: the `main` of each is a test here, and ends with assertions.
#![cfg(not(target_family = "wasm"))]

#[path = "../../examples/batches.rs"]
mod batches;
#[path = "../../examples/claim_jobs.rs"]
mod claim_jobs;
#[path = "../../examples/file_index.rs"]
mod file_index;
#[path = "../../examples/grow.rs"]
mod grow;
#[cfg(feature = "serde")]
#[path = "../../examples/json.rs"]
mod json;
#[path = "../../examples/keys.rs"]
mod keys;
#[cfg(feature = "mmap")]
#[path = "../../examples/mapped_file.rs"]
mod mapped_file;
#[path = "../../examples/save_while_shared.rs"]
mod save_while_shared;
#[path = "../../examples/seen_words.rs"]
mod seen_words;
#[path = "../../examples/union_of_shards.rs"]
mod union_of_shards;
