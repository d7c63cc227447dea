//! One call of a command: its keys, replication, keyspace events, replies.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_int, c_long};
use std::panic::{AssertUnwindSafe, catch_unwind};

use valkey_module::raw::{self, RedisModuleCtx};

use super::key::{Args, Key};
use super::tasks::Task;
use crate::error::CommandError;
use crate::value::{StoredFilter, Value};

const WRONG_TYPE: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";

/// The client that a command replies to, and the server that runs it.
pub(crate) struct Context {
    raw: *mut RedisModuleCtx,
    /// The context that replies go into.
    replies: *mut RedisModuleCtx,
    /// The arguments of a command that a timer continues, which has none of its own.
    resumed: Option<Args<'static>>,
    /// The next task that the client waits for.
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

    /// Whether the command can be continued later: not in transactions and scripts, nor when it
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
    pub(crate) fn replicate(&self, command: &str, arguments: &[&[u8]]) {
        raw::replicate(self.raw, command, arguments);
    }

    /// Whether the command comes from the primary or a file, and must run whatever this server's
    /// own limits are.
    pub(crate) fn must_obey(&self) -> bool {
        self.has_flag(raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING)
    }

    /// Milliseconds since 1970 by this server's clock.
    #[expect(clippy::unused_self, reason = "a call must be going on")]
    pub(crate) fn milliseconds(&self) -> u64 {
        // SAFETY: it takes nothing.
        let now = unsafe { call!(RedisModule_Milliseconds()) };
        u64::try_from(now).unwrap_or(0)
    }

    /// The time of this server, if the value's items expire. Replicas use their own clock too,
    /// although the filter has the time of the primary's last change.
    pub(crate) fn now(&self, value: &Value) -> u64 {
        if value.expires() { self.milliseconds() } else { 0 }
    }

    /// Prepares a change of a filter. It waits until no thread reads the filter, where it can,
    /// because changing it would copy it. If items expire, the filter and the replicas get the
    /// time: right before the command, since its changes are replicated after that.
    pub(crate) fn before_change(
        &self,
        args: &Args<'_>,
        filter: &mut StoredFilter,
    ) -> Result<(), CommandError> {
        self.unless_lent(filter)?;
        if !filter.expires() {
            return Ok(());
        }
        if let Some(step) = filter.step_begun(self.milliseconds())
            && !self.must_obey()
        {
            filter.advance(step);
            self.replicate("CF.ADVANCE", &[args.get(1), step.to_string().as_bytes()]);
        }
        Ok(())
    }

    /// Delays the command while a thread reads the filter, if the client can wait.
    pub(crate) fn unless_lent(&self, filter: &mut StoredFilter) -> Result<(), CommandError> {
        if filter.is_lent() && self.can_wait() {
            filter.wait_for_table();
            return Err(CommandError::Lent);
        }
        Ok(())
    }

    pub(super) fn has_flag(&self, flags: u32) -> bool {
        // SAFETY: the context is of this call.
        let set = unsafe { call!(RedisModule_GetContextFlags(self.raw)) };
        set.cast_unsigned() & flags != 0
    }

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

/// Runs a callback's work. A callback must return even if the work panics: it returns `otherwise`
/// then.
#[inline]
pub(super) fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}
