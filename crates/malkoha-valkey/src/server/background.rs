//! Background work: it does not need the server, so a thread does it while others are served.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use valkey_module::raw::RedisModuleCtx;

use super::context::{Context, reply_bytes};
use super::key::{Args, RetainedString};
use super::tasks::{Step, Task};
use crate::error::CommandError;

type Work = Box<dyn FnOnce() + Send>;
type Finish<R> = Box<dyn FnOnce(&Context, &Args<'_>, R) -> Result<(), CommandError>>;

/// One thread for all work, so that large requests take one processor at most.
fn thread() -> &'static Sender<Work> {
    static THREAD: OnceLock<Sender<Work>> = OnceLock::new();
    THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<Work>();
        let work = move || {
            for work in receiver {
                // The waiting client then sees that there is no result.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        };
        // Without a thread, sending fails, and the caller does the work.
        let _ = std::thread::Builder::new().name("malkoha".into()).spawn(work);
        sender
    })
}

/// The input of background work: an argument of the command, and the client's reply.
pub(crate) struct Given<'a> {
    pub(crate) argument: &'a [u8],
    replies: *mut RedisModuleCtx,
}

// SAFETY: a context for replies can be used by any thread, one at a time: nobody else uses it until
// the work is done. The argument is not changed, and stays as long.
unsafe impl Send for Given<'_> {}

impl Given<'_> {
    /// The only reply.
    pub(crate) fn reply_bytes(&self, bytes: &[u8]) {
        // A reply to a client that waits needs no lock of the server's.
        // SAFETY: the context is of a client that waits, or of the call that is going on.
        unsafe { reply_bytes(self.replies, bytes) };
    }
}

/// Waits for the thread.
struct Background<R> {
    outcome: Receiver<R>,
    has_ended: bool,
    finish: Option<Finish<R>>,
    _argument: RetainedString,
}

impl Context {
    /// Gives the thread one of the arguments to work on, and finishes when the work is done; does
    /// all at once if the command cannot wait, or if the work `is_little`.
    pub(crate) fn in_background<R: Send + 'static>(
        &self,
        args: &Args<'_>,
        is_little: bool,
        argument: usize,
        work: impl FnOnce(Given<'_>) -> R + Send + 'static,
        finish: impl FnOnce(&Context, &Args<'_>, R) -> Result<(), CommandError> + 'static,
    ) -> Result<(), CommandError> {
        if is_little || !self.can_wait() {
            let given = Given { argument: args.get(argument), replies: self.replies() };
            return finish(self, args, work(given));
        }
        self.put_off(args, |replies| {
            let retained = args.retain(argument);
            // SAFETY: the task keeps the argument until the thread is done.
            let given = Given { argument: unsafe { retained.bytes() }, replies };
            let (sender, outcome) = channel();
            let work: Work = Box::new(move || {
                // Nobody receives it if the client has gone.
                let _ = sender.send(work(given));
            });
            if let Err(unsent) = thread().send(work) {
                (unsent.0)();
            }
            let finish: Option<Finish<R>> = Some(Box::new(finish));
            Box::new(Background { outcome, has_ended: false, finish, _argument: retained })
        });
        Ok(())
    }
}

impl<R: Send + 'static> Task for Background<R> {
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError> {
        let outcome = match self.outcome.try_recv() {
            Err(TryRecvError::Empty) => return Ok(Step::Wait),
            outcome => outcome,
        };
        self.has_ended = true;
        let (Ok(outcome), Some(finish)) = (outcome, self.finish.take()) else {
            return Err(CommandError::INTERNAL);
        };
        finish(context, args, outcome).map(|()| Step::Done)
    }

    /// Not while the thread may read the argument, or write the reply.
    fn may_end(&self) -> bool {
        self.has_ended || !matches!(self.outcome.try_recv(), Err(TryRecvError::Empty))
    }
}
