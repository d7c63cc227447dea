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
use std::ffi::c_int;
use std::io;
use std::ptr::null_mut;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use valkey_module::Context as Server;
use valkey_module::raw::{self, RedisModuleBlockedClient, RedisModuleCtx};

use super::context::{Context, guarded};
use super::key::{Args, RetainedString};
use crate::error::CommandError;

/// The time that a piece of work takes, about: no more than half of what others are to wait at
/// most, since the last part of it may take as long again.
pub(crate) const PIECE: Duration = Duration::from_micros(600);
/// The time until the next piece: those who have come meanwhile are served first.
const PAUSE: Duration = Duration::ZERO;
/// The time until the next check, when the task waits for something else.
const WAIT: Duration = Duration::from_millis(1);

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
    fn leftovers(&mut self) -> Vec<RetainedString> {
        Vec::new()
    }
}

/// A client that waits for its task.
struct Blocked {
    client: *mut RedisModuleBlockedClient,
    /// The context that replies go into.
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
            go_on_after(&Server::new(self.raw()), PAUSE, Box::new(blocked));
        }
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
                call!(RedisModule_Call(self.raw(), command, format, key, number, wrong, wrong));
            if reply.is_null() {
                return io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied;
            }
            call!(RedisModule_FreeCallReply(reply));
        }
        false
    }

    /// An error if another node has the key by now. A result that a thread made must not be put
    /// there, because nobody would find it.
    pub(crate) fn still_here(&self, args: &Args<'_>) -> Result<(), CommandError> {
        if self.has_moved(args) { Err(CommandError::MOVED) } else { Ok(()) }
    }
}

fn go_on_after(server: &Server, pause: Duration, blocked: Box<Blocked>) {
    server.create_timer(pause, go_on, blocked);
}

/// Also called when a server becomes a replica and unblocks all waiting clients.
unsafe extern "C" fn disconnected(
    _context: *mut RedisModuleCtx,
    client: *mut RedisModuleBlockedClient,
) {
    gone().insert(client as usize);
}

/// The timer's callback.
fn go_on(server: &Server, mut blocked: Box<Blocked>) {
    let is_gone = gone().contains(&(blocked.client as usize));
    let begun = Instant::now();
    // While a failover waits for its replica nothing may change.
    // SAFETY: it takes nothing.
    let is_paused = unsafe { call!(RedisModule_AvoidReplicaTraffic()) } != 0;
    let step = match is_gone {
        true if blocked.task.may_end() => Step::Done,
        false if !is_paused => blocked.step(server.get_raw()),
        _ => Step::Wait,
    };
    // SAFETY: the text ends in 0. The server drops what is below its threshold.
    unsafe {
        let milliseconds = begun.elapsed().as_millis().try_into().unwrap_or(0);
        call!(RedisModule_LatencyAddSample(c"cf-piece".as_ptr(), milliseconds));
    }
    match step {
        Step::More => go_on_after(server, PAUSE, blocked),
        Step::Wait => go_on_after(server, WAIT, blocked),
        Step::Done => {
            gone().remove(&(blocked.client as usize));
            // SAFETY: made in `put_off`, and each of them given back once. If the client goes
            // before it has its reply, its address is not ours any more.
            unsafe {
                call!(RedisModule_SetDisconnectCallback(blocked.client, None));
                call!(RedisModule_FreeThreadSafeContext(blocked.replies));
                call!(RedisModule_UnblockClient(blocked.client, null_mut()));
            }
            free_after(server, blocked.task.leftovers());
        }
    }
}

/// Frees what a task has kept, a part at a time.
fn free_after(server: &Server, leftovers: Vec<RetainedString>) {
    if !leftovers.is_empty() {
        server.create_timer(PAUSE, free_some, leftovers);
    }
}

/// The timer's callback.
fn free_some(server: &Server, mut leftovers: Vec<RetainedString>) {
    let begun = Instant::now();
    while !leftovers.is_empty() && begun.elapsed() < PIECE {
        leftovers.truncate(leftovers.len().saturating_sub(FREED));
    }
    free_after(server, leftovers);
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
