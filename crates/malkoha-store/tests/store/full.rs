//! Full devices on real file systems: deletes give space back, and soon.
//!
//! With `MALKOHA_SOAK`, which `checks/run full` sets, each test has all of its cases. Otherwise it
//! has the first of them.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use malkoha_store::{Batch, Durability, Error, Options, Store, Table};

use crate::mounts::Loop;
use crate::support::key;
use crate::wrapped::{Hooks, Wrapped};

/// All cases of a soak, or the first few.
pub(crate) fn some<T>(few: usize, cases: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    let is_soak = std::env::var_os("MALKOHA_SOAK").is_some();
    cases.into_iter().take(if is_soak { usize::MAX } else { few })
}

pub(crate) fn full_options() -> Options {
    Options::new().background(false).durability(Durability::System)
}

/// Puts into a table until the device is full. Returns how many were put.
fn fill(table: &Table<'_>, value: &[u8]) -> u32 {
    let refused = (0..).find_map(|n| table.put(&key(n), value).err().map(|error| (n, error)));
    let (full, error) = refused.unwrap();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    full
}

/// Applies batches of so many keys from 0 on until the device is full. Returns how many it took.
pub(crate) fn fill_with(
    store: &Store,
    sizes: impl Iterator<Item = u32>,
    mut add: impl FnMut(&mut Batch, u32),
) -> u32 {
    let (mut full, mut refused) = (0, 0);
    for many in sizes {
        let mut batch = Batch::new();
        (full..full + many).for_each(|n| add(&mut batch, n));
        match store.apply(&batch) {
            Ok(_) => full += many,
            // A shorter one may have room.
            Err(Error::NoSpace { .. }) if refused < 8 => refused += 1,
            Err(Error::NoSpace { .. }) => return full,
            Err(error) => panic!("{error}"),
        }
    }
    full
}

/// A batch of so many keys, one of half, and so on, again and again.
pub(crate) fn halves(most: u32) -> impl Iterator<Item = u32> {
    (0..).map(move |n| most >> (n % 8))
}

/// Also where nothing but the table can make room for its tombstones.
#[test]
fn a_table_that_fills_a_device_can_be_removed() {
    for value in some(1, [1000, 100]) {
        let Some(device) = Loop::new(&["mkfs.ext4"], 24) else { return };
        let path = device.path().join("store");
        let store = Store::open(&path, &full_options()).unwrap();
        store.put(b"koel", b"stays").unwrap();
        let full = fill(&store.table("birds").unwrap(), &vec![7; value]);
        assert!(store.remove_table("birds").unwrap());
        assert!(store.tables().is_empty());
        assert_eq!(store.len(), 1);
        store.compact().unwrap();
        let again = fill(&store.table("hosts").unwrap(), &vec![7; value]);
        assert!(again > full / 10 * 9, "{again} of {full}, values of {value} bytes");
        store.close().unwrap();
        let store = Store::open(&path, &full_options()).unwrap();
        assert_eq!(store.get(b"koel").unwrap().as_deref(), Some(&b"stays"[..]));
        assert_eq!(store.tables(), ["hosts"]);
    }
}

/// Where little was dead in each file, the copy of one did not fit into the room that is kept for
/// it, and half of it was left: then neither keys could be deleted, nor anything be compacted, ever
/// again. And where deletes were spread over all files, the room for tombstones was used up before
/// any file had enough dead bytes, or a compaction had taken a little more than its room, and they
/// were refused although the last file had room for them. Where a tombstone is as long as what it
/// removes, no file gave back anything: only a pass over all of them does. And Btrfs refused writes
/// into room that was reserved, as they needed new pages.
///
/// Nor did the copy of a batch that is longer than a file fit into the room that is kept for one,
/// and such a batch left no room for tombstones behind it. So deletes were refused, and `compact`
/// took the room for tombstones for a part of such a copy.
#[test]
fn a_full_store_can_be_emptied() {
    const EXT4: &str = "mkfs.ext4";
    // The fourth is the keys of a batch, of half, and so on, which fill the device at once.
    let cases = [
        (EXT4, 12, 30, 0, 3000, 97),
        ("mkfs.btrfs", 128, 1000, 0, 3000, 97),
        (EXT4, 24, 100, 30_000, 1000, 97),
        (EXT4, 12, 100, 7_000, usize::MAX, 97),
        (EXT4, 24, 1000, 0, 17, 1),
        (EXT4, 24, 1000, 0, 3000, 97),
        (EXT4, 24, 100, 0, 17, 1),
        (EXT4, 24, 100, 0, 3000, 97),
        (EXT4, 12, 1, 0, usize::MAX, 1),
        (EXT4, 12, 1, 0, 3000, 97),
        (EXT4, 48, 1, 0, 3000, 97),
        (EXT4, 24, 100, 30_000, usize::MAX, 1),
        (EXT4, 24, 30, 60_000, 1000, 1),
        (EXT4, 12, 1, 60_000, 3000, 4999),
    ];
    for case in some(4, cases) {
        let (mkfs, mebibytes, value, batch, compact_after, step) = case;
        let Some(device) = Loop::new(&[mkfs], mebibytes) else { continue };
        let store = Store::open(device.path().join("store"), &full_options()).unwrap();
        let value = vec![7; value];
        let full = match batch {
            0 => fill(&store.main(), &value),
            _ => fill_with(&store, halves(batch), |batch, n| drop(batch.put(&key(n), &value))),
        };
        empty(&store, full, step, compact_after, &format!("{case:?}"));
    }
}

