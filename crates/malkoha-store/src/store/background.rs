//! Threads of a store: one syncs, one compacts and writes checkpoints, one prepares memory for
//! writes.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::compaction::Pace;
use super::{Inner, Store};
use crate::error::{Error, Result};
use crate::log::LogFile;
use crate::options::Durability;

/// How often a thread looks for something to compact.
const UPKEEP: Duration = Duration::from_millis(500);
/// Memory is prepared this much at a time: the system provides a huge page at a time. Requesting
/// more at once would keep the process from mapping anything else for longer.
const STRETCH: u64 = 2 << 20;
/// A file that is shorter needs no memory prepared.
const SHORT: u64 = 64 << 10;

/// The threads of a store. Dropping it ends them, and waits for them.
pub(super) struct Background {
    inner: Arc<Inner>,
    threads: Vec<JoinHandle<()>>,
}

/// Wakes a thread, and ends it.
#[derive(Default)]
pub(super) struct Signal {
    ended: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    /// Waits, for at most this time; returns whether to continue.
    fn wait(&self, time: Duration) -> bool {
        let mut ended = self.ended.lock();
        if !*ended {
            self.changed.wait_for(&mut ended, time);
        }
        !*ended
    }

    /// Wakes the thread before its time.
    pub(super) fn wake(&self) {
        self.changed.notify_all();
    }

    fn has_ended(&self) -> bool {
        *self.ended.lock()
    }

    fn end(&self) {
        *self.ended.lock() = true;
        self.changed.notify_all();
    }
}

impl Background {
    pub(super) fn start(inner: &Arc<Inner>) -> Result<Self> {
        let mut background = Self { inner: Arc::clone(inner), threads: Vec::new() };
        if let Durability::Every(time) = inner.options.durability {
            background.repeat("malkoha-sync", time, |inner| &inner.syncing, Inner::sync)?;
        }
        if inner.options.durability != Durability::Always {
            let (sender, requests) = channel();
            *inner.ahead.requests.lock() = Some(sender);
            background.run("malkoha-ahead", move || prepare(requests))?;
        }
        background.repeat("malkoha-compact", UPKEEP, |inner| &inner.upkeep, Inner::maintain)?;
        Ok(background)
    }

    fn repeat(
        &mut self,
        name: &str,
        time: Duration,
        signal: fn(&Inner) -> &Signal,
        work: fn(&Inner) -> Result<()>,
    ) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        self.run(name, move || {
            let _stop = StopOnPanic(&inner);
            while signal(&inner).wait(time) {
                if let Err(error) = work(&inner) {
                    *inner.background_error.lock() = Some(error);
                }
            }
        })
    }

    fn run(&mut self, name: &str, body: impl FnOnce() + Send + 'static) -> Result<()> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(body);
        self.threads.push(thread.map_err(Error::io("start a thread for", "."))?);
        Ok(())
    }
}

/// Stops writing if the thread that holds it panics. Otherwise writes at the limit of the log would
/// wait for that thread without an end, and nothing would be synced.
struct StopOnPanic<'a>(&'a Inner);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let name = thread::current().name().unwrap_or_default().to_owned();
            let error = Error::io("run the thread", name)(io::Error::other("it panicked"));
            self.0.commit.fail(&error);
            *self.0.background_error.lock() = Some(error);
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        *self.inner.ahead.requests.lock() = None;
        self.inner.syncing.end();
        self.inner.upkeep.end();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing more to do.
            let _ = thread.join();
        }
    }
}

/// A file, which might be gone by then, and the stretch up to which it needs memory.
type Request = (Weak<LogFile>, u64);

/// Prepares memory for the log's end before a write needs it. The first write into the next two
/// MiB of a mapped file waits until the system has found and cleared memory for them. A thread of
/// the store triggers this while other records are written.
#[derive(Default)]
pub(super) struct Ahead {
    /// The number of the file and the stretch of the last request.
    last: AtomicU64,
    /// `None` without a thread: then nothing is prepared.
    requests: Mutex<Option<Sender<Request>>>,
}

impl Ahead {
    /// Requests the stretch that contains the end of a file, and the next one, if the end has
    /// reached a new one.
    pub(super) fn ask(&self, file: &Arc<LogFile>) {
        let reached = (file.end() + STRETCH - SHORT) / STRETCH;
        let last = file.id() << 24 | reached;
        if reached > 0 && self.last.swap(last, Ordering::Relaxed) != last {
            let requests = self.requests.lock();
            let _ = requests.as_ref().map(|it| it.send((Arc::downgrade(file), reached + 1)));
        }
    }
}

