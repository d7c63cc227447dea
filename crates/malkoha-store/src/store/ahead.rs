//! Memory for the log's end, prepared before a write needs it.
//!
//! The first write into the next two MiB of a mapped file waits until the system has found and
//! cleared memory for them. A thread of the store triggers this while other records are written.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::log::LogFile;

/// The system provides a huge page at a time. Requesting more at once would keep the process from
/// mapping anything else for longer.
const STRETCH: u64 = 2 << 20;
/// A shorter file needs nothing.
const SHORT: u64 = 64 << 10;

/// A file, which may be gone by then, and the stretch up to which it needs memory.
type Request = (Weak<LogFile>, u64);

#[derive(Default)]
pub(super) struct Ahead {
    /// The number of the file and the stretch of the last request.
    last: AtomicU64,
    requests: Mutex<Option<Sender<Request>>>,
}

impl Ahead {
    /// The requests from now on, until [`end`](Self::end).
    pub(super) fn begin(&self) -> Receiver<Request> {
        let (sender, receiver) = channel();
        *self.requests.lock() = Some(sender);
        receiver
    }

    pub(super) fn end(&self) {
        *self.requests.lock() = None;
    }

    /// Requests the stretch that contains the end of a file, and the next one, if the end has
    /// reached a new one.
    pub(super) fn ask(&self, file: &Arc<LogFile>) {
        let reached = (file.end() + STRETCH - SHORT) / STRETCH;
        let last = file.id() << 24 | reached;
        if reached > 0 && self.last.swap(last, Ordering::Relaxed) != last {
            let requests = self.requests.lock();
            // Without a thread nothing is prepared.
            let _ = requests.as_ref().map(|it| it.send((Arc::downgrade(file), reached + 1)));
        }
    }
}

/// Prepares memory until the requests end.
pub(super) fn prepare(requests: Receiver<Request>) {
    for (file, until) in requests {
        if let Some(file) = file.upgrade() {
            (until - 2..until).for_each(|it| file.prepare(it * STRETCH..(it + 1) * STRETCH));
        }
    }
}
