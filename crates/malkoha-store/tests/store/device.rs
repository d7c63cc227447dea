//! Devices that refuse: full ones, those that may not be written to, and those whose sync fails.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use malkoha_store::storage::{OsStorage, Storage};
use malkoha_store::{Durability, Error, Options, Store};
use tempfile::TempDir;

use crate::damage::change;
use crate::full::{fill_with, some};
use crate::mounts::{Device, Loop};
use crate::simulated::Simulated;
use crate::support::{Contents, assert_holds, delete_all, key, options, put_all};

/// Puts until the device is full.
fn fill(store: &Store, expected: &mut Contents) -> Error {
    for n in 0.. {
        if let Err(error) = store.put(&key(n), &[b'v'; 1000]) {
            return error;
        }
        expected.insert(key(n), vec![b'v'; 1000]);
    }
    unreachable!("no device takes all numbers")
}

#[test]
fn a_full_device_refuses_writes_until_there_is_room() {
    let Some(device) = Device::new(3) else { return };
    let ballast = device.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let path = device.path().join("store");
    let options = options().durability(Durability::Always);
    let store = Store::open(&path, &options).unwrap();
    let checkpoint = || std::fs::read(path.join("CHECKPOINT")).unwrap();
    let first = checkpoint();
    let mut expected = Contents::new();
    let error = fill(&store, &mut expected);
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("free some space"), "{error}");
    assert!(expected.len() > 500, "{} keys", expected.len());
    assert_holds(&store, &expected);
    // Neither is anything lost by closing, nor by what finds no room then.
    store.close().unwrap();
    assert!(checkpoint() == first, "there was room for another one");
    let store = Store::open(&path, &options).unwrap();
    assert_holds(&store, &expected);
    assert!(matches!(store.put(b"large", &[0; 1 << 20]), Err(Error::NoSpace { .. })));
    assert_holds(&store, &expected);
    std::fs::remove_file(ballast).unwrap();
    delete_all(&store, &mut expected, 0..100);
    store.put(b"once more", b"yes").unwrap();
    expected.insert(b"once more".to_vec(), b"yes".to_vec());
    store.compact().unwrap();
    assert_holds(&store, &expected);
    store.close().unwrap();
    assert_holds(&Store::open(&path, &options).unwrap(), &expected);
}