/// Deletes this many keys, each of some steps, and compacts once meanwhile and in the end.
fn empty(store: &Store, full: u32, step: u32, compact_after: usize, what: &str) {
    let order = (0..step).flat_map(|first| (first..full).step_by(step as usize));
    for (i, n) in order.enumerate() {
        if i == compact_after {
            store.compact().unwrap();
        }
        let deleted = store.delete(&key(n));
        assert!(deleted.as_ref().is_ok_and(|it| *it), "{i} of {full}: {deleted:?}, {what}");
    }
    store.compact().unwrap();
    assert!(store.is_empty());
}

/// Others took the room that a copy needed, or what they used kept the room of removed files, or
/// opening made the last file longer than the room for a copy: then no delete was possible any
/// more. And what had only tombstones was not given back to puts.
#[test]
fn threads_empty_a_full_store_that_is_filled_again() {
    const THREADS: u32 = 3;
    for (value, background) in some(1, [(100, false), (1, false), (30, true)]) {
        let Some(device) = Loop::new(&["mkfs.ext4"], 12) else { return };
        let (path, options) = (device.path().join("store"), full_options().background(background));
        let mut first = 0;
        for round in some(2, 0..4) {
            let store = Store::open(&path, &options).unwrap();
            let what = format!("round {round}, values of {value} bytes");
            let full = fill(&store.main(), &vec![7; value]);
            first = first.max(full);
            assert!(full > first / 10 * 7, "{full} instead of {first}, {what}");
            let delete = |n: u32| {
                let deleted = store.delete(&key(n));
                assert!(deleted.is_ok_and(|it| it), "{n} of {full}, {what}");
            };
            let order = || (0..97).flat_map(|first| (first..full).step_by(97));
            std::thread::scope(|scope| {
                for thread in 0..THREADS {
                    scope.spawn(move || order().filter(|n| n % THREADS == thread).for_each(delete));
                }
            });
            assert!(store.is_empty(), "{what}");
            if round != 1 {
                store.close().unwrap();
            }
        }
    }
}

/// The room for the copy of a long batch stayed when the batch was gone.
#[test]
fn the_reserve_gets_shorter_when_a_long_batch_is_gone() {
    const BATCH: u32 = 8 << 20;
    let Some(device) = Loop::new(&["mkfs.ext4"], 36) else { return };
    let path = device.path().join("store");
    let store = Store::open(&path, &full_options()).unwrap();
    let reserved = || std::fs::metadata(path.join("RESERVE")).map_or(0, |it| it.len());
    let value = vec![7; 4096];
    let mut batch = Batch::new();
    (0..BATCH / 4096).for_each(|n| drop(batch.put(&key(n), &value)));
    store.apply(&batch).unwrap();
    // The next file makes sure of the room for its copy.
    (0..512).for_each(|n| store.put(&key(n), &value).unwrap());
    assert!(reserved() >= u64::from(BATCH), "{}", reserved());
    (0..BATCH / 4096).for_each(|n| assert!(store.delete(&key(n)).unwrap()));
    store.compact().unwrap();
    assert!(reserved() < u64::from(BATCH) / 4, "{}", reserved());
}

/// The copy of a damaged file ended in the middle, and had taken the room that is kept for one.
/// Then nothing could be deleted or compacted.
#[test]
fn a_damaged_file_does_not_use_up_the_room_for_a_copy() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 12) else { return };
    let path = device.path().join("store");
    let store = Store::open(&path, &full_options()).unwrap();
    let full = fill(&store.main(), &[7; 100]);
    let log = std::fs::File::options().write(true).open(path.join("000000000001.log")).unwrap();
    log.write_all_at(b"damaged.", 100_000).unwrap();
    let order = (0..97).flat_map(|first| (first..full).step_by(97));
    let refused = order.filter_map(|n| store.delete(&key(n)).err());
    let no_room = refused.filter(|error| matches!(error, Error::NoSpace { .. })).count();
    assert_eq!(no_room, 0, "of {full}");
}

/// The room of a removed file comes back when nobody reads it. A delete was refused if that was not
/// at once, for example because the process started a program.
#[test]
fn deletes_wait_for_room_that_readers_keep_for_a_moment() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 12) else { return };
    let store = Store::open(device.path().join("store"), &full_options()).unwrap();
    let full = fill(&store.main(), &[7; 30]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _snapshot = store.snapshot();
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        });
        let order = (0..97).flat_map(|first| (first..full).step_by(97));
        let refused =
            order.take(20_000).find_map(|n| store.delete(&key(n)).err().map(|it| (n, it)));
        done.store(true, Ordering::Relaxed);
        assert!(refused.is_none(), "{refused:?} of {full}");
    });
}

/// Counts how often there was no room for a file.
struct Refused(AtomicU32);

impl Hooks for Refused {
    fn not_created(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Each delete that used the room for tombstones asked the full device for two files first, and
/// ext4 commits its journal before it refuses: deleting 160,000 small records took 25 seconds.
#[test]
fn deletes_of_a_full_store_seldom_ask_for_more_room() {
    let Some(device) = Loop::new(&["mkfs.ext4"], 24) else { return };
    let (storage, refused) = Wrapped::new(device.path(), Refused(AtomicU32::new(0)));
    let store = Store::open_in(storage, None, &full_options()).unwrap();
    let full = fill(&store.main(), &[7; 100]);
    empty(&store, full, 97, 3000, "");
    let refused = refused.0.load(Ordering::Relaxed);
    assert!(refused < full / 50, "{refused} refusals for {full} deletes");
}
