//! Threads of a store: one syncs, one compacts and writes checkpoints, one has memory ready for writes.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::ahead::Ahead;
use super::compact::Pace;
use super::{Inner, Store};
use crate::error::{Error, Result};
use crate::options::Durability;

/// How often a thread looks for something to compact.
const MAINTENANCE: Duration = Duration::from_millis(500);

/// The threads of a store. Dropping it ends them, and waits for them.
pub(super) struct Background {
    stop: Arc<Stop>,
    ahead: Arc<Ahead>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    /// Waits; answers whether to go on.
    fn wait(&self, time: Duration) -> bool {
        let mut asked = self.asked.lock();
        if !*asked {
            self.changed.wait_for(&mut asked, time);
        }
        !*asked
    }

    fn is_asked(&self) -> bool {
        *self.asked.lock()
    }
}

impl Background {
    pub(super) fn start(inner: &Arc<Inner>) -> Result<Self> {
        let mut background = Self::of(inner);
        if let Durability::Every(time) = inner.options.durability {
            background.repeat("malkoha-sync", inner, time, |inner, _| inner.sync())?;
        }
        if inner.writes_into_memory() {
            let ahead = Arc::clone(&background.ahead);
            background.run("malkoha-ahead", move || ahead.run())?;
        }
        background.repeat("malkoha-compact", inner, MAINTENANCE, Inner::maintain)?;
        Ok(background)
    }

    fn of(inner: &Inner) -> Self {
        Self { stop: Arc::default(), ahead: Arc::clone(&inner.ahead), threads: Vec::new() }
    }

    fn repeat(
        &mut self,
        name: &str,
        inner: &Arc<Inner>,
        time: Duration,
        work: impl Fn(&Inner, &Stop) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (inner, stop) = (Arc::clone(inner), Arc::clone(&self.stop));
        self.run(name, move || {
            while stop.wait(time) {
                if let Err(error) = work(&inner, &stop) {
                    *inner.background_error.lock() = Some(error);
                }
            }
        })
    }

    fn run(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
        let failed = |error: io::Error| Error::io("start a thread for", ".")(error);
        self.threads
            .push(thread::Builder::new().name(name.to_owned()).spawn(body).map_err(failed)?);
        Ok(())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.ahead.end();
        *self.stop.asked.lock() = true;
        self.stop.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing more to do either.
            let _ = thread.join();
        }
    }
}

impl Inner {
    /// Whether records are written through mappings.
    pub(super) fn writes_into_memory(&self) -> bool {
        self.options.durability != Durability::Always
    }

    fn maintain(&self, stop: &Stop) -> Result<()> {
        let mut maintained = self.maintenance.lock();
        let position = self.writer()?.position();
        let since = position - maintained.checkpoint.unwrap_or(0);
        let due = since >= self.options.checkpoint_bytes;
        let checkpoint = if due { self.checkpoint(&mut maintained) } else { Ok(()) };
        // Where there was no room for one, this may make some.
        let makes_way = || stop.is_asked() || self.waiting.load(Ordering::Relaxed) > 0;
        let pace = Pace { rate: Some(self.options.compact_rate), stop: &makes_way };
        self.compact(&mut maintained, self.options.compact_share, &pace)?;
        checkpoint
    }
}

impl Store {
    /// What went wrong in a thread of the store since this was asked last. A full device, as a
    /// rule: it tries again.
    #[must_use]
    pub fn background_error(&self) -> Option<Error> {
        self.inner.background_error.lock().take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    /// As when the second one cannot be started: a thread that went on would keep the store locked.
    #[test]
    fn what_was_started_ends_when_a_start_fails() {
        let directory = tempfile::tempdir().unwrap();
        let options = Options::new().background(false);
        let store = Store::open(directory.path(), &options).unwrap();
        let mut background = Background::of(&store.inner);
        let hour = Duration::from_secs(3600);
        background.repeat("malkoha-sync", &store.inner, hour, |inner, _| inner.sync()).unwrap();
        assert_eq!(Arc::strong_count(&store.inner), 2);
        drop(background);
        assert_eq!(Arc::strong_count(&store.inner), 1);
    }
}
