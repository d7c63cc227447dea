//! Copying and emptying a table while it changes.

use super::*;
use crate::entries::Entry;

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

/// Removes equal copies during the snapshot. Every spilled copy must still have one in the table.
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
        assert!(
            piece.spilled.is_empty() || piece.words != [0, 0],
            "spilled without one in the table"
        );
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
        assert_eq!(table.contains(&x), table.count(&x) > 0, "spilled without one in the table");
    });
}

#[cfg(not(any(loom, shuttle)))]
#[test]
fn bits_outside_slots_are_refused() {
    use crate::concurrent::Shared;
    use crate::error::BuildError;
    use crate::table::{Fixed, Memory, Parts};

    let geometry = Geometry { fingerprint_bits: 20, segments: 6, ..geometry(400) };
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
