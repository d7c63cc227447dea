//! Registers everything when a server loads the module.

use std::ffi::{CStr, CString, c_int, c_longlong};

use valkey_module::raw::{self, RedisModuleCtx, RedisModuleInfoCtx, RedisModuleString};

use super::dispatch::Entry;
use super::key::Args;
use super::{config, data_type, metadata};
use crate::value::stats;

/// Prefix of the settings and of the section of INFO.
const NAME: &CStr = c"malkoha";
/// 10000 major + 100 minor + patch.
const VERSION: c_int = 100;
/// A slot's keys may move as a stream of the commands that the append-only file would have. The
/// option is newer than the header that we build with.
const HANDLE_ATOMIC_SLOT_MIGRATION: u32 = 1 << 5;
/// While new data is loaded and the old is still served, only our counters change: they count both.
const OPTIONS: u32 = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
    | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED
    | raw::REDISMODULE_OPTIONS_HANDLE_REPL_ASYNC_LOAD
    | HANDLE_ATOMIC_SLOT_MIGRATION;

/// Registers the module with these commands; returns a status for the server.
///
/// # Safety
///
/// The context and the arguments must be those of a load, as the module API documents.
pub(crate) unsafe fn load(
    context: *mut RedisModuleCtx,
    argv: *mut *mut RedisModuleString,
    argc: c_int,
    entries: &[(&str, Entry)],
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
    // SAFETY: the caller's promise.
    let args = unsafe { Args::new(argv, argc) };
    let registered = std::panic::catch_unwind(|| register(context, args, entries))
        .unwrap_or_else(|_| Err("internal error".into()));
    let Err(problem) = registered else { return 0 };
    log(context, &format!("malkoha is not loaded: {problem}"));
    1
}

fn register(
    context: *mut RedisModuleCtx,
    args: Args<'_>,
    entries: &[(&str, Entry)],
) -> Result<(), String> {
    let check = |done: bool, what: &str| done.then_some(()).ok_or_else(|| what.to_owned());
    // SAFETY: the context is that of the load.
    unsafe { call!(RedisModule_SetModuleOptions(context, OPTIONS.cast_signed())) };
    check(data_type::register(context), "the server refuses the data type")?;
    metadata::register(context, entries)?;
    check(config::register(context), "the server refuses the settings")?;
    // SAFETY: as above.
    unsafe { call!(RedisModule_RegisterInfoFunc(context, Some(info))) };
    take_arguments(context, args)
}

/// Takes the arguments that RedisBloom takes, in pairs.
fn take_arguments(context: *mut RedisModuleCtx, args: Args<'_>) -> Result<(), String> {
    for at in (0..args.len()).step_by(2) {
        let name = String::from_utf8_lossy(args.get(at)).to_ascii_lowercase().replace('_', "-");
        let value = (at + 1 < args.len()).then(|| args.get(at + 1));
        let value = value.and_then(|text| std::str::from_utf8(text).ok());
        let value = value.ok_or_else(|| format!("the argument {name} has no value"))?;
        match name.as_str() {
            "cf-initial-size" => config::set_capacity(value)
                .ok_or_else(|| format!("{name} must be a number from 4 to 1073741824"))?,
            "cf-max-expansions"
            | "cf-bucket-size"
            | "cf-max-iterations"
            | "cf-expansion-factor"
            | "error-rate"
            | "initial-size"
            | "bf-error-rate"
            | "bf-initial-size"
            | "bf-expansion-factor" => {
                log(context, &format!("{name} is an argument of RedisBloom without effect here"));
            }
            _ => {
                return Err(format!(
                    "it takes arguments of RedisBloom alone, not {name}: set malkoha.capacity and so on"
                ));
            }
        }
    }
    Ok(())
}

fn log(context: *mut RedisModuleCtx, text: &str) {
    let Ok(text) = CString::new(text) else { return };
    // SAFETY: the context is that of the load; `%s` takes a text that ends in 0.
    unsafe {
        call!(RedisModule_Log(context, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()));
    }
}

/// The module's section of INFO.
unsafe extern "C" fn info(info: *mut RedisModuleInfoCtx, _for_crash_report: c_int) {
    let fields: [(&CStr, u64); 6] = [
        (c"filters", stats::FILTERS.get()),
        (c"redisbloom_filters", stats::REDISBLOOM.get()),
        (c"bytes", stats::BYTES.get()),
        (c"items_added", stats::ADDED.get()),
        (c"items_deleted", stats::DELETED.get()),
        (c"refused", stats::REFUSED.get()),
    ];
    // SAFETY: the context is that of this call; names end in 0.
    unsafe {
        call!(RedisModule_InfoAddSection(info, c"filters".as_ptr()));
        for (name, value) in fields {
            let value = c_longlong::try_from(value).unwrap_or(c_longlong::MAX);
            call!(RedisModule_InfoAddFieldLongLong(info, name.as_ptr(), value));
        }
    }
}