#[test]
fn a_directory_that_may_not_be_written_to_can_be_read() {
    let Some(device) = Device::new(3) else { return };
    let path = device.path().join("store");
    let store = Store::open(&path, &options()).unwrap();
    let mut expected = Contents::new();
    put_all(&store, &mut expected, 0..300, b"value");
    store.close().unwrap();
    device.make_read_only();
    let Err(error) = Store::open(&path, &options()) else { panic!("it may not be written to") };
    assert!(matches!(error, Error::NotWritable { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("store'") && text.contains("open it read-only"), "{text}");
    let store = Store::open_read_only(&path).unwrap();
    assert_holds(&store, &expected);
    assert!(matches!(store.put(b"key", b"value"), Err(Error::ReadOnly)));
    assert!(matches!(store.delete(b"key 1"), Err(Error::ReadOnly)));
    assert!(matches!(store.compact(), Err(Error::ReadOnly)));
    let new = Store::open(device.path().join("new"), &options());
    assert!(matches!(new, Err(Error::NotWritable { .. })));
}

#[test]
fn a_failed_sync_ends_writing_and_nothing_else() {
    writing_ends(Simulated::fail_syncs);
}

/// On ext4 a write was once acknowledged although its sync had reported success while the journal
/// failed.
#[test]
fn a_sync_that_reports_success_in_vain_ends_writing_and_nothing_else() {
    writing_ends(Simulated::lie_about_syncs);
}

/// The same on a real one.
#[test]
fn a_journal_that_fails_ends_writing() {
    for durability in [Durability::Always, Durability::System] {
        let Some(device) = Loop::new(&["mkfs.ext4"], 16) else { return };
        let options = options().durability(durability);
        let path = device.path().join("store");
        let store = Store::open(&path, &options).unwrap();
        store.put(b"first", b"1").unwrap();
        store.sync().unwrap();
        let storage = OsStorage::open(&path).unwrap();
        storage.still_writes().unwrap();
        device.fail_journal();
        storage.still_writes().unwrap_err();
        store.put(b"second", b"2").and_then(|()| store.sync()).unwrap_err();
        assert_eq!(store.get(b"first").unwrap().as_deref(), Some(&b"1"[..]));
    }
}

fn writing_ends(fail: fn(&Simulated, bool)) {
    let storage = Simulated::default();
    let options = options().durability(Durability::Always);
    let store = Store::open_in(Arc::new(storage.clone()), None, &options).unwrap();
    let mut expected = Contents::new();
    put_all(&store, &mut expected, 0..20, b"value");
    fail(&storage, true);
    let error = store.put(b"unlucky", b"1").unwrap_err();
    assert!(matches!(error, Error::Stopped(_)), "{error}");
    // What is not durable is not shown either.
    assert_eq!(store.get(b"unlucky").unwrap(), None);
    // Even when the device works again, because it does not report twice what it dropped.
    fail(&storage, false);
    let events = storage.events();
    let refused = [
        store.put(b"later", b"1"),
        store.delete(&key(1)).map(drop),
        store.sync(),
        store.checkpoint(),
        store.compact(),
    ];
    for error in refused {
        assert!(matches!(error, Err(Error::Stopped(_))), "{error:?}");
    }
    for (key, value) in &expected {
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
    }
    assert!(matches!(store.close(), Err(Error::Stopped(_))));
    assert_eq!(storage.events(), events, "something was written after a failed sync");
    // Acknowledged writes are there, whatever happened to the write whose sync failed.
    let left = storage.crashed(events, || false);
    let store = Store::open_in(Arc::new(left), None, &options).unwrap();
    for (key, value) in &expected {
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
    }
    store.put(b"later", b"1").unwrap();
}

/// At the limit of its log, a store that has stopped writing says so at once: writes waited first
/// for a compaction that could not come.
#[test]
fn a_failed_sync_ends_writes_that_wait_for_room() {
    let storage = Simulated::default();
    let options = options().background(true);
    let store = Store::open_in(Arc::new(storage.clone()), None, &options).unwrap();
    // More than the log can be longer than what lives in it.
    store.put(b"large", &vec![1; 20 << 20]).unwrap();
    storage.fail_syncs(true);
    store.put(b"large", &vec![2; 20 << 20]).unwrap();
    store.sync().unwrap_err();
    let error = store.put(&key(0), b"later").unwrap_err();
    assert_eq!(store.metrics().held_back, Duration::ZERO);
    assert!(matches!(error, Error::Stopped(_)), "{error}");
}

/// The system regards pages whose sync failed as written. The next opening of the store once showed
/// their content, wrote behind it and reported it as durable, although the device never got it.
#[test]
fn a_failed_sync_is_made_up_for_by_opening() {
    for durability in [Durability::Always, Durability::System] {
        let storage = Simulated::default();
        let options = options().durability(durability);
        let open = || Store::open_in(Arc::new(storage.clone()), None, &options);
        let store = open().unwrap();
        for n in 0..200 {
            store.put(&key(n), &[1; 100]).unwrap();
        }
        store.sync().unwrap();
        storage.fail_syncs(true);
        let _ = store.put(b"unlucky", &[1; 3000]);
        assert!(store.sync().is_err());
        drop(store);
        // As long as the device fails, writes that it did not get are not visible.
        assert!(open().is_err());
        storage.fail_syncs(false);
        let store = open().unwrap();
        let shown = store.get(b"unlucky").unwrap();
        assert_eq!(shown.map(|value| value.len()), Some(3000));
        store.put(b"later", b"1").unwrap();
        store.sync().unwrap();
        let left = storage.crashed(storage.events(), || false);
        let store = Store::open_in(Arc::new(left), None, &options).unwrap();
        assert_eq!(store.len(), 202);
        assert!(store.get(b"unlucky").unwrap().is_some());
    }
}

#[test]
fn a_backup_that_finds_no_room_leaves_nothing() {
    let Some(device) = Device::new(1) else { return };
    let dir = TempDir::new().unwrap();
    let store = Store::open(dir.path(), &options()).unwrap();
    for n in 0..3000 {
        store.put(&key(n), &[b'v'; 1000]).unwrap();
    }
    let target = device.path().join("copy");
    let error = store.backup(&target).unwrap_err();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    assert_eq!(std::fs::read_dir(&target).unwrap().count(), 0);
    store.backup(dir.path().join("copy")).unwrap();
}

/// A store of 4000 keys, four megabytes.
fn closed_store(device: &Device) -> (PathBuf, Options) {
    let (path, options) = (device.path().join("store"), Options::new().background(false));
    let store = Store::open(&path, &options).unwrap();
    for n in 0..4000 {
        store.put(&key(n), &[7; 1000]).unwrap();
    }
    store.close().unwrap();
    (path, options)
}

/// Takes what a device has left.
fn fill_up(ballast: &Path) {
    let mut file = std::fs::File::create(ballast).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
}

/// The room for tombstones was given back by closing, and others took it.
#[test]
fn what_others_filled_meanwhile_takes_deletes() {
    let Some(device) = Device::new(16) else { return };
    let (path, options) = closed_store(&device);
    fill_up(&device.path().join("ballast"));
    let store = Store::open(&path, &options).unwrap();
    assert!(matches!(store.put(b"large", &[0; 1 << 18]), Err(Error::NoSpace { .. })));
    for n in 0..4000 {
        assert!(store.delete(&key(n)).unwrap(), "{n}");
    }
    assert!(store.is_empty());
    store.compact().unwrap();
    store.put(b"once more", b"yes").unwrap();
}

/// A repair that ends early leaves no checkpoint with which the damaged store would open as if
/// nothing was lost, and the damaged file be removed.
#[test]
fn a_repair_that_cannot_rename_hides_no_damage() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 8) else { return };
    let path = device.path().join("store");
    let store = Store::open(&path, &options()).unwrap();
    for n in 0..100 {
        store.put(&key(n), &[7; 1000]).unwrap();
    }
    store.close().unwrap();
    std::fs::remove_file(path.join("CHECKPOINT")).unwrap();
    let log = path.join("000000000001.log");
    change(&log, |bytes| bytes[500] ^= 1);
    let chattr = |how: &str| {
        let status = Command::new("chattr").arg(how).arg(&log).status();
        assert!(status.is_ok_and(|status| status.success()), "chattr comes with mkfs.ext4");
    };
    chattr("+i");
    assert!(matches!(Store::repair(&path), Err(Error::Io { action: "rename", .. })));
    chattr("-i");
    assert!(Store::open(&path, &options()).err().expect("it is damaged").is_damage());
    let repair = Store::repair(&path).unwrap();
    assert_eq!((repair.keys, &repair.lost_keys[0].key), (99, &key(0)));
    assert_eq!(repair.set_aside, ["000000000001.log.damaged"]);
}

