//! The module's section of INFO.

use std::ffi::{CStr, c_int, c_longlong};

use valkey_module::raw::{RedisModuleCtx, RedisModuleInfoCtx};

use super::api::call;
use crate::value::stats;

pub(super) fn register(context: *mut RedisModuleCtx) {
    // SAFETY: the context is that of the load.
    unsafe { call!(RedisModule_RegisterInfoFunc(context, Some(info))) };
}

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
