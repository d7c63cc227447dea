//! From the server's call to a command's function and back.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use valkey_module::raw::{RedisModuleCtx, RedisModuleString};

use super::context::Context;
use super::tasks::{Step, Task};
use crate::error::CommandError;

/// A command. It replies, or returns an error before it has replied anything.
pub(crate) type Handler = fn(&Context, &Args<'_>) -> Result<(), CommandError>;

/// A function as the server calls it.
pub(crate) type Entry =
    unsafe extern "C" fn(*mut RedisModuleCtx, *mut *mut RedisModuleString, c_int) -> c_int;

/// The server's view of a handler.
macro_rules! entry {
    ($handler:path) => {{
        unsafe extern "C" fn entry(
            context: *mut valkey_module::raw::RedisModuleCtx,
            argv: *mut *mut valkey_module::raw::RedisModuleString,
            argc: std::ffi::c_int,
        ) -> std::ffi::c_int {
            // SAFETY: the server calls with what it documents.
            unsafe { $crate::server::dispatch(context, argv, argc, $handler) }
        }
        entry as $crate::server::Entry
    }};
}
pub(crate) use entry;

/// # Safety
///
/// The arguments must be those of a call by the server.
pub(crate) unsafe fn dispatch(
    context: *mut RedisModuleCtx,
    argv: *mut *mut RedisModuleString,
    argc: c_int,
    handler: Handler,
) -> c_int {
    // SAFETY: the caller's promise.
    let (context, args) = unsafe { (Context::new(context), Args::new(argv, argc)) };
    // No panic may reach the server. A handler that panics is wrong, but keeps its filter whole:
    // the library changes a table only when it knows that it can.
    match guarded(Err(CommandError::INTERNAL), || handler(&context, &args)) {
        Ok(()) => {}
        Err(CommandError::Arity) => return context.wrong_arity(),
        Err(CommandError::Lent) => context.put_off(&args, |_| Box::new(Again(handler))),
        Err(error) => context.reply_command_error(error),
    }
    0
}

/// Runs a callback's work. A callback must return even if the work panics: it returns `otherwise`
/// then.
#[inline]
pub(super) fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// A command that waits until its filter is no longer lent, and is then run again.
struct Again(Handler);

impl Task for Again {
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError> {
        match (self.0)(context, args) {
            Err(CommandError::Lent) => Ok(Step::Wait),
            outcome => outcome.map(|()| Step::Done),
        }
    }
}

/// The arguments of a command, its name first. They live as long as the call.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    strings: &'a [*mut RedisModuleString],
}

impl<'a> Args<'a> {
    /// # Safety
    ///
    /// `argv` must be `argc` strings of the server that outlive `'a`; it may be null for none.
    pub(super) unsafe fn new(argv: *mut *mut RedisModuleString, argc: c_int) -> Self {
        let count = usize::try_from(argc).unwrap_or(0);
        if count == 0 {
            return Self { strings: &[] };
        }
        // SAFETY: the caller's promise.
        Self { strings: unsafe { slice::from_raw_parts(argv, count) } }
    }

    pub(crate) fn len(&self) -> usize {
        self.strings.len()
    }

    /// The argument's bytes.
    ///
    /// # Panics
    ///
    /// If there is none of this number; commands check their length first.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        bytes(self.strings[index])
    }

    pub(crate) fn iter(self, from: usize) -> impl Iterator<Item = &'a [u8]> {
        self.strings[from..].iter().map(|&string| bytes(string))
    }

    pub(super) fn raw(&self, index: usize) -> *mut RedisModuleString {
        self.strings[index]
    }

    /// # Safety
    ///
    /// The strings, and where their addresses are, must stay as long as the copy is used.
    pub(super) unsafe fn outliving_the_call(self) -> Args<'static> {
        let (start, len) = (self.strings.as_ptr(), self.strings.len());
        // SAFETY: the caller's promise.
        Args { strings: unsafe { slice::from_raw_parts(start, len) } }
    }

    /// An argument that stays until what this returns is dropped.
    pub(crate) fn retain(&self, index: usize) -> RetainedString {
        let string = self.raw(index);
        // SAFETY: a string of this call, counted once more.
        unsafe { call!(RedisModule_RetainString(std::ptr::null_mut(), string)) };
        RetainedString(string)
    }
}

/// A string of a command that stays. To be dropped where commands run.
pub(crate) struct RetainedString(*mut RedisModuleString);

impl RetainedString {
    /// Its bytes.
    ///
    /// # Safety
    ///
    /// They must not be read when this has been dropped.
    pub(super) unsafe fn bytes(&self) -> &'static [u8] {
        bytes(self.0)
    }
}

impl Drop for RetainedString {
    fn drop(&mut self) {
        // SAFETY: counted by `retain`, and given back once.
        unsafe { call!(RedisModule_FreeString(std::ptr::null_mut(), self.0)) };
    }
}

pub(super) fn bytes<'a>(string: *const RedisModuleString) -> &'a [u8] {
    let mut len = 0;
    // SAFETY: strings come from the server alone, inside the call that they live for; their bytes
    // are not changed meanwhile.
    unsafe {
        let start = call!(RedisModule_StringPtrLen(string, &mut len));
        slice::from_raw_parts(start.cast(), len)
    }
}
