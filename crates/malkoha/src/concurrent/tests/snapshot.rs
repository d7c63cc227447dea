//! Copying and emptying a table while it changes.

use super::*;
use crate::entries::Entry;
#[cfg(not(any(loom, shuttle)))]
use crate::table::traits::Lookup;

fn fingerprints(entries: impl Iterator<Item = Entry>) -> Vec<u64> {
    entries.map(|entry| entry.fingerprint.into()).collect()
}

/// A key that is moved, there and back, is in a copy once.
fn moved_key_is_copied_once<P: Locking + 'static>() {
    check(|| {
        let (_, _, moved) = while_it_moves::<P>(true, |table, x| {
            assert_eq!(fingerprints(table.entries()), [x.fingerprint], "not copied once");
        });
        assert!(moved);
    });
}

#[test]
fn a_moved_key_is_copied_once() {
    moved_key_is_copied_once::<Striped<ParkingLock>>();
    moved_key_is_copied_once::<Global<ParkingLock>>();
}

/// The stripes' locks ensure this.
#[cfg(any(loom, shuttle))]
#[test]
#[should_panic(expected = "not copied once")]
fn without_locks_a_moved_key_is_not_copied_once() {
    moved_key_is_copied_once::<Striped<NoLock>>();
}

/// A copy whose equals are removed meanwhile: what lies beside the table has an equal in it.
#[test]
fn spilled_copies_are_copied_with_one_in_the_table() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(2);
        let x = key(&table, 0, 1, 0);
        (0..3).for_each(|_| assert!(table.insert(&x, 10)));
        let other = Arc::clone(&table);
        let removes = thread::spawn(move || {
            assert!(other.remove(&x));
            assert!(other.remove(&x));
        });
        let piece = table.pieces().next().expect("one segment");
        removes.join().unwrap();
        assert!(piece.spilled.is_empty() || piece.words != [0, 0], "spilled beside nothing");
        let copies = piece.copies;
        assert!((1..=3).contains(&copies));
        assert_eq!(copies, piece.entries(table.lanes).map(|entry| entry.copies).sum::<u64>());
        assert_eq!(table.count(&x), 1);
    });
}

/// A key that is moved is removed, exactly once.
fn moved_key_is_cleared<P: Locking + 'static>() {
    check(|| {
        let mut copies = 0;
        let (table, ..) = while_it_moves::<P>(false, |table, _| copies = table.clear());
        assert_eq!((copies, slots(&table)), (1, Vec::new()), "left, or counted twice");
    });
}

#[test]
fn a_moved_key_is_taken_out() {
    moved_key_is_cleared::<Striped<ParkingLock>>();
    moved_key_is_cleared::<Global<ParkingLock>>();
}

#[cfg(any(loom, shuttle))]
#[test]
#[should_panic(expected = "left, or counted twice")]
fn without_locks_a_moved_key_may_stay() {
    moved_key_is_cleared::<Striped<NoLock>>();
}

/// A third copy comes while all are taken out: it goes with them or stays, and is counted either
/// way.
#[test]
fn a_copy_that_comes_meanwhile_goes_or_stays() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(2);
        let x = key(&table, 0, 1, 0);
        put(&table, 0, &x);
        put(&table, 1, &x);
        let other = Arc::clone(&table);
        let inserts = thread::spawn(move || assert!(other.insert(&x, 10)));
        let copies = table.clear();
        inserts.join().unwrap();
        assert_eq!(copies + table.count(&x), 3);
        assert_eq!(table.contains(&x), table.count(&x) > 0, "spilled beside nothing");
    });
}

#[cfg(not(any(loom, shuttle)))]
mod restored {
    use super::*;
    use crate::concurrent::Shared;
    use crate::error::BuildError;
    use crate::key::{Key, KeyHasher};
    use crate::table::{Fixed, Memory, Parts};
    use std::sync::atomic::AtomicBool;

    fn empty<P: Locking>(shape: Geometry) -> Shared<P> {
        Shared::fixed(shape, 200, 1).expect("a few bytes")
    }

    fn shape() -> Geometry {
        Geometry { fingerprint_bits: 20, segments: 6, ..geometry(400) }
    }

    fn hash(key: u64) -> u64 {
        key.hash_with(KeyHasher::new(0))
    }

    #[test]
    fn bits_outside_slots_are_refused() {
        let geometry = shape();
        let mut bytes = vec![0; usize::try_from(geometry.table_bytes().unwrap()).unwrap()];
        let parts = Parts { geometry, max_kicks: 1, capacity: 1, len: 0 };
        let shared = |bytes: &[u8]| {
            let fixed = Fixed::from_bytes(Memory::from(bytes.to_vec()), parts);
            Shared::<Striped<ParkingLock>>::from_fixed(&fixed).map(drop)
        };
        assert!(shared(&bytes).is_ok());
        bytes[7] = 1 << 4;
        assert!(matches!(shared(&bytes), Err(BuildError::Layout { .. })));
    }

    /// Threads put keys in and take them out again while tables are copied: each copy has all keys
    /// that stay, once, and none that went before.
    fn copies_are_whole<P: Locking>(table: &Shared<P>) {
        let (stay, each): (u64, u64) = if cfg!(miri) { (100, 30) } else { (4_000, 2_000) };
        (0..stay).for_each(|key| table.insert(hash(key), 0).expect("it fits"));
        for key in stay..stay + 50 {
            assert!(table.insert(hash(key), 0).is_ok() && table.remove(hash(key), 0));
        }
        let (done, mut copied) = (AtomicBool::new(false), 0);
        thread::scope(|scope| {
            let writers = [1, 2].map(|thread: u64| {
                let done = &done;
                scope.spawn(move || {
                    let keys = || (thread << 32..(thread << 32) + each).map(hash);
                    while !done.load(Ordering::Relaxed) {
                        keys().for_each(|key| table.insert(key, 0).expect("it fits"));
                        keys().for_each(|key| assert!(table.remove(key, 0)));
                    }
                })
            });
            let wanted = if cfg!(miri) { 2 } else { 50 };
            while copied < wanted && !writers.iter().any(|writer| writer.is_finished()) {
                let copy = table.clone();
                let missed = (0..stay).find(|&key| copy.count(hash(key)) != 1);
                let gone = (stay..stay + 50).find(|&key| copy.contains(hash(key)));
                // Also after a failure, so that the writers end.
                copied = if (missed, gone) == (None, None) { copied + 1 } else { usize::MAX };
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_ne!(copied, usize::MAX, "missed a key, or has one that was removed before");
        table.clear();
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn no_key_is_missed_in_copies() {
        // Full to 80 % at times, so that inserts move others.
        let places = if cfg!(miri) { 100 } else { 2_500 };
        let shape = Geometry { segments: 2, ..geometry(places) };
        copies_are_whole(&empty::<Striped<ParkingLock>>(shape));
        copies_are_whole(&empty::<Global<ParkingLock>>(shape));
    }
}
