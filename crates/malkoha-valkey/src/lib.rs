//! CF.* commands for Valkey and Redis: cuckoo filters that grow, count, and replicate bit for bit.
//!
//! ```text
//! server --server/dispatch--> commands/ --> value/ --> malkoha::GrowableCuckooFilter
//! server --server/data_type--> value/ (RDB, append-only file, copies, digests)
//! ```
//!
//! docs/MODULE.md has the commands, their replies and what differs from RedisBloom.

mod commands;
mod ledger;
mod server;
mod value;

/// Filters lie in the server's memory, so that it counts them. Tests have no server.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: server::ServerMemory = server::ServerMemory;
