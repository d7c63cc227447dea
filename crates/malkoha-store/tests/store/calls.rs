//! Files that are read and written by system calls, as on Windows.

use std::fs::OpenOptions;
use std::sync::Arc;

use malkoha_store::storage::OsStorage;
use malkoha_store::{Batch, Compression, Error, Options, Store};

use crate::support::{Contents, Dir, assert_holds, key, options};

fn open(dir: &Dir, options: &Options) -> Store {
    let storage = OsStorage::open(dir.path()).unwrap().unmapped();
    let lock = storage.lock().unwrap().expect("nobody else has it");
    Store::open_in(Arc::new(storage), Some(lock), options).unwrap()
}

/// Written, read, compacted and opened again, in turns with mapped files.
#[test]
fn a_store_needs_no_mapping() {
    let dir = Dir::new();
    let packing = options().compression(Compression::Lz4);
    let plain = options();
    let mut expected = Contents::new();
    for round in 0..4_u8 {
        let store = if round % 2 == 0 {
            open(&dir, if round == 0 { &packing } else { &plain })
        } else {
            dir.open()
        };
        assert_holds(&store, &expected);
        let mut batch = Batch::new();
        for n in 0..400 {
            // Some of them longer than what is read at once.
            let value = vec![round; if n % 100 == 0 { 90_000 } else { 90 }];
            batch.put(&key(n + u32::from(round) * 100), &value).unwrap();
            expected.insert(key(n + u32::from(round) * 100), value);
        }
        store.apply(&batch).unwrap();
        let snapshot = store.snapshot();
        let before = expected.clone();
        for n in (0..900).step_by(3) {
            assert_eq!(store.delete(&key(n)).unwrap(), expected.remove(&key(n)).is_some());
        }
        let logs = dir.logs();
        store.compact().unwrap();
        assert!(logs.iter().any(|path| !path.exists()), "compaction removed no file");
        // It has the files that were removed.
        let found = snapshot.prefix(b"").unwrap();
        assert!(
            found
                .iter()
                .map(|it| (&*it.key, &*it.value))
                .eq(before.iter().map(|(key, value)| (&key[..], &value[..])))
        );
        assert_holds(&store, &expected);
        assert!(store.verify().unwrap().damage.is_empty());
        drop(snapshot);
        store.close().unwrap();
    }
    assert_holds(&open(&dir, &options()), &expected);
}

/// An error of the system is one of the store, of those keys alone whose records it hit.
#[test]
fn what_cannot_be_read_is_an_error() {
    let dir = Dir::new();
    let store = open(&dir, &options().file_bytes(1 << 18));
    for n in 0..2000 {
        store.put(&key(n), &[7; 200]).unwrap();
    }
    let first = OpenOptions::new().write(true).open(&dir.logs()[0]).unwrap();
    first.set_len(3 * 4096).unwrap();
    let failed = (0..2000).filter(|&n| match store.get(&key(n)) {
        Ok(found) => {
            assert_eq!(found.as_deref(), Some(&[7; 200][..]));
            false
        }
        Err(error) => {
            assert!(matches!(error, Error::Io { action: "read", .. }), "{error}");
            true
        }
    });
    let failed = failed.count();
    assert!((100..1900).contains(&failed), "{failed}");
    assert_eq!(store.verify().unwrap().lost, failed as u64);
    store.put(b"later", b"is written").unwrap();
    assert_eq!(store.get(b"later").unwrap().as_deref(), Some(&b"is written"[..]));
}
