//! The command from outside: a directory, a command, and what it prints.

mod bounded;
mod broken_output;
mod cases;
mod dedup;
mod formats;
mod generated;
mod guide;
mod harness;
mod help;
mod kinds;
mod maps;
mod messages;
mod new;
mod odd_inputs;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod random;
mod sides;
mod store;
mod store_files;
mod store_records;
mod threads;
mod trace;
mod uniq;
