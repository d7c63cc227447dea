//! Replies to clients.

use std::ffi::{c_int, c_long};

use valkey_module::raw::{self, RedisModuleCtx};

use super::Context;
use crate::error::CommandError;

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

impl Context {
    /// Whether the client speaks RESP3.
    pub(crate) fn is_resp3(&self) -> bool {
        // SAFETY: the context is of this call, or of the client that waits.
        let flags = unsafe { call!(RedisModule_GetContextFlags(self.replies())) };
        flags.cast_unsigned() & raw::REDISMODULE_CTX_FLAGS_RESP3 != 0
    }

    pub(crate) fn reply_ok(&self) {
        raw::reply_with_simple_string(self.replies(), c"OK".as_ptr());
    }

    /// True or false in RESP3, 1 or 0 in RESP2.
    pub(crate) fn reply_bool(&self, value: bool) {
        raw::reply_with_bool(self.replies(), value.into());
    }

    pub(crate) fn reply_integer(&self, value: i64) {
        raw::reply_with_long_long(self.replies(), value);
    }

    pub(crate) fn reply_count(&self, value: u64) {
        self.reply_integer(i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(crate) fn reply_double(&self, value: f64) {
        raw::reply_with_double(self.replies(), value);
    }

    pub(crate) fn reply_null(&self) {
        raw::reply_with_null(self.replies());
    }

    pub(crate) fn reply_bytes(&self, bytes: &[u8]) {
        // SAFETY: the context is of this call.
        unsafe { reply_bytes(self.replies(), bytes) };
    }

    /// Begins an array of `len` replies, which follow.
    pub(crate) fn reply_array(&self, len: usize) {
        raw::reply_with_array(self.replies(), long(len));
    }

    /// Begins a map of `len` pairs of replies, which follow; a flat array in RESP2.
    pub(crate) fn reply_map(&self, len: usize) {
        raw::reply_with_map(self.replies(), long(len));
    }

    pub(super) fn reply_command_error(&self, error: CommandError) {
        let message: &str = match &error {
            CommandError::WrongType => WRONG_TYPE,
            CommandError::Message(message) => message,
            // Found before the command waits.
            CommandError::Arity => "ERR wrong number of arguments",
            // Returned only where the command can wait.
            CommandError::Lent => "ERR the filter is in use: try again",
        };
        // A message never has a line end or a 0 inside.
        let clean = message.bytes().map(|byte| if byte < b' ' { b' ' } else { byte });
        let text: Vec<u8> = clean.chain([0]).collect();
        // SAFETY: the context is of this call, the text ends in 0, the server copies it.
        unsafe { call!(RedisModule_ReplyWithError(self.replies(), text.as_ptr().cast())) };
    }

    pub(super) fn wrong_arity(&self) -> c_int {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_WrongArity(self.raw())) }
    }
}

/// # Safety
///
/// The context is of a call that is going on, or of a client that waits.
pub(super) unsafe fn reply_bytes(replies: *mut RedisModuleCtx, bytes: &[u8]) {
    raw::reply_with_string_buffer(replies, bytes.as_ptr().cast(), bytes.len());
}

fn long(len: usize) -> c_long {
    c_long::try_from(len).expect("no more items than memory")
}
