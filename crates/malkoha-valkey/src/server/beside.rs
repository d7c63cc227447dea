//! Work that needs no server, done by a thread while the server serves others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use super::args::{Args, Kept};
use super::context::Context;
use super::tasks::{Step, Task};
use crate::commands::CommandError;

type Work = Box<dyn FnOnce() + Send>;
type Finish<R> = Box<dyn FnOnce(&Context, &Args<'_>, R) -> Result<(), CommandError>>;

/// One thread for all: who asks for much at once takes one processor at most.
fn thread() -> &'static Sender<Work> {
    static THREAD: OnceLock<Sender<Work>> = OnceLock::new();
    THREAD.get_or_init(|| {
        let (sender, receiver) = channel::<Work>();
        let work = move || {
            for work in receiver {
                // Whoever waits for it sees that there is no outcome.
                let _ = catch_unwind(AssertUnwindSafe(work));
            }
        };
        // Where there is no thread, sending fails, and the work is done by who asked.
        let _ = std::thread::Builder::new().name("malkoha".into()).spawn(work);
        sender
    })
}

/// Waits for the thread.
struct Beside<R> {
    outcome: Receiver<R>,
    has_ended: bool,
    finish: Option<Finish<R>>,
    /// What the work reads.
    _argument: Option<Kept>,
}

impl Context {
    /// Lets the thread work, and finishes when that is done; all at once where others must wait for
    /// it, or where `is_little` to do.
    pub(crate) fn beside<R: Send + 'static>(
        &self,
        args: &Args<'_>,
        is_little: bool,
        argument: Option<Kept>,
        work: impl FnOnce() -> R + Send + 'static,
        finish: impl FnOnce(&Context, &Args<'_>, R) -> Result<(), CommandError> + 'static,
    ) -> Result<(), CommandError> {
        if is_little || !self.can_wait() {
            return finish(self, args, work());
        }
        let (sender, outcome) = channel();
        // Nobody is left to hear of it if the client has gone.
        let work: Work = Box::new(move || drop(sender.send(work())));
        if let Err(unsent) = thread().send(work) {
            (unsent.0)();
        }
        let finish: Option<Finish<R>> = Some(Box::new(finish));
        let task = Beside { outcome, has_ended: false, finish, _argument: argument };
        self.put_off(args, Box::new(task));
        Ok(())
    }
}

impl<R: Send + 'static> Task for Beside<R> {
    fn step(&mut self, context: &Context, args: &Args<'_>) -> Result<Step, CommandError> {
        match self.outcome.try_recv() {
            Err(TryRecvError::Empty) => Ok(Step::Wait),
            Err(TryRecvError::Disconnected) => {
                self.has_ended = true;
                Err(CommandError::INTERNAL)
            }
            Ok(outcome) => {
                self.has_ended = true;
                let finish = self.finish.take().ok_or(CommandError::INTERNAL)?;
                finish(context, args, outcome).map(|()| Step::Done)
            }
        }
    }

    /// Not while the thread may read the argument.
    fn may_end(&self) -> bool {
        self.has_ended || !matches!(self.outcome.try_recv(), Err(TryRecvError::Empty))
    }
}
