//! One call of a command: its keys, replication, keyspace events.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::io;

use valkey_module::raw::{self, RedisModuleCtx};

use super::dispatch::Args;
use super::key::Key;
use super::tasks::Task;

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

    pub(super) fn has_flag(&self, flags: u32) -> bool {
        // SAFETY: the context is of this call.
        let set = unsafe { call!(RedisModule_GetContextFlags(self.raw)) };
        set.cast_unsigned() & flags != 0
    }
}