/// Prepares memory until the requests end.
fn prepare(requests: Receiver<Request>) {
    for (file, until) in requests {
        if let Some(file) = file.upgrade() {
            (until - 2..until).for_each(|it| file.prepare(it * STRETCH..(it + 1) * STRETCH));
        }
    }
}

impl Inner {
    fn maintain(&self) -> Result<()> {
        let mut maintained = self.maintenance.lock();
        let position = self.writer()?.position;
        let since = position - maintained.checkpoint.unwrap_or(0);
        let due = since >= self.options.checkpoint_bytes;
        let checkpoint = if due { self.checkpoint(&mut maintained) } else { Ok(()) };
        // If there was no room for one, compaction may make some. It yields to other callers,
        // except at the limit of the log, where writes wait for it.
        let is_asked = || self.waiting.load(Ordering::Relaxed) > 0 && self.pressure(0) < 1.0;
        let makes_way = || self.upkeep.has_ended() || is_asked();
        let pace = Pace { rate: Some(self.options.compact_rate), stop: &makes_way };
        let renewed = self.renew_index(&maintained, &makes_way);
        self.throttle.look_again();
        let mut seen = 0;
        let next = |done: &[_]| {
            seen = self.throttle.changes();
            self.next_file(done)
        };
        let compacted = self.compact(&mut maintained, next, &pace);
        if !makes_way() {
            // If compaction fails each time, writes must not wait, whatever it changed.
            self.throttle.set_vain(if compacted.is_ok() { seen } else { self.throttle.changes() });
        }
        let sorted = self.save_order(&maintained, false, |_, _| !makes_way());
        compacted.and(checkpoint).and(renewed).and(sorted)
    }
}

impl Store {
    /// The latest error of a thread of the store since the last call. Usually the device is full,
    /// and the thread tries again.
    #[must_use]
    pub fn background_error(&self) -> Option<Error> {
        self.inner.background_error.lock().take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn store(options: Options) -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), &options.background(false)).unwrap();
        (directory, store)
    }

    /// If a second thread cannot be started, the first one would keep the store locked. And writes
    /// at the limit of the log waited without an end for a thread that had panicked.
    #[test]
    fn threads_end_when_another_cannot_start_and_a_panic_stops_writing() {
        let (_directory, store) = store(Options::new());
        let mut background = Background { inner: Arc::clone(&store.inner), threads: Vec::new() };
        let hour = Duration::from_secs(3600);
        background.repeat("malkoha-compact", hour, |inner| &inner.upkeep, Inner::sync).unwrap();
        let panic = |_: &Inner| panic!("as the test wants");
        let soon = Duration::from_millis(1);
        background.repeat("malkoha-sync", soon, |inner| &inner.syncing, panic).unwrap();
        assert!(background.threads.pop().unwrap().join().is_err());
        drop(background);
        assert_eq!(Arc::strong_count(&store.inner), 1);
        let error = store.put(b"key", b"value").unwrap_err();
        assert!(matches!(&error, Error::Stopped(why) if why.contains("panicked")), "{error}");
        assert!(store.background_error().unwrap().to_string().contains("malkoha-sync"));
    }

    /// If threads wrote one checkpoint after another, one always waited. Compaction yielded each
    /// time, and writes got hardly any room.
    #[test]
    fn compaction_yields_to_others_unless_writes_wait_for_it() {
        let options = Options::new().durability(Durability::System).file_bytes(1 << 20);
        let (_directory, store) = store(options.log_ratio(2.0));
        let inner = &store.inner;
        let files = || inner.files.load().all().len();
        (0..2).for_each(|n| store.put(b"key", &vec![n; 16 << 20]).unwrap());
        assert!(inner.pressure(0) < 1.0 && files() == 2);
        inner.waiting.store(1, Ordering::Relaxed);
        inner.maintain().unwrap();
        assert_eq!(files(), 2);
        store.put(b"key", &vec![2; 16 << 20]).unwrap();
        assert!(inner.pressure(0) >= 1.0 && files() == 3);
        inner.maintain().unwrap();
        assert!(inner.pressure(0) < 1.0 && files() < 3);
    }
}
