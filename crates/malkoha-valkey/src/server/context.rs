//! One call of a command: replies, replication, keyspace events.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_longlong};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use valkey_module::raw::{self, RedisModuleCtx, RedisModuleString};

use super::api::call;
use super::args::Args;
use super::key::Key;
use super::tasks::Task;
use crate::error::CommandError;

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// Bytes that a command may take without asking whether there is room.
const LITTLE: u64 = 64 << 10;

/// Bytes that background work has yet to allocate.
static PROMISED: AtomicU64 = AtomicU64::new(0);

/// Bytes that other commands count as used while this value lives.
pub(crate) struct Promised(u64);

impl Promised {
    pub(crate) fn of(bytes: u64) -> Self {
        PROMISED.fetch_add(bytes, Ordering::Relaxed);
        Self(bytes)
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        PROMISED.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// The client that a command replies to, and the server that runs it.
pub(crate) struct Context {
    raw: *mut RedisModuleCtx,
    /// What replies go into.
    replies: *mut RedisModuleCtx,
    /// The arguments of a command that a timer continues, which has none of its own.
    resumed: Option<Args<'static>>,
    /// What the client is to wait for next.
    next: RefCell<Option<Box<dyn Task>>>,
}

impl Context {
    /// # Safety
    ///
    /// `raw` must be the context of the call that is going on.
    pub(super) unsafe fn new(raw: *mut RedisModuleCtx) -> Self {
        Self { raw, replies: raw, resumed: None, next: RefCell::new(None) }
    }

    /// The context of a command that is continued.
    ///
    /// # Safety
    ///
    /// `raw` must be the context of the timer's call that is going on, `replies` that of a blocked
    /// client, and the arguments its own.
    pub(super) unsafe fn resumed(
        raw: *mut RedisModuleCtx,
        replies: *mut RedisModuleCtx,
        args: Args<'static>,
    ) -> Self {
        Self { raw, replies, resumed: Some(args), next: RefCell::new(None) }
    }

    pub(super) fn raw(&self) -> *mut RedisModuleCtx {
        self.raw
    }

    pub(super) fn replies(&self) -> *mut RedisModuleCtx {
        self.replies
    }

    pub(super) fn is_resumed(&self) -> bool {
        self.resumed.is_some()
    }

    /// Lets the client wait for another task.
    pub(super) fn continue_with(&self, task: Box<dyn Task>) {
        self.next.replace(Some(task));
    }

    pub(super) fn next(&self) -> Option<Box<dyn Task>> {
        self.next.take()
    }

    /// Whether the command may be continued later: not in transactions and scripts, nor when it
    /// comes from the primary or a file.
    pub(crate) fn can_wait(&self) -> bool {
        self.is_resumed()
            || !self.has_flag(
                raw::REDISMODULE_CTX_FLAGS_MULTI
                    | raw::REDISMODULE_CTX_FLAGS_LUA
                    | raw::REDISMODULE_CTX_FLAGS_DENY_BLOCKING
                    | raw::REDISMODULE_CTX_FLAGS_REPLICATED
                    | raw::REDISMODULE_CTX_FLAGS_LOADING,
            )
    }

    /// Opens the key that an argument names, for looking.
    pub(crate) fn open<'a>(&'a self, args: &Args<'a>, index: usize) -> Key<'a> {
        // SAFETY: the context and the argument are of this call.
        unsafe { Key::open(self.raw, args.raw(index), raw::REDISMODULE_READ) }
    }

    /// Opens the key that an argument names, for changing.
    pub(crate) fn open_mut<'a>(&'a self, args: &Args<'a>, index: usize) -> Key<'a> {
        let mode = raw::REDISMODULE_READ | raw::REDISMODULE_WRITE;
        // SAFETY: the context and the argument are of this call.
        unsafe { Key::open(self.raw, args.raw(index), mode) }
    }

    /// Whether the first key, which this node of a cluster had when the command began, has moved to
    /// another node since.
    pub(crate) fn has_moved(&self, args: &Args<'_>) -> bool {
        let is_primary_of_cluster = self.has_flag(raw::REDISMODULE_CTX_FLAGS_CLUSTER)
            && !self.has_flag(raw::REDISMODULE_CTX_FLAGS_SLAVE);
        if !self.is_resumed() || !is_primary_of_cluster {
            return false;
        }
        // No function returns the owner of a slot, but commands for other nodes' keys are refused.
        // This one is accepted while a slot is imported, too; a syntax error ends it before it
        // looks at the key. `s` stands for a string of the server's, `c` for one that ends in 0.
        let (command, format) = (c"RESTORE-ASKING".as_ptr(), c"sccc".as_ptr());
        let (key, number, wrong) = (args.raw(1), c"0".as_ptr(), c"".as_ptr());
        // SAFETY: the context and the argument are of this call. The reply is freed once.
        unsafe {
            let reply =
                call!(RedisModule_Call(self.raw, command, format, key, number, wrong, wrong));
            if reply.is_null() {
                return io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied;
            }
            call!(RedisModule_FreeCallReply(reply));
        }
        false
    }

    /// Tells watching clients and subscribers of keyspace events what happened to a key.
    pub(crate) fn changed(&self, args: &Args<'_>, index: usize, event: &CStr) {
        let key = args.raw(index);
        // SAFETY: the context and the argument are of this call.
        unsafe {
            call!(RedisModule_SignalModifiedKey(self.raw, key));
            call!(RedisModule_NotifyKeyspaceEvent(
                self.raw,
                raw::REDISMODULE_NOTIFY_MODULE,
                event.as_ptr(),
                key
            ));
        }
    }

    /// Sends the command as it came to replicas and the append-only file.
    pub(crate) fn replicate_verbatim(&self) {
        if let Some(args) = self.resumed {
            let name = CString::new(args.get(0)).unwrap_or_default();
            return self.replicate_some(&name, &args, &Vec::from_iter(1..args.len()));
        }
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplicateVerbatim(self.raw)) };
    }

