//! Inserts of absent keys: exactly one of all threads is told "new".

use super::*;
use crate::concurrent::insert::Unique;

/// Threads that hand in one key.
fn one_is_new<P: Locking + 'static>() {
    check(|| {
        let table = table::<P>(2);
        let x = key(&table, 0, 1, 0);
        let other = Arc::clone(&table);
        let insert = thread::spawn(move || other.whole(|table| table.insert_unique(&x, 10)));
        let mine = table.whole(|table| table.insert_unique(&x, 10));
        let both = [mine, insert.join().unwrap()];
        for expected in [Unique::New, Unique::Present] {
            assert!(both.contains(&Some(expected)), "{both:?}");
        }
        assert_eq!(slots(&table), [x.fingerprint]);
    });
}

#[test]
fn one_thread_is_told_that_a_key_is_new() {
    one_is_new::<Striped<ParkingLock>>();
    one_is_new::<Global<ParkingLock>>();
}

/// The stripe's lock ensures this.
#[cfg(any(loom, shuttle))]
#[test]
#[should_panic(expected = "New")]
fn without_locks_two_threads_are_told_that_a_key_is_new() {
    one_is_new::<Striped<NoLock>>();
}

#[test]
fn a_moved_key_is_not_new() {
    check(|| {
        let (table, x, moved) = while_it_moves::<Striped<ParkingLock>>(false, |table, x| {
            assert_eq!(table.insert_unique(x, 10), Some(Unique::Present));
        });
        assert_eq!((slots(&table), moved), (vec![x.fingerprint], true));
    });
}

#[test]
fn a_key_that_is_removed_meanwhile_is_new_or_not() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(2);
        let x = key(&table, 0, 1, 0);
        put(&table, 0, &x);
        let other = Arc::clone(&table);
        let removes = thread::spawn(move || assert!(other.remove(&x)));
        let outcome = table.insert_unique(&x, 10);
        removes.join().unwrap();
        assert!(outcome.is_some());
        assert_eq!(table.count(&x), u64::from(outcome == Some(Unique::New)));
    });
}

/// A plain insert adds a copy, whatever the other insert returns.
#[test]
fn a_key_that_is_inserted_meanwhile_is_new_or_not() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(2);
        let x = key(&table, 0, 1, 0);
        let other = Arc::clone(&table);
        let inserts = thread::spawn(move || assert!(other.insert(&x, 10)));
        let outcome = table.insert_unique(&x, 10);
        inserts.join().unwrap();
        assert!(outcome.is_some());
        assert_eq!(table.count(&x), 1 + u64::from(outcome == Some(Unique::New)));
    });
}

/// Threads that hand in one key, for which both have to make room by a move; too many steps for all
/// their orders.
#[cfg(not(loom))]
#[test]
fn one_thread_is_told_so_where_there_is_no_room() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(3);
        put(&table, 0, &key(&table, 0, 1, 0));
        put(&table, 0, &key(&table, 0, 1, 1));
        let x = key(&table, 0, 0, 0);
        let other = Arc::clone(&table);
        let insert = thread::spawn(move || other.insert_unique(&x, 50));
        let both = [table.insert_unique(&x, 50), insert.join().unwrap()];
        assert!(both.contains(&Some(Unique::New)) && both.contains(&Some(Unique::Present)));
        assert_eq!(slots(&table).len(), 3);
    });
}

/// 10^6 keys, each handed in twice by each of four threads, one by one and in batches. The oracle
/// knows which fingerprints and places differ: as many are new.
#[cfg(not(any(loom, shuttle)))]
fn each_key_is_new_once<P: Locking>(table: &Table<P>) {
    use crate::key::{Key, KeyHasher};
    use crate::spill::SpillKey;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicU8;

    let keys: usize = if cfg!(miri) { 200 } else { 1_000_000 };
    let hashes: Vec<u64> = (0..keys as u64).map(|key| key.hash_with(KeyHasher::new(1))).collect();
    let answers: Vec<AtomicU8> = (0..keys).map(|_| AtomicU8::new(0)).collect();
    let note = |key: usize, outcome: Option<Unique>| {
        let is_new = outcome.expect("there is room") == Unique::New;
        answers[key].fetch_add(is_new.into(), Ordering::Relaxed);
    };
    // All threads hand in the same keys at the same time, nearly.
    thread::scope(|scope| {
        for thread in 0..4 {
            let (hashes, note) = (&hashes, &note);
            scope.spawn(move || {
                for (number, chunk) in hashes.chunks(1000).enumerate() {
                    for round in [0, 1] {
                        if (number + thread + round) % 2 == 0 {
                            table.insert_unique_many(chunk, 500, |i, outcome| {
                                note(number * 1000 + i, outcome);
                            });
                        } else {
                            for (i, &hash) in chunk.iter().enumerate() {
                                let probe = table.probe(hash);
                                let insert = |table: &Table<P>| table.insert_unique(&probe, 500);
                                note(number * 1000 + i, table.whole(insert));
                            }
                        }
                    }
                }
            });
        }
    });
    let probes = || hashes.iter().map(|&hash| table.probe(hash));
    let distinct: HashSet<(u32, u32, u32)> = probes()
        .map(|probe| SpillKey::of(&probe, 0))
        .map(|key| (key.segment, key.place, key.fingerprint))
        .collect();
    let answers = || answers.iter().map(|answer| answer.load(Ordering::Relaxed));
    assert!(answers().all(|new| new <= 1), "a key was new twice");
    assert_eq!(answers().map(usize::from).sum::<usize>(), distinct.len());
    assert_eq!(table.entries().count(), distinct.len());
    assert!(probes().all(|probe| table.contains(&probe)));
}

/// Some 0.2 % of the keys seem to be in, and almost every insert needs a lock. Full to 88 % in the
/// end.
#[cfg(not(any(loom, shuttle)))]
#[test]
fn a_million_keys_are_new_once() {
    let shape = |segments| {
        let places = if cfg!(miri) { 50 } else { 16_384 * 14 / segments };
        Geometry { fingerprint_bits: 12, segments, ..geometry(places) }
    };
    let fixed = |segments| Space::new(&shape(segments)).expect("memory");
    each_key_is_new_once(&Table::<Striped<ParkingLock>>::new(shape(14), fixed(14)));
    if !cfg!(miri) {
        each_key_is_new_once(&Table::<Striped<ElidedMcsLock>>::new(shape(14), fixed(14)));
        each_key_is_new_once(&Table::<Global<ParkingLock>>::new(shape(1), fixed(1)));
    }
}
