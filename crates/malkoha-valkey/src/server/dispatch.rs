//! From the server's call to a command's function and back.

use std::ffi::c_int;

use valkey_module::raw::{RedisModuleCtx, RedisModuleString};

use super::context::{Context, guarded};
use super::key::Args;
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