    /// Sends another command with some of these arguments to replicas and the append-only file.
    pub(crate) fn replicate_some(&self, command: &CStr, args: &Args<'_>, numbers: &[usize]) {
        let mut strings: Vec<_> = numbers.iter().map(|&number| args.raw(number)).collect();
        // SAFETY: the server takes references of its own. `v` stands for an array of strings and
        // its length.
        unsafe {
            let (start, len) = (strings.as_mut_ptr(), strings.len());
            call!(RedisModule_Replicate(self.raw, command.as_ptr(), c"v".as_ptr(), start, len));
        }
    }

    /// Sends another command to replicas and the append-only file.
    pub(crate) fn replicate(&self, command: &CStr, arguments: &[&[u8]]) {
        // SAFETY: the server copies the bytes; the strings are freed right after it has taken its
        // own references. `v` stands for an array of strings and its length.
        unsafe {
            let mut strings: Vec<_> = arguments
                .iter()
                .map(|bytes| {
                    call!(RedisModule_CreateString(self.raw, bytes.as_ptr().cast(), bytes.len()))
                })
                .collect();
            call!(RedisModule_Replicate(
                self.raw,
                command.as_ptr(),
                c"v".as_ptr(),
                strings.as_mut_ptr(),
                strings.len()
            ));
            for string in strings {
                call!(RedisModule_FreeString(self.raw, string));
            }
        }
    }

