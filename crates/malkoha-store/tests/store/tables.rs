//! Tables of one store: apart from each other in all that is read, together in all that is written.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use malkoha_store::{Batch, Durability, Error, Store, Swap, Table, TableSnapshot};

use crate::damage::flip;
use crate::simulated::Simulated;
use crate::support::{Contents, Dir, assert_holds, assert_table_holds, key, options, pairs};

fn assert_has(store: &Store, name: &str, expected: &Contents) {
    let (table, snapshot) = (store.table(name).unwrap(), store.snapshot());
    assert_table_holds(&table, &snapshot.table(name).unwrap(), expected);
}

/// The same keys in many tables, each with its own values; also among the store's own keys.
#[test]
fn tables_are_apart() {
    let dir = Dir::new();
    let store = dir.open();
    let names: Vec<String> = (0..40).map(|n| format!("table {n}")).collect();
    let mut expected = vec![Contents::new(); names.len()];
    let mut main = Contents::new();
    for n in 0..100 {
        for (i, name) in names.iter().enumerate() {
            let value = format!("{n} in {i}").into_bytes();
            store.table(name).unwrap().put(&key(n), &value).unwrap();
            expected[i].insert(key(n), value);
        }
        store.put(&key(n), b"in none").unwrap();
        main.insert(key(n), b"in none".to_vec());
    }
    assert_eq!(store.len(), 41 * 100);
    for (i, name) in names.iter().enumerate().step_by(3) {
        let table = store.table(name).unwrap();
        for n in 0..50 {
            assert!(table.delete(&key(2 * n)).unwrap());
            assert!(!table.delete(&key(2 * n)).unwrap());
            expected[i].remove(&key(2 * n));
        }
        assert!(table.put_if_absent(&key(0), b"again").unwrap());
        let swapped = table.compare_and_swap(&key(1), Some(b"no"), None).unwrap();
        assert!(matches!(swapped, Swap::Found(Some(_))));
        table.put_for(&key(2), b"over", Duration::ZERO).unwrap();
        expected[i].insert(key(0), b"again".to_vec());
    }
    let check = |store: &Store| {
        for (name, expected) in names.iter().zip(&expected) {
            assert_has(store, name, expected);
        }
        let snapshot = store.snapshot();
        assert_eq!(Contents::from_iter(pairs(snapshot.iter())), main);
        let table = snapshot.table("table 1").unwrap();
        let sorted: Vec<_> = expected[1].keys().filter(|key| key.starts_with(b"key 1")).collect();
        let found = pairs(table.prefix(b"key 1").unwrap());
        assert!(found.iter().map(|(key, _)| key).eq(sorted));
        assert_eq!(table.get(&key(5)).unwrap().as_deref(), Some(&b"5 in 1"[..]));
        assert!(snapshot.table("table").is_none());
        let damage = store.verify().unwrap().damage;
        assert!(damage.is_empty(), "{damage:?}");
    };
    check(&store);
    store.compact().unwrap();
    check(&store);
    let copy = Dir::new();
    store.backup(copy.path()).unwrap();
    check(&copy.open());
    store.close().unwrap();
    dir.remove("CHECKPOINT");
    let store = Store::open_read_only(dir.path()).unwrap();
    check(&store);
    assert!(matches!(store.table("another"), Err(Error::NoTable(_))));
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(store.tables(), sorted);
}

