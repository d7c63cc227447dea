//! Damaged, missing or shared files: they are reported, and never damaged further.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use malkoha_store::{Durability, Error, Store};

use crate::support::{
    Contents, Dir, assert_holds, contents, delete_all, each_file, filled, key, options, put_all,
};

/// Some files whose records were all synced, and no checkpoint.
pub(crate) fn without_checkpoint() -> (Dir, Contents) {
    let (dir, expected) = filled();
    dir.remove("CHECKPOINT");
    (dir, expected)
}

pub(crate) fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

/// Gives the header of a log file the checksum that matches.
pub(crate) fn seal_header(bytes: &mut [u8]) {
    let sum = crc32c::crc32c(&bytes[..60]);
    bytes[60..64].copy_from_slice(&sum.to_le_bytes());
}

/// The place of a key in a file.
pub(crate) fn place(bytes: &[u8], key: &[u8]) -> usize {
    bytes.windows(key.len()).position(|part| part == key).unwrap()
}

/// Flips a bit of a key, or of other bytes that are found once.
pub(crate) fn flip(path: &Path, what: &[u8]) {
    change(path, |bytes| {
        let at = place(bytes, what);
        bytes[at] ^= 1;
    });
}

#[track_caller]
pub(crate) fn refusal(dir: &Dir) -> String {
    let error = Store::open(dir.path(), &options()).err().expect("damage is told");
    assert!(error.is_damage(), "{error}");
    error.to_string()
}

#[test]
fn a_file_that_was_never_written_has_no_use() {
    let (dir, expected) = without_checkpoint();
    let empty = dir.path().join("000000000005.log");
    // Behind a seal only.
    let last = dir.logs()[3].clone();
    fs::remove_file(&last).unwrap();
    fs::write(&last, [0; 4096]).unwrap();
    fs::write(&empty, []).unwrap();
    // The file before it says that this one was durable before it: no, it is the last one.
    let found = contents(&dir.open());
    assert!(found.len() > 400 && found.iter().all(|(key, value)| expected.get(key) == Some(value)));
    assert!(!empty.exists());
}

/// Closing writes down that all is durable: a flipped bit then is no torn tail.
#[test]
fn damage_behind_the_last_checkpoint_is_told_after_closing() {
    for options in [options(), options().durability(Durability::Always)] {
        let dir = Dir::new();
        let store = Store::open(dir.path(), &options).unwrap();
        store.put(b"first", b"1").unwrap();
        store.put(b"last", b"2").unwrap();
        store.close().unwrap();
        let log = dir.logs()[0].clone();
        flip(&log, b"last");
        change(&dir.path().join("CHECKPOINT"), |bytes| bytes[20] ^= 1);
        assert!(refusal(&dir).contains("000000000001.log"));
        let repair = Store::repair(dir.path()).unwrap();
        assert_eq!((repair.keys, repair.skipped.len()), (1, 1));
        assert_eq!(dir.open().get(b"first").unwrap().unwrap(), b"1");
    }
}

#[test]
fn opening_tells_what_it_found() {
    let (dir, mut expected) = without_checkpoint();
    let store = dir.open();
    assert!(store.recovery().checkpoint.is_none() && store.recovery().cut.is_none());
    store.close().unwrap();
    change(&dir.path().join("CHECKPOINT"), |bytes| bytes[20] ^= 1);
    let store = dir.open();
    let damage = store.recovery().checkpoint.as_ref().unwrap().to_string();
    assert!(damage.contains("CHECKPOINT"), "{damage}");
    // What a crash of the machine leaves of a put: its second half.
    let log = dir.logs().last().unwrap().clone();
    let before = fs::read(&log).unwrap();
    store.put(b"torn", &[7; 100]).unwrap();
    let mut bytes = fs::read(&log).unwrap();
    let at = place(&bytes, b"torn");
    bytes[at - 16..at + 50].fill(0);
    drop(store);
    fs::write(&log, &bytes).unwrap();
    dir.remove("CHECKPOINT");
    let store = dir.open();
    let cut = store.recovery().cut.clone().unwrap();
    assert_eq!(cut.file, log.file_name().unwrap().to_str().unwrap());
    assert!((100..4096).contains(&cut.bytes), "{cut:?}");
    assert!(before.len() as u64 > cut.offset);
    assert_holds(&store, &expected);
    store.put(b"torn", b"whole").unwrap();
    expected.insert(b"torn".to_vec(), b"whole".to_vec());
    drop(store);
    dir.remove("CHECKPOINT");
    assert_holds(&dir.open(), &expected);
}

