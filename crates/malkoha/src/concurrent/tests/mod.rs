//! The protocol under threads, on tables of a few slots: all orders of its steps under loom, random
//! ones under shuttle, and real threads without them.

mod snapshot;
mod unique;

use std::sync::Arc;

use crate::addressing::Probe;
use crate::concurrent::batch::Aims;
use crate::concurrent::buckets::Buckets;
use crate::concurrent::table::Table;
use crate::geometry::{Geometry, Layout};
use crate::layout::Step;
#[cfg(any(loom, shuttle))]
use crate::locks::NoLock;
use crate::locks::{ElidedMcsLock, Global, Lock, Locking, McsLock, ParkingLock, Striped};
use crate::ring::GROUP;
use crate::sync::Ordering;

#[cfg(loom)]
pub(crate) use loom::thread;
#[cfg(shuttle)]
pub(crate) use shuttle::thread;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::thread;

/// Runs a model: threads and what must hold whatever their order.
pub(crate) fn check(model: impl Fn() + Send + Sync + 'static) {
    #[cfg(loom)]
    loom::model(model);
    #[cfg(shuttle)]
    shuttle::check_random(model, 20_000);
    #[cfg(not(any(loom, shuttle)))]
    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
        model();
    }
}

/// One segment of buckets of two slots.
fn geometry(places: u32) -> Geometry {
    let (layout, fingerprint_bits) = (Layout::Words, 32);
    Geometry { layout, fingerprint_bits, value_bits: 0, segments: 1, places }
}

fn table<P: Locking>(places: u32) -> Arc<Table<P>> {
    let buckets = Buckets::new(&geometry(places)).expect("a few bytes");
    Arc::new(Table::new(geometry(places), buckets))
}

/// The `number`-th fingerprint with these two buckets.
fn key<P: Locking>(table: &Table<P>, first: u64, second: u64, number: usize) -> Probe {
    let fingerprints = (1..).map(|fingerprint| table.addressing.occupant(0, first, fingerprint));
    fingerprints.filter(|probe| probe.second == second).nth(number).expect("one in three")
}

/// Puts a key into a bucket, and retries until it succeeds.
fn put<P: Locking>(table: &Table<P>, place: u64, key: &Probe) {
    let [bucket, _] = table.buckets.of(&Probe { first: place, ..*key });
    assert!(table.put(bucket, key.fingerprint), "the model leaves room");
}

/// Moves what is in the first slot of a bucket.
fn relocate<P: Locking>(table: &Table<P>, from: u64, to: u64) -> bool {
    table.relocate(0, Step { from, choice: 0, to })
}

fn slots<P: Locking>(table: &Table<P>) -> Vec<u64> {
    let words = table.buckets.segment(0).iter().map(|word| word.load(Ordering::Relaxed));
    let lanes = words.flat_map(|word| [table.lanes.lane(word, 0), table.lanes.lane(word, 1)]);
    lanes.filter(|&fingerprint| fingerprint != 0).collect()
}

/// Whether a group of lookups finds its key. Of one: two have too many orders.
fn finds_in_group<P: Locking>(table: &Table<P>, key: &Probe) -> bool {
    let mut aims = Aims::default();
    aims.set(0, table, key);
    let mut found = [false];
    table.whole(|table| table.look(&aims, &aims, &mut found));
    found[0]
}

/// Calls `meanwhile` with a table of one key, which a thread moves there, and back if that is asked
/// for. Returns both afterwards, and whether the thread found the key each time.
fn while_it_moves<P: Locking + 'static>(
    and_back: bool,
    meanwhile: impl FnOnce(&Table<P>, &Probe),
) -> (Arc<Table<P>>, Probe, bool) {
    let table = table::<P>(2);
    let x = key(&table, 0, 1, 0);
    put(&table, 0, &x);
    let mover = Arc::clone(&table);
    let moves = thread::spawn(move || {
        let there = mover.whole(|table| relocate(table, 0, 1));
        there && (!and_back || mover.whole(|table| relocate(table, 1, 0)))
    });
    meanwhile(&table, &x);
    let moved = moves.join().unwrap();
    (table, x, moved)
}

/// A key that is moved, there and back, is always found.
fn moved_key_is_found<P: Locking + 'static>() {
    check(|| {
        let (table, x, moved) = while_it_moves::<P>(true, |table, x| {
            assert!(table.whole(|table| table.contains(x)), "lost while it moves");
        });
        assert_eq!((slots(&table), moved), (vec![x.fingerprint], true));
    });
}

#[test]
fn a_moved_key_is_found() {
    moved_key_is_found::<Striped<ParkingLock>>();
    moved_key_is_found::<Global<ParkingLock>>();
}

/// The same in a group of lookups. There alone if every order is tried: there are too many.
#[test]
fn a_moved_key_is_found_in_a_group() {
    check(|| {
        let and_back = !cfg!(loom);
        let (table, x, moved) = while_it_moves::<Striped<ParkingLock>>(and_back, |table, x| {
            let asked = Probe { first: x.second, second: x.first, ..*x };
            assert!(finds_in_group(table, &asked), "lost while it moves");
        });
        assert_eq!((slots(&table), moved), (vec![x.fingerprint], true));
    });
}

