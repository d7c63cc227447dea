//! CF.* commands for Valkey and Redis: cuckoo filters that grow, count, and replicate bit for bit.
//!
//! ```text
//! server --server/dispatch--> commands/ --> value/ --> malkoha::GrowableCuckooFilter
//! server --server/data_type--> value/ (RDB, append-only file, copies, digests)
//! ```
//!
//! docs/MODULE.md has the commands, their replies and what differs from RedisBloom.

mod commands;
mod error;
mod server;
mod value;

use std::ffi::c_int;

use valkey_module::raw::{RedisModuleCtx, RedisModuleString};

/// Filters lie in the server's memory, so that it counts them. Tests have no server.
#[cfg(not(test))]
#[global_allocator]
static ALLOCATOR: server::ServerMemory = server::ServerMemory;

/// Called by the server when it loads the module.
///
/// # Safety
///
/// The context and the arguments must be those of a load, as the module API documents.
#[unsafe(no_mangle)]
unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut RedisModuleCtx,
    argv: *mut *mut RedisModuleString,
    argc: c_int,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { server::load(context, argv, argc, &commands::ENTRIES) }
}