/// Nothing was synced, and of the first file a page is lost: the log ends there.
#[test]
fn opening_tells_of_files_behind_the_end_of_the_log() {
    let dir = Dir::new();
    let store = dir.open();
    for n in 0..600 {
        store.put(&key(n), &[1; 50]).unwrap();
    }
    let mut logs: Vec<_> =
        dir.logs().into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect();
    drop(store);
    dir.remove("CHECKPOINT");
    logs[0].0[4096..8192].fill(0);
    logs[2].0.fill(0);
    for (bytes, path) in &logs {
        fs::write(path, bytes).unwrap();
    }
    let told = |store: &Store| {
        let recovery = store.recovery();
        let cut = recovery.cut.as_ref().unwrap();
        assert!(cut.file == "000000000001.log" && (4000..=4096).contains(&cut.offset), "{cut:?}");
        let files = recovery.cut_files.iter();
        files.map(|cut| (cut.file.clone(), cut.offset, cut.bytes)).collect::<Vec<_>>()
    };
    // All that is not zero: the third one was never written.
    let bytes = |n: usize| logs[n].0.iter().rposition(|&byte| byte != 0).unwrap() as u64 + 1;
    let store = Store::open_read_only(dir.path()).unwrap();
    let found = told(&store);
    let names: Vec<_> = found.iter().map(|(name, ..)| &**name).collect();
    assert_eq!(names, ["000000000002.log", "000000000004.log"]);
    for ((_, offset, told), n) in found.iter().zip([1, 3]) {
        assert_eq!((*offset, *told), (0, bytes(n).next_multiple_of(4096)));
    }
    assert_eq!(told(&dir.open()), found);
    assert_eq!(dir.logs().len(), 1);
    assert!(dir.open().recovery().cut_files.is_empty());
}

/// Another process that reads has the file mapped: to read where it ended before would end it.
#[test]
#[cfg(unix)]
fn log_files_get_no_shorter() {
    let dir = Dir::new();
    let store = Store::open(dir.path(), &options().file_bytes(1 << 20)).unwrap();
    let mut expected = Contents::new();
    put_all(&store, &mut expected, 0..100, &[3; 40]);
    let log = dir.logs()[0].clone();
    let (length, blocks) = (log.metadata().unwrap().len(), log.metadata().unwrap().blocks());
    assert_eq!(length, 1 << 20);
    let reader = Store::open_read_only(dir.path()).unwrap();
    store.close().unwrap();
    assert_eq!(log.metadata().unwrap().len(), length);
    assert!(log.metadata().unwrap().blocks() < blocks, "its room was given back");
    let store = Store::open(dir.path(), &options().file_bytes(1 << 20)).unwrap();
    assert_eq!(log.metadata().unwrap().len(), length);
    assert!(store.delete(&key(0)).unwrap());
    store.compact().unwrap();
    let kept: u64 = dir.logs().iter().map(|log| log.metadata().unwrap().blocks()).sum();
    assert!(kept < blocks / 4, "{kept} of {blocks}: compaction reserves nothing");
    store.put(&key(0), b"room is found again").unwrap();
    assert_holds(&reader, &expected);
    assert!(reader.verify().unwrap().damage.is_empty());
}

#[test]
fn a_copy_by_links_is_a_store_of_its_own() {
    let (dir, mut expected) = without_checkpoint();
    dir.open().close().unwrap();
    let copy = Dir::new();
    for path in dir.logs() {
        fs::hard_link(&path, copy.path().join(path.file_name().unwrap())).unwrap();
    }
    let theirs = expected.clone();
    let store = copy.open();
    put_all(&store, &mut expected, 0..50, b"changed");
    assert_holds(&store, &expected);
    drop(store);
    assert_holds(&copy.open(), &expected);
    dir.remove("CHECKPOINT");
    assert_holds(&dir.open(), &theirs);
}

/// With all of its files, as `cp -al` makes it.
#[test]
#[cfg(unix)]
fn a_copy_by_links_of_a_store_in_use_is_not_in_use() {
    let (dir, expected) = filled();
    let store = dir.open();
    let copy = Dir::new();
    each_file(dir.path(), copy.path(), fs::hard_link);
    let in_use = |dir: &Dir| matches!(Store::open(dir.path(), &options()), Err(Error::OpenAlready));
    assert!(in_use(&dir));
    let copied = copy.open();
    assert!(in_use(&dir) && in_use(&copy));
    assert_holds(&copied, &expected);
    drop(store);
    assert!(in_use(&copy));
    assert_holds(&dir.open(), &expected);
    // Nor does removing the file make it writable.
    copy.remove("LOCK");
    assert!(in_use(&copy));
}

/// The mark of closing is nothing that compaction could give back.
#[test]
fn compaction_of_what_is_compact_changes_nothing() {
    let (dir, expected) = without_checkpoint();
    for _ in 0..3 {
        let store = dir.open();
        store.compact().unwrap();
        store.close().unwrap();
        assert_eq!(dir.logs().len(), 4);
    }
    assert_holds(&dir.open(), &expected);
}