/// A file that cannot be read at all got its other name first. Where the repair then ended early,
/// and no checkpoint names the file, the store opened as if compaction had removed it.
#[test]
fn a_repair_that_finds_no_room_moves_no_file_that_it_cannot_read() {
    let Some(device) = Device::new(16) else { return };
    let (path, options) = closed_store(&device);
    std::fs::remove_file(path.join("CHECKPOINT")).unwrap();
    let [first, second] = [1, 2].map(|n| path.join(format!("{n:012}.log")));
    change(&first, |bytes| bytes[500] ^= 1);
    change(&second, |bytes| bytes.fill(0x55));
    let ballast = device.path().join("ballast");
    fill_up(&ballast);
    assert!(matches!(Store::repair(&path), Err(Error::NoSpace { .. })));
    assert!(Store::open(&path, &options).err().expect("it is damaged").is_damage());
    change(&first, |bytes| bytes[500] ^= 1);
    assert!(Store::open(&path, &options).err().expect("it is damaged").is_damage());
    std::fs::remove_file(ballast).unwrap();
    assert_eq!(Store::repair(&path).unwrap().set_aside, ["000000000002.log.damaged"]);
}

/// At the limit of 8 TiB the next file got places that the index cannot have: what was written
/// there ended writing, and then no opening could read it.
#[test]
fn a_log_as_long_as_it_can_be_refuses_puts_and_takes_deletes() {
    let dir = TempDir::new().unwrap();
    let options = options().file_bytes(1 << 16);
    let mut expected = Contents::new();
    let open = || Store::open(dir.path(), &options).unwrap();
    let store = open();
    put_all(&store, &mut expected, 0..200, &[7; 100]);
    store.close().unwrap();
    // All places belong to the first file, most of which is a hole.
    let log = std::fs::File::options().write(true).open(dir.path().join("000000000001.log"));
    if log.unwrap().set_len(8 << 40).is_err() {
        eprintln!("skipped: the file system has no files of 8 TiB");
        return;
    }
    let store = open();
    let refused = (200..2000).find_map(|n| {
        let put = store.put(&key(n), &[7; 100]);
        if put.is_ok() {
            expected.insert(key(n), vec![7; 100]);
        }
        put.err()
    });
    assert!(matches!(refused, Some(Error::NoSpace { .. })), "{refused:?}");
    delete_all(&store, &mut expected, 0..20);
    assert_holds(&store, &expected);
    drop(store);
    assert_holds(&open(), &expected);
}

