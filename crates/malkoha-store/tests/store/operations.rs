//! What the operations answer.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use malkoha_store::{Durability, Error, MAX_KEY, MAX_VALUE, Options, Store};

use crate::support::{Contents, Dir, assert_holds, each_file, key, options};

/// Writes that are synced go another way to the file than others do.
#[test]
fn synced_writes_and_others_follow_each_other() {
    let mut dir = Dir::new();
    let mut expected = Contents::new();
    for round in 0..6_u8 {
        let level = if round % 2 == 0 { Durability::Always } else { Durability::System };
        let options = options().durability(level).file_bytes(1 << 18);
        let store = Store::open(dir.path(), &options).unwrap();
        assert_holds(&store, &expected);
        for n in 0..60_u32 {
            let length = if n % 20 == 7 { 9000 } else { n as usize * 3 };
            store.put(&key(n + u32::from(round) * 30), &vec![round; length]).unwrap();
            expected.insert(key(n + u32::from(round) * 30), vec![round; length]);
        }
        assert_holds(&store, &expected);
        if round > 2 {
            // As if the process had ended here.
            let left = Dir::new();
            each_file(dir.path(), left.path(), fs::copy);
            drop(store);
            dir = left;
        }
    }
    dir.remove("CHECKPOINT");
    assert_holds(&dir.open(), &expected);
}

#[test]
fn keys_and_values_of_extreme_lengths() {
    let dir = Dir::new();
    let mut expected = Contents::new();
    let store = dir.open();
    for (key, value) in
        [(0, 0), (0, 5), (MAX_KEY, 0), (MAX_KEY - 1, 100_000), (3, 1 << 20), (1, 4096)]
    {
        let (key, value) = (vec![b'k'; key], vec![b'v'; value]);
        store.put(&key, &value).unwrap();
        expected.insert(key, value);
    }
    assert_holds(&store, &expected);
    let too_long = store.put(&vec![0; MAX_KEY + 1], b"").unwrap_err();
    assert!(matches!(too_long, Error::KeyTooLong(65537)), "{too_long}");
    drop(store);
    dir.remove("CHECKPOINT");
    assert_holds(&dir.open(), &expected);
}

/// Mapped zeros: the value is never written twice, so this takes 1 GiB of the page cache.
#[test]
#[ignore = "writes 1 GiB"]
fn the_longest_value() {
    let dir = Dir::new();
    let store = dir.open();
    let value = vec![7; MAX_VALUE];
    store.put(b"long", &value).unwrap();
    assert!(store.get_with(b"long", |found| found == value).unwrap().unwrap());
    assert!(matches!(store.put(b"l", &vec![0; MAX_VALUE + 1]), Err(Error::ValueTooLong(_))));
}

/// Time is not waited for: what ended at once is over.
#[test]
fn what_has_an_end_ends_and_shows_nothing_older() {
    let dir = Dir::new();
    let store = dir.open();
    store.put(b"key", b"for ever").unwrap();
    for n in 0..2000 {
        store.put(&key(n), &[0; 20]).unwrap();
    }
    store.put_for(b"key", b"for no time", Duration::ZERO).unwrap();
    store.put_for(b"other", b"for long", Duration::from_secs(1 << 30)).unwrap();
    assert_eq!(store.get(b"key").unwrap(), None);
    assert!(!store.contains(b"key").unwrap());
    assert!(!store.delete(b"key").unwrap());
    assert_eq!(store.get(b"other").unwrap().unwrap(), b"for long");
    // The file of the older record has nothing dead but that, so it stays at first.
    store.compact().unwrap();
    drop(store);
    dir.remove("CHECKPOINT");
    let store = dir.open();
    assert_eq!(store.get(b"key").unwrap(), None);
    assert_eq!(store.get(b"other").unwrap().unwrap(), b"for long");
}

#[test]
fn a_backup_is_a_store_of_its_own() {
    let (dir, copy) = (Dir::new(), Dir::new());
    let store = dir.open();
    for n in 0..1000 {
        store.put(&key(n), b"before").unwrap();
    }
    store.backup(copy.path()).unwrap();
    let refused = store.backup(copy.path()).unwrap_err();
    assert!(matches!(refused, Error::Option(_)), "{refused}");
    for n in 0..1000 {
        store.put(&key(n), b"after").unwrap();
    }
    store.compact().unwrap();
    let expected: Contents = (0..1000).map(|n| (key(n), b"before".to_vec())).collect();
    let backup = copy.open();
    assert_holds(&backup, &expected);
    backup.delete(&key(3)).unwrap();
    assert_eq!(store.get(&key(3)).unwrap().unwrap(), b"after");
}

#[test]
fn one_process_writes_and_others_read() {
    let dir = Dir::new();
    let store = dir.open();
    // Before the first write the store is there, and empty.
    assert_holds(&Store::open_read_only(dir.path()).unwrap(), &Contents::new());
    store.put(b"a", b"1").unwrap();
    let refused = Store::open(dir.path(), &options()).err().unwrap();
    assert!(matches!(refused, Error::OpenAlready), "{refused}");
    let reader = Store::open_read_only(dir.path()).unwrap();
    assert_eq!(reader.get(b"a").unwrap().unwrap(), b"1");
    assert!(matches!(reader.put(b"b", b""), Err(Error::ReadOnly)));
    assert!(matches!(reader.compact(), Err(Error::ReadOnly)));
    assert!(reader.verify().unwrap().damage.is_empty());
    store.put(b"a", b"2").unwrap();
    assert_eq!(Store::open_read_only(dir.path()).unwrap().get(b"a").unwrap().unwrap(), b"2");
}

#[test]
fn options_that_make_no_sense() {
    let dir = Dir::new();
    for options in [
        options().file_bytes(1),
        options().compact_share(0.0),
        options().compact_rate(0),
        options().durability(Durability::Every(Duration::ZERO)),
    ] {
        assert!(matches!(Store::open(dir.path(), &options), Err(Error::Option(_))));
    }
}

/// Two readers, two writers and a compactor at work; in the end everything is as it must be.
#[test]
fn threads_read_while_others_write_and_compact() {
    let dir = Dir::new();
    let options = Options::new().file_bytes(1 << 16).compact_share(0.2).seed(1);
    let store = Store::open(dir.path(), &options).unwrap();
    let keys: Vec<_> = (0..2000).map(key).collect();
    keys.iter().for_each(|key| store.put(key, b"fixed").unwrap());
    let done = AtomicBool::new(false);
    let read = || {
        let mut rounds = 0;
        while rounds == 0 || !done.load(Ordering::Relaxed) {
            store.get_many(&keys, |_, value| assert_eq!(value, Some(&b"fixed"[..]))).unwrap();
            keys.iter().for_each(|key| assert_eq!(store.get(key).unwrap().unwrap(), b"fixed"));
            rounds += 1;
        }
    };
    let write = |writer: u32| {
        for n in 0..20_000_u32 {
            let key = key(writer * 100_000 + n % 500);
            store.put(&key, &n.to_le_bytes()).unwrap();
            assert_eq!(store.get(&key).unwrap().unwrap(), n.to_le_bytes());
        }
    };
    thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(read)));
        let writers = [1, 2].map(|writer| scope.spawn(move || write(writer)));
        (0..5).for_each(|_| store.compact().unwrap());
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(store.len(), 3000);
    store.compact().unwrap();
    let verified = store.verify().unwrap();
    assert_eq!((verified.live, verified.damage.len()), (3000, 0));
    assert!(store.background_error().is_none());
}