/// The models have groups of one key. In a whole one, each key that was not found is looked up
/// again with its own buckets and version, and one that was found keeps its answer.
#[test]
fn each_key_of_a_group_is_looked_up_again() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(3);
        let [is_in, is_out] = [0, 1].map(|number| key(&table, 0, 1, number));
        put(&table, 1, &is_in);
        let mut aims = Aims::default();
        (0..GROUP).for_each(|i| aims.set(i, &table, if i % 3 == 0 { &is_in } else { &is_out }));
        let mut found = [false; GROUP];
        found[7] = true;
        table.look_alone(&aims, &mut found);
        let expected = [0, 3, 6, 7, 9, 12, 15];
        assert_eq!(found, std::array::from_fn(|i| expected.contains(&i)));
    });
}

/// Another key with the same fingerprint comes and goes, and takes this one's slot with it.
fn is_found_though_its_equal_is_removed(
    finds: impl Fn(&Table<Striped<ParkingLock>>, &Probe) -> bool + Send + Sync + Copy + 'static,
) {
    check(move || {
        let table = table::<Striped<ParkingLock>>(2);
        let (x, other) = (key(&table, 0, 1, 0), key(&table, 0, 1, 1));
        // A lookup that begins with the bucket to which the equal comes.
        let asked = Probe { first: x.second, second: x.first, ..x };
        put(&table, 0, &x);
        put(&table, 0, &other);
        let equal = Arc::clone(&table);
        let comes_and_goes = thread::spawn(move || {
            assert!(equal.insert(&x, 10));
            assert!(equal.remove(&x));
        });
        assert!(finds(&table, &asked), "lost to its equal");
        comes_and_goes.join().unwrap();
        assert_eq!(table.count(&x), 1);
    });
}

#[test]
fn a_key_is_found_though_its_equal_is_removed() {
    is_found_though_its_equal_is_removed(Table::contains);
    is_found_though_its_equal_is_removed(finds_in_group);
}

/// Two inserts that both need a move for the same last lane.
#[test]
fn inserts_that_meet_both_succeed() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(3);
        let stays = [key(&table, 0, 1, 0), key(&table, 0, 1, 1), key(&table, 1, 2, 0)];
        put(&table, 0, &stays[0]);
        put(&table, 0, &stays[1]);
        put(&table, 1, &stays[2]);
        let mine = key(&table, 0, 0, 0);
        let yours = key(&table, 1, 0, 2);
        let other = Arc::clone(&table);
        let insert = thread::spawn(move || assert!(other.insert(&yours, 50)));
        assert!(table.insert(&mine, 50));
        insert.join().unwrap();
        for probe in [mine, yours].iter().chain(&stays) {
            assert!(table.contains(probe));
        }
        assert_eq!(slots(&table).len(), 5);
    });
}

/// A key is removed while it is moved: nothing of it is left.
#[test]
fn a_moved_key_can_be_removed() {
    check(|| {
        let (table, x, _) = while_it_moves::<Striped<ParkingLock>>(false, |table, x| {
            assert!(table.remove(x));
        });
        assert!(slots(&table).is_empty(), "a copy is left");
        assert!(!table.contains(&x));
    });
}

/// A third copy is spilled while copies are removed: a spilled copy always has one in the table.
#[test]
fn copies_are_spilled_beside_one_in_the_table() {
    check(|| {
        let table = table::<Striped<ParkingLock>>(2);
        let x = key(&table, 0, 1, 0);
        put(&table, 0, &x);
        put(&table, 1, &x);
        let other = Arc::clone(&table);
        let removes = thread::spawn(move || {
            assert!(other.remove(&x));
            assert!(other.remove(&x));
        });
        assert!(table.insert(&x, 10));
        assert!(table.contains(&x));
        removes.join().unwrap();
        assert_eq!(table.count(&x), 1);
        assert!(table.contains(&x));
    });
}

/// A queue of three threads. Of two if every order is tried, because three have four million
/// orders. Without a checker each thread enters many times.
fn lock_excludes<L: Lock + 'static>() {
    const ENTRIES: u64 = if cfg!(any(loom, shuttle, miri)) { 1 } else { 100 };
    check(|| {
        let inside = crate::sync::AtomicU64::new(0);
        let shared = Arc::new((L::default(), inside));
        let enter = |shared: &(L, crate::sync::AtomicU64)| {
            for _ in 0..ENTRIES {
                shared.0.with(|| {
                    let before = shared.1.load(Ordering::Relaxed);
                    shared.1.store(before + 1, Ordering::Relaxed);
                });
            }
        };
        let threads = [(); if cfg!(loom) { 1 } else { 2 }].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || enter(&shared))
        });
        enter(&shared);
        for thread in threads {
            thread.join().unwrap();
        }
        let expected = if cfg!(loom) { 2 } else { 3 * ENTRIES };
        assert_eq!(shared.1.load(Ordering::Relaxed), expected, "two were inside at once");
    });
}

#[test]
fn queue_locks_exclude() {
    lock_excludes::<McsLock>();
    lock_excludes::<ElidedMcsLock>();
}