/// Of a full device of 64 MiB exactly 128 keys could be deleted, and then nothing be done ever
/// again.
#[test]
fn a_real_device_is_filled_and_emptied() {
    let (mebibytes, rounds) = some(1, [(12, 2), (64, 10)]).last().unwrap();
    let Some(device) = Loop::new(&["mkfs.ext4"], mebibytes) else { return };
    let options = Options::new().background(false);
    let path = device.path().join("store");
    let mut filled = Vec::new();
    for round in 0..rounds {
        let store = Store::open(&path, &options).unwrap();
        let name = |n: u32| format!("{round} {n:012}").into_bytes();
        let refused = (0..).find_map(|n| store.put(&name(n), &[7; 1000]).err().map(|it| (n, it)));
        let (full, error) = refused.unwrap();
        assert!(matches!(error, Error::NoSpace { .. }), "{error}");
        filled.push(full);
        assert_eq!(store.len(), u64::from(full));
        // Neither closing nor opening needs room.
        store.close().unwrap();
        let store = Store::open(&path, &options).unwrap();
        assert_eq!(store.len(), u64::from(full), "round {round}");
        // In an order in which no file is dead before the others.
        for n in (0..7).flat_map(|first| (first..full).step_by(7)) {
            assert!(store.delete(&name(n)).unwrap(), "{n} of {full}, round {round}");
        }
        assert!(store.is_empty());
        store.compact().unwrap();
        store.close().unwrap();
    }
    let (least, most) = (filled.iter().min().unwrap(), filled.iter().max().unwrap());
    assert!(u64::from(*least) > mebibytes * 600 && *least > most * 9 / 10, "{filled:?}");
}

