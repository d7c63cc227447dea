//! Readers without the lock, and writers: all orders of their steps under loom, random ones under
//! shuttle, and real threads without them.
//!
//! Under loom the barrier that a writer lets the system run in all threads is one of its own, and
//! readers have one of theirs in place of what only keeps the compiler from reordering.

use std::sync::Arc;

use super::{Biased, OFTEN, barrier};
use crate::concurrent::tests::{check, thread};

impl<T> Biased<T> {
    /// Biases the lock of a value that has not been changed yet, if that is possible here.
    pub(crate) fn read_often(&self) {
        assert!(self.open().is_none());
        for _ in 0..=OFTEN {
            drop(self.read());
        }
        assert_eq!(self.open().is_some(), barrier::is_available());
    }
}

/// Under a biased lock.
fn biased(value: u64) -> Arc<Biased<u64>> {
    let biased = Biased::new(value);
    biased.read_often();
    Arc::new(biased)
}

fn look(biased: &Biased<u64>) -> u64 {
    biased.open().map_or_else(|| *biased.read(), |value| *value)
}

/// With three threads loom goes through the orders of few interruptions alone.
fn check_three(model: impl Fn() + Send + Sync + 'static) {
    #[cfg(loom)]
    {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(2);
        bounded.check(model);
    }
    #[cfg(not(loom))]
    check(model);
}

#[test]
fn nobody_reads_what_is_written() {
    check(|| {
        let value = biased(0);
        let (one, other) = (Arc::clone(&value), Arc::clone(&value));
        let reader = thread::spawn(move || {
            let first = look(&one);
            assert!(look(&one) >= first);
        });
        let writer = thread::spawn(move || *other.write() += 1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(look(&value), 1);
    });
}

#[test]
fn two_readers_and_a_writer() {
    check_three(|| {
        let value = biased(0);
        let readers = [(); 2].map(|()| {
            let value = Arc::clone(&value);
            thread::spawn(move || look(&value))
        });
        *value.write() += 1;
        for reader in readers {
            assert!(reader.join().unwrap() <= 1);
        }
    });
}

/// A reader that passes the lock sees what a thread wrote before it biased the lock.
#[test]
fn a_reader_sees_what_was_written_before() {
    check_three(|| {
        let value = biased(0);
        let other = Arc::clone(&value);
        let writer = thread::spawn(move || {
            *other.write() += 1;
            for _ in 0..=OFTEN {
                drop(other.read());
            }
        });
        assert!(look(&value) <= 1);
        assert!(look(&value) <= 1);
        writer.join().unwrap();
        assert_eq!(look(&value), 1);
    });
}

/// A writer waits for those who pass its lock, so none of them may wait for the writer of another.
#[test]
fn a_thread_passes_one_lock_at_a_time() {
    check(|| {
        let [one, other] = [1, 2].map(biased);
        let open = one.open();
        assert!(other.open().is_none() || open.is_none());
        assert_eq!(look(&other), 2);
        drop(open);
        assert_eq!(other.open().is_some(), barrier::is_available());
    });
}

/// Real barriers: each write ends a bias.
#[cfg(not(any(loom, shuttle)))]
#[test]
fn pairs_are_written_as_a_whole() {
    let writes = if cfg!(miri) { 5 } else { 3_000 };
    let pair = Biased::new([0, 0]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let [a, b] = pair.open().map_or_else(|| *pair.read(), |pair| *pair);
                    assert_eq!(a, b, "half of a change");
                    if a == writes {
                        break;
                    }
                    std::hint::spin_loop();
                }
            });
        }
        for _ in 0..writes {
            while barrier::is_available() && pair.open().is_none() {
                drop(pair.read());
            }
            let mut value = pair.write();
            value[0] += 1;
            value[1] += 1;
        }
    });
}

/// A child of a fork has one thread. It neither waits for a thread of its parent that passed a
/// lock, nor keeps its place.
#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
#[test]
fn a_child_forgets_threads_that_it_lacks() {
    use std::sync::mpsc::channel;

    if !barrier::is_available() {
        return;
    }
    let value = biased(0);
    let other = Arc::clone(&value);
    let (enters, entered) = channel();
    let (ends, ended) = channel::<()>();
    let reader = thread::spawn(move || {
        let _open = other.open().expect("nobody writes");
        enters.send(()).expect("the test waits");
        // Until the test ends, or fails.
        let _ = ended.recv();
    });
    entered.recv().expect("it enters");
    // SAFETY: the child uses this lock alone, which nobody has taken, and then ends itself.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child if it waits; nothing else has set an alarm.
        unsafe { libc::alarm(20) };
        *value.write() += 1;
        let is_right = look(&value) == 1 && super::places::taken() == 1;
        // SAFETY: the child does not run what other tests, or their harness, do at exit.
        unsafe { libc::_exit(i32::from(!is_right)) };
    }
    let mut status = -1;
    // SAFETY: `status` is where the result belongs.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    drop(ends);
    reader.join().unwrap();
    assert_eq!((waited, status), (child, 0), "14 is an alarm, 256 a wrong answer");
}
