//! Memory for the log's end, asked for before a write needs it.
//!
//! The first write into the next two MiB of a mapped file waits until the system has found and cleared
//! memory for them: fractions of a millisecond, or many where a virtual machine has to ask its host.
//! A thread of the store lets it do so while other records are written.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::{Condvar, Mutex};

use crate::log::LogFile;

/// What the system gives at a time: a huge page. Asking for more at once would keep the process from
/// mapping anything else for longer.
const STRETCH: u64 = 2 << 20;

/// What is to be had ready next.
#[derive(Default)]
pub(super) struct Ahead {
    /// The stretch of which the next one was asked for last, with the number of its file.
    last: AtomicU64,
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Default)]
enum Wanted {
    #[default]
    Nothing,
    /// What follows this offset of a file, which may be gone by then.
    Behind(Weak<LogFile>, u64),
    End,
}

impl Ahead {
    /// Asks for what follows the end of a file, if that has reached another stretch.
    pub(super) fn ask(&self, file: &Arc<LogFile>) {
        let stretch = file.end() / STRETCH;
        let at = file.id() << 20 | stretch;
        if self.last.load(Ordering::Relaxed) != at {
            self.last.store(at, Ordering::Relaxed);
            let mut wanted = self.wanted.lock();
            if !matches!(*wanted, Wanted::End) {
                *wanted = Wanted::Behind(Arc::downgrade(file), (stretch + 1) * STRETCH);
                self.changed.notify_one();
            }
        }
    }

    /// Does what is asked for until [`end`](Self::end).
    pub(super) fn run(&self) {
        let mut wanted = self.wanted.lock();
        loop {
            match std::mem::take(&mut *wanted) {
                Wanted::Nothing => self.changed.wait(&mut wanted),
                Wanted::Behind(file, from) => {
                    drop(wanted);
                    if let Some(file) = file.upgrade() {
                        file.populate(from..from + STRETCH);
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
