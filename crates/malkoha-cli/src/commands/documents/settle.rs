//! The last steps of files, which wait for the disk while other files are written.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use anyhow::{Result, anyhow};

/// The last step of a file.
type Step = Box<dyn FnOnce() -> Result<()> + Send>;

/// Files that can wait for their last step.
const WAITING: usize = 2;

/// Does steps one after another, on a thread of its own if the system provides one.
pub(super) struct Settler {
    steps: Option<SyncSender<Step>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Settler {
    pub(super) fn new() -> Self {
        let (steps, waiting) = sync_channel::<Step>(WAITING);
        let work = move || waiting.into_iter().try_for_each(|step| step());
        match thread::Builder::new().spawn(work) {
            Ok(thread) => Self { steps: Some(steps), thread: Some(thread) },
            Err(_) => Self { steps: None, thread: None },
        }
    }

    /// Does a step after those before it.
    ///
    /// # Errors
    ///
    /// That of an earlier step. No step is done after one that failed.
    pub(super) fn add(&mut self, step: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
        let Some(steps) = &self.steps else { return step() };
        match steps.send(Box::new(step)) {
            Ok(()) => Ok(()),
            Err(_) => self.finish(),
        }
    }

    /// Waits until all steps are done.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.steps = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(done)) => done,
            Some(Err(_)) => Err(anyhow!("a thread failed: see above")),
        }
    }
}

impl Drop for Settler {
    /// Files before an error are finished.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}
