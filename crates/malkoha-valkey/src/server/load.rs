//! What happens when a server loads the module.

use std::ffi::{CString, c_int};

use valkey_module::raw::{self, RedisModuleCtx, RedisModuleString};

use super::api::call;
use super::{config, data_type, info, metadata};
use crate::commands::ENTRIES;

/// Prefix of the settings and of the section of INFO.
const NAME: &std::ffi::CStr = c"malkoha";
/// 10000 major + 100 minor + patch.
const VERSION: c_int = 100;
/// A slot's keys may move as a stream of what the append-only file would have; newer than the
/// header that we build with.
const HANDLE_ATOMIC_SLOT_MIGRATION: u32 = 1 << 5;
/// Loading beside the old data changes only our counters, which then count both.
const OPTIONS: u32 = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
    | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED
    | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
    | HANDLE_ATOMIC_SLOT_MIGRATION;

/// Called by the server.
///
/// # Safety
///
/// As the module API has it: the context and the arguments of a load.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut RedisModuleCtx,
    _argv: *mut *mut RedisModuleString,
    argc: c_int,
) -> c_int {
    // Nothing here may allocate before this: our memory is the server's.
    // SAFETY: the caller's promise; the name ends in 0.
    let status = unsafe {
        raw::Export_RedisModule_Init(
            context,
            NAME.as_ptr(),
            VERSION,
            c_int::try_from(raw::REDISMODULE_APIVER_1).unwrap_or(1),
        )
    };
    if status != 0 {
        return status;
    }
    let registered = std::panic::catch_unwind(|| register(context, argc))
        .unwrap_or_else(|_| Err("internal error".into()));
    let Err(problem) = registered else { return 0 };
    log(context, &problem);
    1
}

fn register(context: *mut RedisModuleCtx, argc: c_int) -> Result<(), String> {
    let check = |done: bool, what: &str| done.then_some(()).ok_or_else(|| what.to_owned());
    check(argc == 0, "the module takes no arguments: set malkoha.capacity and so on instead")?;
    // SAFETY: the context is that of the load.
    unsafe { call!(RedisModule_SetModuleOptions(context, OPTIONS.cast_signed())) };
    check(data_type::register(context), "the server refuses the data type")?;
    metadata::register(context, &ENTRIES)?;
    check(config::register(context), "the server refuses the settings")?;
    info::register(context);
    Ok(())
}

fn log(context: *mut RedisModuleCtx, problem: &str) {
    let Ok(text) = CString::new(format!("malkoha is not loaded: {problem}")) else { return };
    // SAFETY: the context is that of the load; `%s` takes a text that ends in 0.
    unsafe {
        call!(RedisModule_Log(context, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()));
    }
}