#[test]
fn one_damaged_file_does_not_end_compaction() {
    let (dir, mut expected) = without_checkpoint();
    let store = dir.open();
    delete_all(&store, &mut expected, (0..600).step_by(2));
    flip(&dir.logs()[1], b"key 251");
    drop(store);
    let store = dir.open();
    let before = store.stats();
    let error = store.compact().unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("000000000002.log"), "{error}");
    let after = store.stats();
    assert!(after.log_bytes < before.log_bytes * 4 / 5, "{before:?} {after:?}");
    // What is damaged is not tried again: it would be copied again each time.
    store.compact().unwrap();
    assert_eq!(store.stats().log_bytes, after.log_bytes);
    expected.remove(&key(251));
    drop(store);
    assert_eq!(Store::repair(dir.path()).unwrap().skipped.len(), 1);
    assert_holds(&dir.open(), &expected);
}

#[test]
fn compaction_leaves_no_tombstones_where_all_files_have_something_to_give() {
    let (dir, mut expected) = without_checkpoint();
    let store = dir.open();
    delete_all(&store, &mut expected, (0..600).step_by(2));
    assert!(store.stats().tombstone_bytes > 0);
    store.compact().unwrap();
    assert_eq!((store.stats().tombstone_bytes, store.stats().dead_bytes), (0, 0));
    assert_holds(&store, &expected);
    let before = store.stats().log_bytes;
    store.compact().unwrap();
    assert_eq!(store.stats().log_bytes, before);
}

#[test]
fn nothing_is_made_where_no_store_is() {
    let dir = Dir::new();
    fs::write(dir.path().join("letter.txt"), "Dear cuckoo").unwrap();
    for path in [dir.path(), &dir.path().join("none")] {
        let refused = [
            Store::repair(path).map(drop),
            Store::open(path, &options().create(false)).map(drop),
            Store::open_read_only(path).map(drop),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(Error::NoStore(_))), "{refused:?}");
        }
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
#[cfg(unix)]
fn closing_a_store_that_did_not_change_writes_nothing() {
    let (dir, expected) = without_checkpoint();
    dir.open().close().unwrap();
    let state = || {
        let checkpoint = dir.path().join("CHECKPOINT").metadata().unwrap();
        (
            checkpoint.ino(),
            checkpoint.modified().unwrap(),
            fs::read(dir.logs().pop().unwrap()).unwrap(),
        )
    };
    let before = state();
    let store = dir.open();
    assert_holds(&store, &expected);
    store.close().unwrap();
    assert_eq!(state(), before);
}

/// Gives the checkpoint another number at this place, and the checksum that matches.
fn set_in_checkpoint(dir: &Dir, at: usize, new: u64) {
    change(&dir.path().join("CHECKPOINT"), |bytes| {
        let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
        let files = usize::try_from(number(32)).unwrap();
        let ends: u64 = (0..files).map(|n| number(64 * n + 120)).sum();
        let end = 64 + 64 * files + usize::try_from(16 * ends).unwrap();
        bytes[at..at + 8].copy_from_slice(&new.to_le_bytes());
        let sum = crc32c::crc32c(&bytes[..end]);
        bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    });
}

/// The number behind the greatest overflowed, and the next file was written before all others.
#[test]
fn numbers_that_no_store_reaches_are_refused() {
    let (dir, expected) = filled();
    let log = dir.logs()[1].clone();
    for name in [u64::MAX, u64::MAX - 1, 1 << 62].map(|id| format!("{id}.log")) {
        fs::copy(&log, dir.path().join(&name)).unwrap();
        Store::repair(dir.path()).unwrap();
        let store = dir.open();
        store.put(b"later", b"1").unwrap();
        store.close().unwrap();
        let store = dir.open();
        assert!(store.delete(b"later").unwrap());
        assert_holds(&store, &expected);
        assert!(dir.path().join(&name).exists(), "it is no store's");
    }
    for at in [16, 24] {
        set_in_checkpoint(&dir, at, u64::MAX);
        let store = dir.open();
        assert!(store.recovery().checkpoint.is_some(), "the number at {at}");
        assert_holds(&store, &expected);
    }
    let (dir, _) = without_checkpoint();
    change(&dir.logs()[0], |bytes| {
        bytes[24..32].fill(0xff);
        seal_header(bytes);
    });
    refusal(&dir);
    Store::repair(dir.path()).unwrap();
    dir.open().put(b"later", b"1").unwrap();
}

/// Numbers of a checkpoint that no store writes: sums of them overflowed at opening, and compaction
/// went back from the end of a file to before it.
#[test]
fn no_number_of_a_checkpoint_overflows() {
    let (end, dead, tombstones) = (64 + 16, 64 + 24, 64 + 32);
    for (at, new) in [(end, 1), (end, 65), (dead, u64::MAX), (tombstones, u64::MAX - 1)] {
        let (dir, expected) = filled();
        set_in_checkpoint(&dir, at, new);
        match Store::open(dir.path(), &options()) {
            Err(error) => assert!(at == end && error.is_damage(), "{error}"),
            Ok(store) => {
                assert!(at != end, "an end at {new}");
                store.compact().unwrap();
                assert_holds(&store, &expected);
            }
        }
    }
}