    /// Whether the command comes from the primary or a file, and must run whatever this server's
    /// own limits are.
    pub(crate) fn must_obey(&self) -> bool {
        self.has_flag(raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    /// Whether `maxmemory` leaves room for so many bytes more. Where the server evicts, it makes
    /// room after the command. Then only what does not fit an empty server is refused.
    pub(crate) fn has_memory_for(&self, bytes: u64) -> bool {
        // The server looks before each command, whose little it then gives.
        let all = bytes.saturating_add(PROMISED.load(Ordering::Relaxed));
        bytes < LITTLE || self.must_obey() || self.memory_left().is_none_or(|left| all <= left)
    }

    /// Bytes that `maxmemory` leaves, if there is one.
    fn memory_left(&self) -> Option<u64> {
        // SAFETY: the context is of this call, the texts end in 0; what is learned is freed once,
        // and the text of the policy is not kept.
        unsafe {
            let info = call!(RedisModule_GetServerInfo(self.raw, c"memory".as_ptr()));
            let number = |name: &CStr| {
                let mut error = 0;
                let field =
                    call!(RedisModule_ServerInfoGetFieldUnsigned(info, name.as_ptr(), &mut error));
                if error == 0 { field } else { 0 }
            };
            let (most, used) = (number(c"maxmemory"), number(c"used_memory"));
            let policy = c"maxmemory_policy".as_ptr();
            let policy = call!(RedisModule_ServerInfoGetFieldC(info, policy));
            let evicts = !policy.is_null() && CStr::from_ptr(policy) != c"noeviction";
            call!(RedisModule_FreeServerInfo(self.raw, info));
            let left = if evicts { most } else { most.saturating_sub(used) };
            (most > 0).then_some(left)
        }
    }

    /// Milliseconds since 1970 by this server's clock.
    #[expect(clippy::unused_self, reason = "a call must be going on")]
    pub(crate) fn milliseconds(&self) -> u64 {
        // SAFETY: it takes nothing.
        let now = unsafe { call!(RedisModule_Milliseconds()) };
        u64::try_from(now).unwrap_or(0)
    }

    /// Whether the client speaks RESP3.
    pub(crate) fn is_resp3(&self) -> bool {
        // SAFETY: the context is of this call, or of the client that waits.
        let flags = unsafe { call!(RedisModule_GetContextFlags(self.replies)) };
        flags.cast_unsigned() & raw::REDISMODULE_CTX_FLAGS_RESP3 != 0
    }

    fn has_flag(&self, flags: u32) -> bool {
        // SAFETY: the context is of this call.
        let set = unsafe { call!(RedisModule_GetContextFlags(self.raw)) };
        set.cast_unsigned() & flags != 0
    }

    pub(crate) fn reply_ok(&self) {
        // SAFETY: the context is of this call, the text ends in 0.
        unsafe { call!(RedisModule_ReplyWithSimpleString(self.replies, c"OK".as_ptr())) };
    }

    /// True or false in RESP3, 1 or 0 in RESP2.
    pub(crate) fn reply_bool(&self, value: bool) {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplyWithBool(self.replies, c_int::from(value))) };
    }

    pub(crate) fn reply_integer(&self, value: i64) {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplyWithLongLong(self.replies, c_longlong::from(value))) };
    }

    pub(crate) fn reply_count(&self, value: u64) {
        self.reply_integer(i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(crate) fn reply_double(&self, value: f64) {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplyWithDouble(self.replies, value)) };
    }

    pub(crate) fn reply_null(&self) {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplyWithNull(self.replies)) };
    }

    pub(crate) fn reply_bytes(&self, bytes: &[u8]) {
        // SAFETY: the context is of this call, or of the client that waits.
        unsafe { reply_bytes(self.replies, bytes) };
    }

    /// Begins an array of `len` replies, which follow.
    pub(crate) fn reply_array(&self, len: usize) {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplyWithArray(self.replies, long(len))) };
    }

    /// Begins a map of `len` pairs of replies, which follow; a flat array in RESP2.
    pub(crate) fn reply_map(&self, len: usize) {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_ReplyWithMap(self.replies, long(len))) };
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
        unsafe { call!(RedisModule_ReplyWithError(self.replies, text.as_ptr().cast())) };
    }

    pub(super) fn wrong_arity(&self) -> c_int {
        // SAFETY: the context is of this call.
        unsafe { call!(RedisModule_WrongArity(self.raw)) }
    }
}

/// # Safety
///
/// The context must be one for replies.
pub(super) unsafe fn reply_bytes(replies: *mut RedisModuleCtx, bytes: &[u8]) {
    let start: *const c_char = bytes.as_ptr().cast();
    // SAFETY: the caller's promise; the server copies the bytes.
    unsafe { call!(RedisModule_ReplyWithStringBuffer(replies, start, bytes.len())) };
}

fn long(len: usize) -> c_long {
    c_long::try_from(len).expect("no more items than memory")
}

/// A string of the server's own, without a context; the caller passes it on.
pub(super) fn new_string(text: &str) -> *mut RedisModuleString {
    // SAFETY: the server copies the bytes.
    unsafe {
        call!(RedisModule_CreateString(std::ptr::null_mut(), text.as_ptr().cast(), text.len()))
    }
}
