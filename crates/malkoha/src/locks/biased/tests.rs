//! Readers without locks beside writers: all orders of their steps under loom, random ones under
//! shuttle, and real threads without them.
//!
//! Under loom the barrier that a writer lets the system run in all threads is one of its own, and
//! readers have one of theirs in place of what only keeps the compiler from reordering.

use std::sync::Arc;

use super::lock::OFTEN;
use super::{Biased, barrier, settle};
use crate::concurrent::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::concurrent::tests::{check, thread};

impl<T> Biased<T> {
    /// Opens the gate of a value that has not been changed yet, if gates open here.
    pub(crate) fn read_often(&self) {
        assert!(self.open().is_none());
        for _ in 0..=OFTEN {
            drop(self.read());
        }
        assert_eq!(self.open().is_some(), barrier::is_available());
    }
}

/// Behind an open gate.
fn open(value: u64) -> Arc<Biased<u64>> {
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
        let biased = open(0);
        let (one, other) = (Arc::clone(&biased), Arc::clone(&biased));
        let reader = thread::spawn(move || {
            let first = look(&one);
            assert!(look(&one) >= first);
        });
        let writer = thread::spawn(move || *other.write() += 1);
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(look(&biased), 1);
    });
}

#[test]
fn two_readers_and_a_writer() {
    check_three(|| {
        let biased = open(0);
        let readers = [(); 2].map(|()| {
            let biased = Arc::clone(&biased);
            thread::spawn(move || look(&biased))
        });
        *biased.write() += 1;
        for reader in readers {
            assert!(reader.join().unwrap() <= 1);
        }
    });
}

/// What a thread wrote before it opened the gate, others see inside.
#[test]
fn who_enters_sees_what_was_written_before() {
    check_three(|| {
        let biased = open(0);
        let other = Arc::clone(&biased);
        let writer = thread::spawn(move || {
            *other.write() += 1;
            for _ in 0..=OFTEN {
                drop(other.read());
            }
        });
        assert!(look(&biased) <= 1);
        assert!(look(&biased) <= 1);
        writer.join().unwrap();
        assert_eq!(look(&biased), 1);
    });
}

/// What is held is not dropped before its reader lets go of it.
#[test]
fn what_is_held_stays() {
    if !barrier::is_available() {
        return;
    }
    check(|| {
        let biased = open(0);
        let current = Arc::new(AtomicUsize::new(1));
        let dropped = Arc::new([false; 2].map(AtomicBool::new));
        let reader = {
            let (current, dropped) = (Arc::clone(&current), Arc::clone(&dropped));
            thread::spawn(move || {
                let inside = biased.open().expect("nobody writes");
                let (held, holding) = inside.hold(&current).expect("the first");
                assert!(inside.hold(&current).is_none(), "one at a time");
                drop(inside);
                assert!(!dropped[held - 1].load(Ordering::SeqCst));
                drop(holding);
            })
        };
        current.store(2, Ordering::Release);
        let is_held = settle().expect("gates open here");
        if !is_held(1) {
            dropped[0].store(true, Ordering::SeqCst);
        }
        reader.join().unwrap();
    });
}

/// A writer of a gate waits for who is inside, so nobody inside may wait for the writer of another.
#[test]
fn a_thread_is_in_one_gate_at_a_time() {
    check(|| {
        let [one, other] = [1, 2].map(open);
        let inside = one.open();
        assert!(other.open().is_none() || inside.is_none());
        assert_eq!(look(&other), 2);
        drop(inside);
        assert_eq!(other.open().is_some(), barrier::is_available());
    });
}

/// Real barriers: each write closes an open gate.
#[cfg(not(any(loom, shuttle)))]
#[test]
fn pairs_are_written_as_a_whole() {
    let writes = if cfg!(miri) { 5 } else { 3_000 };
    let biased = Biased::new([0, 0]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let [a, b] = biased.open().map_or_else(|| *biased.read(), |pair| *pair);
                    assert_eq!(a, b, "half of a change");
                    if a == writes {
                        break;
                    }
                    std::hint::spin_loop();
                }
            });
        }
        for _ in 0..writes {
            while barrier::is_available() && biased.open().is_none() {
                drop(biased.read());
            }
            let mut value = biased.write();
            value[0] += 1;
            value[1] += 1;
        }
    });
}

/// A child of a fork has one thread. It neither waits for a thread of its parent that was in a
/// gate, nor keeps what that thread held, nor its place.
#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
#[test]
fn a_child_forgets_threads_that_it_lacks() {
    use std::sync::mpsc::channel;

    use super::places;

    if !barrier::is_available() {
        return;
    }
    let biased = open(0);
    let other = Arc::clone(&biased);
    let (enters, entered) = channel();
    let (ends, ended) = channel::<()>();
    let reader = thread::spawn(move || {
        let inside = other.open().expect("nobody writes");
        let _holding = inside.hold(&AtomicUsize::new(7));
        enters.send(()).expect("the test waits");
        // Until the test ends, or fails.
        let _ = ended.recv();
    });
    entered.recv().expect("it enters");
    // SAFETY: the child uses this gate alone, which is locked by nobody, and then ends itself.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child if it waits; nothing else has set an alarm.
        unsafe { libc::alarm(20) };
        *biased.write() += 1;
        let is_held = settle().expect("gates open here")(7);
        let is_right = look(&biased) == 1 && !is_held && places::taken() == 1;
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
