//! Commands that take long, done a piece at a time: others are served in between.
//!
//! ```text
//! command --perform--> a first piece --block--> timer: another piece, ... --> reply, unblock
//!                                      in_background: a thread works, the timer polls
//! ```
//!
//! In transactions and scripts, and when the command comes from the primary or a file, all is done
//! at once.

use std::collections::BTreeSet;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use valkey_module::raw::{self, RedisModuleBlockedClient, RedisModuleCtx};

use super::context::Context;
use super::dispatch::{Args, Kept};
use super::guarded;
use crate::error::CommandError;

/// The time that a piece of work takes, about: no more than half of what others are to wait at
/// most, since the last part of it may take as long again.
pub(crate) const PIECE: Duration = Duration::from_micros(600);
/// Milliseconds until the next piece: those who have come meanwhile are served first.
const PAUSE: raw::mstime_t = 0;
/// Milliseconds until the next check, when the task waits for something else.
const WAIT: raw::mstime_t = 1;

/// Strings that are freed between two looks at the clock.
const FREED: usize = 1024;

/// The state of a task after a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It continues as soon as other clients have been served.
    More,
    /// It waits for something else.
    Wait,
    /// It has replied.
    Done,
}

/// A command that takes long.
pub(crate) trait Task {
    /// Does the next piece, of about [`PIECE`]. An error is the reply, and the end.
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError>;

    /// Whether it can be dropped when its client has gone.
    fn may_end(&self) -> bool {
        true
    }

    /// Arguments that it has kept, so that the server need not free them all at once, which takes
    /// as long as all that was done with them.
    fn leftovers(&mut self) -> Vec<Kept> {
        Vec::new()
    }
}

/// A client that waits for its task.
struct Blocked {
    client: *mut RedisModuleBlockedClient,
    /// What replies go into.
    replies: *mut RedisModuleCtx,
    database: c_int,
    /// The client's own, which it keeps while it is blocked.
    args: Args<'static>,
    task: Box<dyn Task>,
}

/// Blocked clients that have gone, by address.
static GONE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

fn gone() -> std::sync::MutexGuard<'static, BTreeSet<usize>> {
    GONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Context {
    /// Does a task: its first piece now, what is left of it while others are served in between.
    pub(crate) fn perform(
        &self,
        args: &Args<'_>,
        mut task: impl Task + 'static,
    ) -> Result<(), CommandError> {
        loop {
            match task.step(self, args)? {
                Step::Done => return Ok(()),
                _ if self.can_wait() => break,
                _ => {}
            }
        }
        self.put_off(args, |_| Box::new(task));
        Ok(())
    }

    /// Continues later with a task, which is made with the context that its replies go to.
    pub(super) fn put_off(
        &self,
        args: &Args<'_>,
        task: impl FnOnce(*mut RedisModuleCtx) -> Box<dyn Task>,
    ) {
        if self.is_resumed() {
            self.continue_with(task(self.replies()));
            return;
        }
        // SAFETY: the context is of this call. The client keeps its arguments while it is blocked,
        // since the server hands them to those who reply to it then; when it goes, we are told
        // before they are freed, and look at them no more.
        unsafe {
            let client = call!(RedisModule_BlockClient(self.raw(), None, None, None, 0));
            call!(RedisModule_SetDisconnectCallback(client, Some(disconnected)));
            let replies = call!(RedisModule_GetThreadSafeContext(client));
            let database = call!(RedisModule_GetSelectedDb(self.raw()));
            let (args, task) = (args.outliving_the_call(), task(replies));
            let blocked = Blocked { client, replies, database, args, task };
            go_on_after(self.raw(), PAUSE, Box::new(blocked));
        }
    }
}

/// # Safety
///
/// The context must be of a call that is going on.
unsafe fn go_on_after(context: *mut RedisModuleCtx, pause: raw::mstime_t, blocked: Box<Blocked>) {
    let data = Box::into_raw(blocked).cast();
    // SAFETY: the caller's promise; the timer gets the data once.
    unsafe { call!(RedisModule_CreateTimer(context, pause, Some(go_on), data)) };
}