#[test]
fn a_batch_writes_to_several_tables_or_to_none() {
    let dir = Dir::new();
    let store = dir.open();
    for name in ["a", "b"] {
        store.table(name).unwrap();
    }
    let mut batch = Batch::new();
    batch.put(b"1", b"main").unwrap();
    batch.within("a").put(b"1", b"a").unwrap().put(b"2", b"a").unwrap();
    batch.within("b").put(b"1", b"b").unwrap();
    batch.within("").put(b"2", b"main").unwrap();
    batch.within("a").delete(b"2").unwrap();
    store.apply(&batch).unwrap();
    let one = |value: &[u8]| Contents::from([(b"1".to_vec(), value.to_vec())]);
    assert_has(&store, "a", &one(b"a"));
    assert_has(&store, "b", &one(b"b"));
    assert_eq!(store.get(b"2").unwrap().as_deref(), Some(&b"main"[..]));
    batch.clear();
    batch.put(b"3", b"main").unwrap().within("c").put(b"3", b"c").unwrap();
    let error = store.apply(&batch).unwrap_err();
    assert!(matches!(&error, Error::NoTable(name) if name == "c"), "{error}");
    assert_eq!(store.get(b"3").unwrap(), None);
    for name in ["", &"n".repeat(256)] {
        assert!(matches!(store.table(name), Err(Error::Option(_))));
    }
}

#[test]
fn a_removed_table_is_gone_and_others_stay() {
    let dir = Dir::new();
    let store = dir.open();
    let fill = |name: &str| {
        let table = store.table(name).unwrap();
        (0..2000).for_each(|n| table.put(&key(n), &[b'v'; 60]).unwrap());
        table
    };
    let (kept, gone): (Table<'_>, Table<'_>) = (fill("kept"), fill("gone"));
    store.put(b"main", b"1").unwrap();
    let snapshot = store.snapshot();
    assert!(store.remove_table("gone").unwrap());
    assert!(!store.remove_table("gone").unwrap());
    assert_eq!(store.tables(), ["kept"]);
    assert_eq!(store.len(), 2001);
    assert!(matches!(gone.get(&key(1)), Err(Error::TableRemoved)));
    assert!(matches!(gone.put(&key(1), b"1"), Err(Error::TableRemoved)));
    assert!(matches!(gone.get_many(&[key(1)], |_, _| ()), Err(Error::TableRemoved)));
    assert_eq!(snapshot.table("gone").unwrap().iter().count(), 2000);
    drop(snapshot);
    assert_eq!(kept.get(&key(1)).unwrap().unwrap(), [b'v'; 60]);
    assert_has(&store, "gone", &Contents::new());
    store.compact().unwrap();
    let stats = store.stats();
    assert!(stats.log_bytes - stats.tombstone_bytes < 2400 * 88, "{stats:?}");
    store.close().unwrap();
    dir.remove("CHECKPOINT");
    let store = dir.open();
    assert_eq!(store.len(), 2001);
    assert_has(&store, "gone", &Contents::new());
    assert!(store.verify().unwrap().damage.is_empty());
}

/// Several times as many keys as are found at once, which are of 8 MiB, in one file and in several.
#[test]
fn all_keys_of_a_large_table_are_deleted() {
    for file_bytes in [64 << 20, 1 << 20] {
        let dir = Dir::new();
        let store = Store::open(dir.path(), &options().file_bytes(file_bytes)).unwrap();
        let birds = store.table("birds").unwrap();
        let key = |n: usize| [&n.to_le_bytes()[..], &[7; 60_000]].concat();
        for n in 0..(24 << 20) / 60_000 {
            birds.put(&key(n), b"").unwrap();
            store.put(&n.to_le_bytes(), b"stays").unwrap();
        }
        let kept = store.len() / 2;
        assert!(store.remove_table("birds").unwrap());
        assert_eq!((store.main_len(), store.snapshot().main_len()), (Some(kept), Some(kept)));
    }
}

