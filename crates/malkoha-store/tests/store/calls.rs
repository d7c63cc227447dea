//! Files that are read and written by system calls, as on Windows.

use std::sync::Arc;

use malkoha_store::storage::OsStorage;
use malkoha_store::{Batch, Compression, Options, Store};

use crate::support::{Contents, Dir, assert_holds, each_file, key, options, pairs};

pub(crate) fn open(dir: &Dir, options: &Options) -> Store {
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
            // Some of them are longer than one read.
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
        assert_eq!(pairs(snapshot.prefix(b"").unwrap()), Vec::from_iter(before));
        assert_holds(&store, &expected);
        assert!(store.verify().unwrap().damage.is_empty());
        drop(snapshot);
        store.close().unwrap();
    }
    assert_holds(&open(&dir, &options()), &expected);
}

/// What the system counts for this thread, or this process.
#[cfg(target_os = "linux")]
fn counted(file: &str, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{file}")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Each record took two reads.
#[test]
#[cfg(target_os = "linux")]
fn records_in_order_take_few_reads() {
    const KEYS: u32 = 8000;
    let dir = Dir::new();
    let store = open(&dir, &options().file_bytes(1 << 20));
    for n in 0..KEYS {
        // One of them is longer than one read.
        store.put(&key(n), &vec![7; if n == KEYS / 2 { 3 << 20 } else { 300 }]).unwrap();
    }
    store.close().unwrap();
    dir.remove("CHECKPOINT");
    let reads = || counted("thread-self/io", "syscr:");
    let begun = reads();
    let store = open(&dir, &options().file_bytes(1 << 20));
    let opened = reads();
    assert_eq!(store.len(), u64::from(KEYS));
    let of_opening = opened - begun;
    assert!(of_opening < 300, "{of_opening} reads to open");
    let begun = reads();
    let verified = store.verify().unwrap();
    assert!(verified.damage.is_empty());
    assert_eq!(store.snapshot().iter().count(), KEYS as usize);
    let in_order = reads() - begun;
    assert!(in_order < u64::from(KEYS) / 4, "{in_order} reads of all records, twice");
}

/// A file was read into memory as a whole, where it was copied because another store has it too, or
/// to see whether it is blank.
#[test]
#[cfg(target_os = "linux")]
fn files_are_read_a_piece_at_a_time() {
    const KEYS: u32 = 48;
    const BYTES: usize = (KEYS as usize) << 20;
    let dir = Dir::new();
    let store = open(&dir, &options());
    // A file as long as a batch.
    let mut batch = Batch::new();
    for n in 0..KEYS {
        batch.put(&key(n), &vec![7; 1 << 20]).unwrap();
    }
    store.apply(&batch).unwrap();
    drop(batch);
    store.close().unwrap();
    // As a backup by hard links has it, and a next file of nothing but zeros, on the device.
    let copy = Dir::new();
    each_file(dir.path(), copy.path(), std::fs::hard_link);
    copy.remove("LOCK");
    let next = format!("{:012}.log", dir.logs().len() + 1);
    std::fs::write(copy.path().join(next), vec![0; BYTES]).unwrap();
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let most = || counted("self/status", "VmHWM:") << 10;
    let before = most();
    let store = open(&copy, &options());
    let taken = most() - before;
    assert!(taken < BYTES as u64 / 3, "{taken} bytes");
    assert_eq!(store.get(&key(3)).unwrap().as_deref(), Some(&vec![7; 1 << 20][..]));
}