/// On a full file system that copies on write, the next write to a page of the log that was synced
/// needs a block, and ended the process where it went through a mapping.
#[test]
fn a_full_file_system_that_copies_on_write_ends_nothing() {
    let Some(device) = Loop::new(&["mkfs.btrfs", "--mixed"], 24) else { return };
    let options = Options::new().durability(Durability::Every(Duration::from_millis(1)));
    let store = Store::open(device.path().join("store"), &options).unwrap();
    store.put(b"first", &[1; 1000]).unwrap();
    store.sync().unwrap();
    let mut ballast = std::fs::File::create(device.path().join("ballast")).unwrap();
    while ballast.write_all(&[1; 1 << 16]).is_ok() {}
    let _ = ballast.sync_all();
    let mut expected = Contents::from([(b"first".to_vec(), vec![1; 1000])]);
    let mut refused = 0;
    for n in 0..50_000 {
        if refused == 20 {
            break;
        }
        match store.put(&key(n), &[7; 100]) {
            Ok(()) => drop(expected.insert(key(n), vec![7; 100])),
            Err(Error::NoSpace { .. } | Error::Stopped(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 0, "it is not full");
    for (key, value) in &expected {
        assert_eq!(store.get(key).unwrap().as_ref(), Some(value));
    }
    drop((store, ballast));
    std::fs::remove_file(device.path().join("ballast")).unwrap();
    let store = Store::open(device.path().join("store"), &options).unwrap();
    assert!(store.get(b"first").unwrap().is_some());
    store.put(b"later", b"1").unwrap();
    store.close().unwrap();
}

/// Whoever did not ask for a way of writing, as a repair, wrote through mappings there.
#[test]
fn on_a_file_system_that_copies_on_write_nothing_is_written_through_a_mapping() {
    let Some(device) = Loop::new(&["mkfs.btrfs", "--mixed"], 24) else { return };
    let storage = OsStorage::open(device.path()).unwrap();
    assert!(format!("{storage:?}").contains("Calls"), "{storage:?}");
}

/// To give room back can take room, on some file systems: then it stays where it is.
#[test]
fn room_that_cannot_be_given_back_changes_nothing_else() {
    let storage = Simulated::default();
    let options = options().durability(Durability::Always);
    let store = Store::open_in(Arc::new(storage.clone()), None, &options).unwrap();
    storage.keep_room();
    let mut expected = Contents::new();
    put_all(&store, &mut expected, 0..300, &[7; 100]);
    assert_holds(&store, &expected);
    let left = storage.crashed(storage.events(), || false);
    assert_holds(&Store::open_in(Arc::new(left), None, &options).unwrap(), &expected);
}

/// A file that compaction could not remove has keys still that only later files say were deleted.
/// Without a checkpoint, the log is all that counts.
#[test]
fn a_file_that_cannot_be_removed_brings_nothing_back() {
    let storage = Simulated::default();
    let open = || Store::open_in(Arc::new(storage.clone()), None, &options()).unwrap();
    let store = open();
    for value in [1, 2] {
        (0..600).for_each(|n| store.put(&key(n), &[value; 50]).unwrap());
    }
    storage.fail_removals(true);
    let error = store.compact().unwrap_err();
    assert!(error.to_string().contains("remove '000000000001.log'"), "{error}");
    storage.fail_removals(false);
    for n in 0..600 {
        assert!(store.delete(&key(n)).unwrap());
    }
    store.compact().unwrap();
    store.close().unwrap();
    storage.remove("CHECKPOINT").unwrap();
    let store = open();
    assert!(store.is_empty(), "{} keys came back", store.len());
}

/// On a full device compaction used the room that is kept for it, and the new checkpoint took that
/// room. The next puts took the rest: then no key could be deleted, and compaction had nothing to
/// give, for ever.
#[test]
fn compaction_of_a_full_store_leaves_room_for_the_next() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 20) else { return };
    let options = Options::new().background(false).durability(Durability::System);
    let path = device.path().join("store");
    let open = || Store::open(&path, &options).unwrap();
    let store = open();
    // Batches longer than a file.
    let full = fill_with(&store, std::iter::repeat(5000), |batch, n| {
        batch.put(&key(n), &[7; 200]).unwrap();
    });
    store.close().unwrap();
    // Other files leave too little room for a checkpoint, or for a file of full length.
    let _ = std::fs::remove_file(path.join("CHECKPOINT"));
    let mut ballast = std::fs::File::create(device.path().join("ballast")).unwrap();
    while ballast.write_all(&[1; 1 << 12]).is_ok() {}
    ballast.set_len(ballast.metadata().unwrap().len() - (300 << 10)).unwrap();
    let mut n = 0;
    for value in [1, 70_000, 40_000, 1] {
        for _ in 0..3 {
            let store = open();
            assert!(store.delete(&key(n)).unwrap(), "{n}, before values of {value} bytes");
            store.close().unwrap();
            n += 1;
        }
        // The last file has dead marks now.
        let store = open();
        store.compact().unwrap();
        store.close().unwrap();
        assert!(path.join("RESERVE").exists(), "before values of {value} bytes");
        let store = open();
        let refused = (full..).find_map(|n| store.put(&key(n), &vec![1; value]).err());
        assert!(matches!(refused, Some(Error::NoSpace { .. })), "{refused:?}");
        store.close().unwrap();
    }
}
