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
    use crate::concurrent::restore::{Misfit, Restorer};
    use crate::concurrent::snapshot::Piece;
    use crate::key::{Key, KeyHasher};
    use crate::spill::SpillKey;
    use proptest::prelude::*;
    use std::sync::atomic::AtomicBool;

    fn empty<P: Locking>(shape: Geometry) -> Table<P> {
        Table::new(shape, Space::new(&shape).expect("a few bytes"))
    }

    fn shape() -> Geometry {
        Geometry { fingerprint_bits: 20, segments: 6, ..geometry(400) }
    }

    fn restore<P: Locking>(shape: Geometry, pieces: &[Piece]) -> Result<(Table<P>, u64), Misfit> {
        let mut restorer = Restorer::new(shape)?;
        for piece in pieces {
            restorer.add(&piece.words)?;
            for &(key, copies) in &piece.spilled {
                restorer.add_spilled(key, copies)?;
            }
        }
        let shared = restorer.finish(500, 1)?;
        let len = Lookup::len(&shared);
        Ok((shared.table, len))
    }

    type Change<'a> = &'a dyn Fn(&mut Vec<Piece>);

    fn probe<P: Locking>(table: &Table<P>, key: u64) -> Probe {
        table.probe(key.hash_with(KeyHasher::new(0)))
    }

    /// A table with keys from 0; every third one is there five times.
    fn filled<P: Locking>(keys: u64) -> Table<P> {
        let table = empty(shape());
        for key in 0..keys {
            for _ in 0..if key % 3 == 0 { 5 } else { 1 } {
                assert!(table.insert(&probe(&table, key), 50), "{key} of {keys} fits");
            }
        }
        table
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 32 }, ..ProptestConfig::default() })]

        #[test]
        fn pieces_make_the_same_table(keys in 0_u64..2000) {
            let table = filled::<Global<ParkingLock>>(keys);
            let pieces: Vec<Piece> = table.pieces().collect();
            let (again, copies) =
                restore::<Striped<ParkingLock>>(shape(), &pieces).expect("its own pieces fit");
            assert_eq!(copies, keys + 4 * keys.div_ceil(3));
            assert_eq!(copies, table.entries().map(|entry| entry.copies).sum::<u64>());
            assert_eq!(again.spilled(), table.spilled());
            assert!(again.pieces().eq(pieces));
            for key in 0..keys {
                let probe = probe(&table, key);
                assert!(again.contains(&probe));
                assert_eq!(again.count(&probe), table.count(&probe));
            }
            assert_eq!(again.clear(), copies);
            assert_eq!((again.spilled(), again.entries().count()), (0, 0));
            assert!(!again.contains(&probe(&table, 0)));
        }
    }

    /// Each piece with one thing wrong.
    #[test]
    fn pieces_that_do_not_fit_are_refused() {
        let pieces: Vec<Piece> = filled::<Global<ParkingLock>>(1000).pieces().collect();
        let with = |change: Change<'_>| {
            let mut pieces = pieces.clone();
            change(&mut pieces);
            restore::<Striped<ParkingLock>>(shape(), &pieces).map(|(_, copies)| copies)
        };
        assert!(with(&|_| ()).is_ok());
        let segment: [Change<'_>; 2] =
            [&|pieces| pieces.truncate(3), &|pieces| pieces.push(pieces[1].clone())];
        for (number, change) in segment.iter().enumerate() {
            assert!(with(change).is_err_and(|misfit| misfit != Misfit::Words), "{number}");
        }
        let words: [Change<'_>; 3] = [
            &|pieces| pieces[1].words.truncate(399),
            &|pieces| pieces[1].words.push(0),
            &|pieces| pieces[1].words[0] |= 1 << 60,
        ];
        for (number, change) in words.iter().enumerate() {
            assert_eq!(with(change), Err(Misfit::Words), "{number}");
        }
        let spills = |piece: &Piece| !piece.spilled.is_empty();
        let first = pieces.iter().position(spills).expect("there are spilled copies");
        let key = pieces[first].spilled[0].0;
        let spilled = [
            (SpillKey { segment: 6, ..key }, 1),
            (SpillKey { place: 400, ..key }, 1),
            (SpillKey { fingerprint: 0, ..key }, 1),
            (SpillKey { fingerprint: key.fingerprint | 1 << 20, ..key }, 1),
            (SpillKey { value: 1, ..key }, 1),
            (key, 0),
            (key, u64::MAX),
        ];
        for entry in spilled {
            let wrong = with(&|pieces| pieces[first].spilled.push(entry));
            assert_eq!(wrong, Err(Misfit::Spilled), "{entry:?}");
        }
        let early = with(&|pieces| {
            let late = pieces.last_mut().expect("some").spilled.pop().expect("in the last one");
            pieces[0].spilled.push(late);
        });
        assert_eq!(early, Err(Misfit::Spilled));
    }

    /// Threads put keys in and take them out again while tables are copied: each copy has all keys
    /// that stay, once, and none that went before.
    fn copies_are_whole<P: Locking>(table: &Table<P>) {
        let (stay, each): (u64, u64) = if cfg!(miri) { (100, 30) } else { (4_000, 2_000) };
        (0..stay).for_each(|key| assert!(table.insert(&probe(table, key), 200)));
        for key in stay..stay + 50 {
            assert!(table.insert(&probe(table, key), 200) && table.remove(&probe(table, key)));
        }
        let (done, mut copied) = (AtomicBool::new(false), 0);
        thread::scope(|scope| {
            let writers = [1, 2].map(|thread: u64| {
                let done = &done;
                scope.spawn(move || {
                    let keys = || (thread << 32..(thread << 32) + each).map(|k| probe(table, k));
                    while !done.load(Ordering::Relaxed) {
                        keys().for_each(|key| assert!(table.whole(|t| t.insert(&key, 200))));
                        keys().for_each(|key| assert!(table.whole(|t| t.remove(&key))));
                    }
                })
            });
            let wanted = if cfg!(miri) { 2 } else { 50 };
            while copied < wanted && !writers.iter().any(|writer| writer.is_finished()) {
                let pieces: Vec<Piece> = table.pieces().collect();
                let (copy, _) = restore::<P>(table.geometry, &pieces).expect("its own pieces fit");
                let missed = (0..stay).find(|&key| copy.count(&probe(table, key)) != 1);
                let gone = (stay..stay + 50).find(|&key| copy.contains(&probe(table, key)));
                // Also after a failure, so that the writers end.
                copied = if (missed, gone) == (None, None) { copied + 1 } else { usize::MAX };
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_ne!(copied, usize::MAX, "missed a key, or has one that was removed before");
        assert_eq!(table.clear(), stay);
    }

    #[test]
    fn no_key_is_missed_in_copies() {
        // Full to 80 % at times, so that inserts move others.
        let places = if cfg!(miri) { 100 } else { 2_500 };
        let shape = Geometry { segments: 2, ..geometry(places) };
        copies_are_whole(&empty::<Striped<ParkingLock>>(shape));
        copies_are_whole(&empty::<Striped<ElidedMcsLock>>(shape));
        copies_are_whole(&empty::<Global<ParkingLock>>(shape));
    }
}
