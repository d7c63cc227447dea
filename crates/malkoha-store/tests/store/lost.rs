//! Devices that lose what was written. A file that is truncated while it is mapped behaves alike:
//! reading the missing pages raises the same signal as a bad sector, which once ended the process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use malkoha_store::storage::{OsStorage, Storage, StorageFile, View};
use malkoha_store::{Batch, Error, Options, Store};
use rustix::fs::{Advice, fadvise};

use crate::mounts::Loop;
use crate::support::{Contents, Dir, assert_holds, contents, key, options, put_all};
use crate::wrapped::{Hooks, Wrapped};

const KEYS: u32 = 3000;

/// A store of several files of some pages, closed, and what is in it.
fn store_of_large_files() -> (Dir, Contents, Options) {
    let dir = Dir::new();
    let options = options().file_bytes(1 << 18);
    let store = Store::open(dir.path(), &options).unwrap();
    let mut expected = Contents::new();
    put_all(&store, &mut expected, 0..KEYS, &[7; 200]);
    store.close().unwrap();
    assert!(dir.logs().len() > 1);
    (dir, expected, options)
}

fn cut(path: &Path, bytes: u64) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

#[test]
fn what_cannot_be_read_is_an_error_and_ends_no_process() {
    cannot_be_read(|dir, options| Store::open(dir.path(), options).unwrap());
    cannot_be_read(crate::calls::open);
}

fn cannot_be_read(open: impl Fn(&Dir, &Options) -> Store) {
    let (dir, expected, options) = store_of_large_files();
    let store = open(&dir, &options);
    cut(&dir.logs()[0], 3 * 4096);
    let (mut read, mut failed) = (0, 0);
    for (key, value) in &expected {
        match store.get(key) {
            Ok(found) => {
                assert_eq!(found.as_ref(), Some(value));
                read += 1;
            }
            Err(error) => {
                assert!(matches!(error, Error::Io { action: "read", .. }), "{error}");
                assert!(error.to_string().contains("'000000000001.log'"), "{error}");
                failed += 1;
            }
        }
    }
    assert!(read > 100 && failed > 100, "{read} and {failed}");
    // Many at once, a snapshot and verification get there too, and say the same.
    let keys: Vec<_> = expected.keys().collect();
    assert!(matches!(store.get_many(&keys, |_, _| ()), Err(Error::Io { .. })));
    let snapshot = store.snapshot();
    let whole = snapshot.iter().filter(Result::is_ok).count();
    assert_eq!(whole, read);
    let found = store.verify().unwrap();
    assert!(!found.damage.is_empty());
    assert_eq!(found.lost, failed);
    // What is read again is not copied by compaction, and nothing is lost by it.
    for n in (0..KEYS).step_by(2) {
        let _ = store.delete(&key(n));
    }
    assert!(store.compact().is_err());
    for n in (1..KEYS).step_by(2) {
        if let Ok(value) = store.get(&key(n)) {
            assert_eq!(value.as_ref(), expected.get(&key(n)));
        }
    }
}

/// A lost page is no longer a part of the file's mapping: syncing that left the page out, and
/// reported success.
#[test]
#[cfg(all(unix, not(malkoha_calls)))]
fn a_full_file_that_lost_a_page_cannot_be_synced() {
    let dir = Dir::new();
    let file = OsStorage::open(dir.path()).unwrap().create("file", 2 * 4096).unwrap();
    let map = file.view().unwrap();
    file.write_at(0, &[7; 2 * 4096]).unwrap();
    file.close();
    file.sync().unwrap();
    cut(&dir.path().join("file"), 4096);
    assert_eq!(map.get(4096, 1).as_deref(), Some(&[0][..]));
    assert!(map.is_lost());
    assert!(file.sync().is_err());
}

#[test]
fn repair_gets_past_what_cannot_be_read() {
    let (dir, expected, options) = store_of_large_files();
    cut(&dir.logs()[1], 5 * 4096);
    // The length says that something is missing: a bad sector does not.
    let log = dir.logs()[1].clone();
    let found = Store::open(dir.path(), &options).err().expect("it is damaged");
    assert!(found.is_damage(), "{found}");
    let repair = Store::repair(dir.path()).unwrap();
    assert!(!repair.skipped.is_empty());
    assert!(log.with_extension("log.damaged").exists());
    let store = Store::open(dir.path(), &options).unwrap();
    assert_eq!(store.len(), repair.keys);
    assert!(repair.keys > 100 && repair.keys < u64::from(KEYS), "{}", repair.keys);
    for (key, value) in &expected {
        let found = store.get(key).unwrap();
        assert!(found.is_none_or(|found| found == *value));
    }
}