/// A crash anywhere in a removal leaves the whole table, or nothing visible.
#[test]
fn a_removal_that_a_crash_ended_is_made_up_for() {
    let storage = Simulated::default();
    let options = options().file_bytes(1 << 12);
    let store = Store::open_in(Arc::new(storage.clone()), None, &options).unwrap();
    let mut main = Contents::new();
    let mut table = Contents::new();
    for n in 0..300 {
        store.put(&key(n), b"main").unwrap();
        main.insert(key(n), b"main".to_vec());
        store.table("gone").unwrap().put(&key(n), b"gone").unwrap();
        table.insert(key(n), b"gone".to_vec());
    }
    store.sync().unwrap();
    let begin = storage.events();
    store.remove_table("gone").unwrap();
    store.sync().unwrap();
    let (mut whole, mut none) = (0, 0);
    for events in begin..=storage.events() {
        let mut n = 0;
        let left = storage.crashed(events, || {
            n += 1;
            n % 3 > 0
        });
        let store = Store::open_in(Arc::new(left.clone()), None, &options).unwrap();
        if store.tables().is_empty() {
            none += 1;
            assert!(store.snapshot().table("gone").is_none());
            store.table("gone").unwrap();
            assert_has(&store, "gone", &Contents::new());
            assert!(store.remove_table("gone").unwrap());
            assert_holds(&store, &main);
        } else {
            whole += 1;
            assert_has(&store, "gone", &table);
            assert_eq!(store.len(), 600);
        }
    }
    assert!(whole > 0 && none > 0, "{whole} {none}");
}

/// A damaged record, whatever its key, does not keep others of a removed table.
#[test]
fn a_removal_gives_back_what_can_be_read() {
    let dir = Dir::new();
    let options = options().file_bytes(1 << 16);
    let store = Store::open(dir.path(), &options).unwrap();
    store.put(b"damaged", &[b'd'; 60]).unwrap();
    for n in 0..3000 {
        store.table("gone").unwrap().put(&key(n), &[b'v'; 60]).unwrap();
    }
    store.close().unwrap();
    flip(&dir.logs()[0], b"damaged");
    let store = Store::open(dir.path(), &options).unwrap();
    assert!(store.remove_table("gone").unwrap_err().is_damage());
    assert!(store.tables().is_empty());
    assert_eq!((store.len(), store.main_len(), store.snapshot().main_len()), (1, None, None));
    assert!(store.compact().unwrap_err().is_damage());
    let stats = store.stats();
    assert!(stats.log_bytes - stats.tombstone_bytes < 1 << 17, "{stats:?}");
    store.close().unwrap();
    Store::repair(dir.path()).unwrap();
    let store = dir.open();
    assert_has(&store, "gone", &Contents::new());
    store.compact().unwrap();
    assert_eq!((store.len(), store.get(b"damaged").unwrap()), (0, None));
}

/// Who writes while a table is removed leaves nothing in it, whenever that is.
#[test]
fn nothing_is_written_to_a_table_behind_its_removal() {
    for durability in [Durability::System, Durability::Always] {
        let dir = Dir::new();
        let options = options().durability(durability).file_bytes(1 << 16);
        let store = Store::open(dir.path(), &options).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (store, done) = (&store, &done);
                scope.spawn(move || {
                    for n in (0..20_000).take_while(|_| !done.load(Ordering::Relaxed)) {
                        let mut batch = Batch::new();
                        batch.put(&key(n % 10 + 100), b"main").unwrap();
                        batch.within("t").put(&key(thread), b"late").unwrap();
                        let snapshot = store.snapshot();
                        let read = |table: TableSnapshot<'_>| {
                            table.iter().try_for_each(|entry| entry.map(drop))
                        };
                        let written = match n % 2 {
                            0 => store.apply(&batch).map(drop),
                            _ => snapshot.table("t").map_or(Ok(()), read),
                        };
                        match written {
                            Ok(()) | Err(Error::NoTable(_) | Error::TableRemoved) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
            for _ in 0..20 {
                let table = store.table("t").unwrap();
                for n in 0..50 {
                    table.put(&key(n), &[b'v'; 100]).unwrap();
                }
                assert!(store.remove_table("t").unwrap());
                assert!(store.len() <= 10, "{}", store.len());
            }
            done.store(true, Ordering::Relaxed);
        });
        assert!(store.verify().unwrap().damage.is_empty());
    }
}
