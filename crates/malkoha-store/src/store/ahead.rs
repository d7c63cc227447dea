//! Memory for the log's end, prepared before a write needs it.
//!
//! The first write into the next two MiB of a mapped file waits until the system has found and
//! cleared memory for them: fractions of a millisecond, or many where a virtual machine has to ask
//! its host. A thread of the store triggers this while other records are written. Until it has,
//! writes are system calls.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex};

use crate::log::LogFile;

/// The system provides a huge page at a time. Requesting more at once would keep the process from
/// mapping anything else for longer.
const STRETCH: u64 = 2 << 20;
/// A shorter file needs nothing.
const SHORT: u64 = 64 << 10;

/// What to prepare next.
#[derive(Default)]
pub(super) struct Ahead {
    /// The last request: the number of a file and the stretches that it needs.
    last: AtomicU64,
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Default)]
enum Wanted {
    #[default]
    Nothing,
    /// The last two of this many stretches of a file, which may be gone by then.
    Stretches(Weak<LogFile>, u64),
    End,
}

impl Ahead {
    /// Requests the stretch that contains the end of a file, and the next one, if the end has
    /// reached a new one.
    pub(super) fn ask(&self, file: &Arc<LogFile>) {
        let reached = (file.end() + STRETCH - SHORT) / STRETCH;
        let last = file.id() << 24 | reached;
        if reached > 0 && self.last.load(Ordering::Relaxed) != last {
            self.last.store(last, Ordering::Relaxed);
            let mut wanted = self.wanted.lock();
            if !matches!(*wanted, Wanted::End) {
                *wanted = Wanted::Stretches(Arc::downgrade(file), reached + 1);
                self.changed.notify_one();
            }
        }
    }

    /// Does what is requested until [`end`](Self::end).
    pub(super) fn run(&self) {
        let mut wanted = self.wanted.lock();
        loop {
            match std::mem::take(&mut *wanted) {
                Wanted::Nothing => self.changed.wait(&mut wanted),
                Wanted::Stretches(file, until) => {
                    drop(wanted);
                    if let Some(file) = file.upgrade() {
                        (until - 2..until)
                            .for_each(|it| file.prepare(it * STRETCH..(it + 1) * STRETCH));
                    }
                    wanted = self.wanted.lock();
                }
                Wanted::End => {
                    *wanted = Wanted::End;
                    return;
                }
            }
        }
    }

    pub(super) fn end(&self) {
        *self.wanted.lock() = Wanted::End;
        self.changed.notify_one();
    }
}