/// Each of 132 guesses at a header that cannot be read had the device fail at every page of the
/// file again, which takes a disk seconds.
#[test]
fn repair_tries_bad_pages_few_times() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 32) else { return };
    let path = device.path().join("store");
    let options = options().file_bytes(1 << 18);
    let store = Store::open(&path, &options).unwrap();
    (0..80_000).for_each(|n| store.put(&key(n), &[7; 200]).unwrap());
    store.close().unwrap();
    fs::remove_file(path.join("CHECKPOINT")).unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        fadvise(fs::File::open(entry.unwrap().path()).unwrap(), 0, None, Advice::DontNeed).unwrap();
    }
    device.cut(20);
    let before = device.reads();
    let repair = Store::repair(&path).unwrap();
    let (reads, lost) = (device.reads() - before, repair.set_aside.len() as u64 * (1 << 18 >> 12));
    assert!(repair.keys > 1000 && lost > 1000, "{} keys, {lost} pages", repair.keys);
    assert!(reads < 10 * lost, "{reads} reads of {lost} pages");
}

/// Cuts a file once it is mapped, as sectors go bad.
struct Failing(PathBuf);

impl Hooks for Failing {
    fn view(&self, name: &str, file: &dyn StorageFile) -> io::Result<Arc<View>> {
        if !self.0.ends_with(name) {
            return file.view();
        }
        // As long as ever when it is mapped.
        cut(&self.0, 1 << 18);
        let view = file.view();
        cut(&self.0, 4096);
        view
    }
}

/// Zeros in the place of a lost page looked like the end of the log: all behind it would be cut
/// off.
#[test]
fn a_log_that_cannot_be_read_does_not_end_there() {
    for which in [0, 1, 2] {
        let (dir, _, options) = store_of_large_files();
        dir.remove("CHECKPOINT");
        let logs = dir.logs();
        let (storage, _) = Wrapped::new(dir.path(), Failing(logs[which].clone()));
        let error = Store::open_in(storage, None, &options).err().expect("it fails");
        assert!(matches!(error, Error::Io { action: "read", .. }), "{error}");
        assert_eq!(dir.logs(), logs);
    }
}

/// A log file whose inode does not match its checksum cannot be opened, looked at, renamed or
/// removed. Nothing of the store could be read then, not even past damage.
#[test]
fn a_file_that_cannot_be_opened_is_a_damaged_one() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 16) else { return };
    let path = device.path().join("store");
    let mut expected = Contents::new();
    let store = Store::open(&path, &options()).unwrap();
    put_all(&store, &mut expected, 0..600, &[1; 50]);
    store.close().unwrap();
    let broken = path.join("000000000002.log");
    device.damage_inode(&broken);
    let refused = Store::open(&path, &options()).err().expect("it is damaged").to_string();
    assert!(refused.contains("cannot read '000000000002.log'"), "{refused}");
    let store = Store::open_past_damage(&path).unwrap();
    let skipped: Vec<_> = store.recovery().skipped.iter().map(Error::to_string).collect();
    assert!(skipped.iter().any(|it| it.contains("cannot read '000000000002.log'")), "{skipped:?}");
    let left = contents(&store);
    assert!((300..600).contains(&left.len()), "{} keys are left", left.len());
    assert!(left.iter().all(|(key, value)| expected.get(key) == Some(value)));
    assert!(store.verify().unwrap().damage.is_empty());
    drop(store);
    // Only a check of the file system moves such a file.
    let refused = Store::repair(&path).unwrap_err().to_string();
    assert!(refused.contains("rename '000000000002.log'") && refused.contains("fsck"), "{refused}");
    device.damage_inode(&broken);
    assert_holds(&Store::open(&path, &options()).unwrap(), &expected);
}

/// Looked up one by one, many at once, and in the order of the log, with long values among them. On
/// file systems in memory they stay there.
#[test]
fn what_is_on_the_device_alone_is_found() {
    let dir = Dir::new();
    let mut expected = Contents::new();
    let store = dir.open();
    let mut batch = Batch::new();
    for n in 0..20_000_u32 {
        let bytes = if n % 500 == 0 { 100_000 } else { 100 };
        let value = vec![n.to_le_bytes()[0]; bytes];
        batch.put(&key(n), &value).unwrap();
        expected.insert(key(n), value);
        if batch.len() == 100 {
            store.apply(&batch).unwrap();
            batch.clear();
        }
    }
    store.close().unwrap();
    for path in dir.logs() {
        let file = fs::File::open(path).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
    let store = Store::open_read_only(dir.path()).unwrap();
    let keys: Vec<&[u8]> = expected.keys().map(|key| &key[..]).collect();
    let found = |i: usize, value: Option<&[u8]>| {
        assert_eq!(value, expected.get(keys[i]).map(|value| &value[..]));
    };
    store.get_many(&keys, found).unwrap();
    assert_holds(&store, &expected);
}
