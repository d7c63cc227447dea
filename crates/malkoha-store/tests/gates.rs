//! Readers without locks beside writers, in every order of their steps that loom finds.
//!
//! The barrier that a writer lets the system run in all threads is one of its own here, and readers
//! have one of theirs in place of what only keeps the compiler from reordering. This is weaker than
//! what the system does, and orders as much as the protocol needs.

#[path = "../src/reading/gate.rs"]
mod gate;

/// Loom's own in place of what the store uses.
mod sync {
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
    use loom::sync::{RwLockReadGuard, RwLockWriteGuard};

    pub(super) type ReadGuard<'a> = RwLockReadGuard<'a, ()>;
    pub(super) type WriteGuard<'a> = RwLockWriteGuard<'a, ()>;

    #[derive(Default)]
    pub(super) struct RwLock(loom::sync::RwLock<()>);

    impl RwLock {
        pub(super) fn read(&self) -> ReadGuard<'_> {
            self.0.read().unwrap()
        }

        pub(super) fn write(&self) -> WriteGuard<'_> {
            self.0.write().unwrap()
        }
    }

    /// A gate opens at the second reading.
    pub(super) const OFTEN: u32 = 1;

    pub(super) fn light_barrier() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    pub(super) fn heavy_barrier() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    pub(super) fn has_heavy_barrier() -> bool {
        true
    }

    pub(super) fn pause() {
        loom::thread::yield_now();
    }
}

use std::sync::Arc;

use gate::{Gate, Place, settle};
use loom::cell::UnsafeCell;
use loom::thread;
use sync::{AtomicBool, AtomicUsize, Ordering};

fn place() -> Place {
    Place { gate: AtomicUsize::new(0), held: AtomicUsize::new(0) }
}

/// A gate, what is behind it, and a place for each thread that reads.
struct Shared {
    gate: Gate,
    value: UnsafeCell<u64>,
    places: [Place; 2],
}

// SAFETY: loom tells if it is read while it is written.
unsafe impl Sync for Shared {}

impl Shared {
    /// With an open gate.
    fn open() -> Arc<Self> {
        let places = [place(), place()];
        let shared = Self { gate: Gate::default(), value: UnsafeCell::new(0), places };
        drop(shared.gate.read());
        drop(shared.gate.read());
        assert!(shared.gate.seems_open());
        Arc::new(shared)
    }

    fn look(&self, place: usize) -> u64 {
        // SAFETY: loom tells if it is written meanwhile.
        let look = || self.value.with(|value| unsafe { *value });
        match self.gate.enter(&self.places[place]) {
            Some(_inside) => look(),
            None => {
                let _reading = self.gate.read();
                look()
            }
        }
    }

    fn add(&self) {
        let _writing = self.gate.write(&self.places);
        // SAFETY: loom tells if somebody else looks at it.
        self.value.with_mut(|value| unsafe { *value += 1 });
    }
}

#[test]
fn nobody_reads_what_is_written() {
    loom::model(|| {
        let shared = Shared::open();
        let (one, other) = (Arc::clone(&shared), Arc::clone(&shared));
        let reader = thread::spawn(move || {
            let first = one.look(0);
            assert!(one.look(0) >= first);
        });
        let writer = thread::spawn(move || other.add());
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(shared.look(0), 1);
    });
}

#[test]
fn two_readers_and_a_writer() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let shared = Shared::open();
        let readers = [0, 1].map(|place| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.look(place))
        });
        shared.add();
        for reader in readers {
            assert!(reader.join().unwrap() <= 1);
        }
    });
}

/// What is held is not dropped before its reader lets go of it.
#[test]
fn what_is_held_stays() {
    loom::model(|| {
        let shared = Shared::open();
        let current = Arc::new(AtomicUsize::new(1));
        let dropped = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let reader = {
            let (shared, current, dropped) =
                (Arc::clone(&shared), Arc::clone(&current), Arc::clone(&dropped));
            thread::spawn(move || {
                let inside = shared.gate.enter(&shared.places[0]).unwrap();
                let (held, holding) = shared.places[0].hold(&current).unwrap();
                assert!(shared.places[0].hold(&current).is_none(), "one at a time");
                drop(inside);
                assert!(!dropped[held - 1].load(Ordering::SeqCst));
                drop(holding);
            })
        };
        current.store(2, Ordering::Release);
        let is_held = settle(&shared.places);
        if !is_held(1) {
            dropped[0].store(true, Ordering::SeqCst);
        }
        drop(is_held);
        reader.join().unwrap();
    });
}