/// Also called when a server becomes a replica and unblocks all waiting clients.
unsafe extern "C" fn disconnected(
    _context: *mut RedisModuleCtx,
    client: *mut RedisModuleBlockedClient,
) {
    gone().insert(client as usize);
}

/// The timer's callback.
unsafe extern "C" fn go_on(context: *mut RedisModuleCtx, data: *mut c_void) {
    // SAFETY: from `go_on_after`, once.
    let mut blocked = unsafe { Box::from_raw(data.cast::<Blocked>()) };
    let is_gone = gone().contains(&(blocked.client as usize));
    let begun = Instant::now();
    // While a failover waits for its replica nothing may change.
    // SAFETY: it takes nothing.
    let is_paused = unsafe { call!(RedisModule_AvoidReplicaTraffic()) } != 0;
    let step = match is_gone {
        true if blocked.task.may_end() => Step::Done,
        false if !is_paused => blocked.step(context),
        _ => Step::Wait,
    };
    // SAFETY: the text ends in 0. The server drops what is below its threshold.
    unsafe {
        let milliseconds = begun.elapsed().as_millis().try_into().unwrap_or(0);
        call!(RedisModule_LatencyAddSample(c"cf-piece".as_ptr(), milliseconds));
    }
    match step {
        // SAFETY: the context is that of this call.
        Step::More => unsafe { go_on_after(context, PAUSE, blocked) },
        // SAFETY: as above.
        Step::Wait => unsafe { go_on_after(context, WAIT, blocked) },
        Step::Done => {
            gone().remove(&(blocked.client as usize));
            // SAFETY: made in `put_off`, and each of them given back once. If the client goes
            // before it has its reply, its address is not ours any more.
            unsafe {
                call!(RedisModule_SetDisconnectCallback(blocked.client, None));
                call!(RedisModule_FreeThreadSafeContext(blocked.replies));
                call!(RedisModule_UnblockClient(blocked.client, null_mut()));
                let leftovers = blocked.task.leftovers();
                if !leftovers.is_empty() {
                    free_after(context, leftovers);
                }
            }
        }
    }
}

/// # Safety
///
/// The context must be of a call that is going on.
unsafe fn free_after(context: *mut RedisModuleCtx, leftovers: Vec<Kept>) {
    let data = Box::into_raw(Box::new(leftovers)).cast();
    // SAFETY: the caller's promise; the timer gets the data once.
    unsafe { call!(RedisModule_CreateTimer(context, PAUSE, Some(free_some), data)) };
}

/// The timer's callback.
unsafe extern "C" fn free_some(context: *mut RedisModuleCtx, data: *mut c_void) {
    // SAFETY: from `free_after`, once.
    let mut leftovers = *unsafe { Box::from_raw(data.cast::<Vec<Kept>>()) };
    let begun = Instant::now();
    while !leftovers.is_empty() && begun.elapsed() < PIECE {
        leftovers.truncate(leftovers.len().saturating_sub(FREED));
    }
    if !leftovers.is_empty() {
        // SAFETY: the context is that of this call.
        unsafe { free_after(context, leftovers) };
    }
}

impl Blocked {
    /// Does the next piece, with the timer's context.
    fn step(&mut self, raw: *mut RedisModuleCtx) -> Step {
        // SAFETY: the context is that of the timer's call; the client is there, and its arguments.
        let context = unsafe {
            call!(RedisModule_SelectDb(raw, self.database));
            Context::resumed(raw, self.replies, self.args)
        };
        let step = guarded(Err(CommandError::INTERNAL), || self.task.step(&context, &self.args));
        if let Some(task) = context.next() {
            self.task = task;
            return Step::More;
        }
        step.unwrap_or_else(|error| {
            context.reply_command_error(error);
            Step::Done
        })
    }
}
