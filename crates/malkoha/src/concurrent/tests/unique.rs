//! Inserts of absent keys: exactly one of all threads inserts.

use super::*;

/// Threads that hand in one key.
fn one_is_new<P: Locking + 'static>() {
    check(|| {
        let table = table::<P>(2);
        let x = key(&table, 0, 1, 0);
        let other = Arc::clone(&table);
        let insert = thread::spawn(move || other.whole(|table| table.insert_unique(&x, 10)));
        let mine = table.whole(|table| table.insert_unique(&x, 10));
        let both = [mine, insert.join().unwrap()];
        for expected in [true, false] {
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
#[should_panic(expected = "[Some(true), Some(true)]")]
fn without_locks_two_threads_are_told_that_a_key_is_new() {
    one_is_new::<Striped<NoLock>>();
}

#[test]
fn a_moved_key_is_not_new() {
    check(|| {
        let (table, x, moved) = while_it_moves::<Striped<ParkingLock>>(false, |table, x| {
            assert_eq!(table.insert_unique(x, 10), Some(false));
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
        assert_eq!(table.count(&x), u64::from(outcome == Some(true)));
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
        assert_eq!(table.count(&x), 1 + u64::from(outcome == Some(true)));
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
        assert!(both.contains(&Some(true)) && both.contains(&Some(false)));
        assert_eq!(slots(&table).len(), 3);
    });
}
