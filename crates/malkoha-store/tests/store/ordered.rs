//! Keys that are kept in order, against a sorted map.

use std::fs;
use std::io;
use std::ops::Bound;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use malkoha_store::{Batch, Error, Snapshot, Store, TableSnapshot};

use crate::support::{Contents, Dir, Random, each_file, key, options, pairs};
use crate::wrapped::{Hooks, Wrapped};

/// The store itself and two tables; the last one has no order.
const TABLES: [&str; 3] = ["", "birds", "hosts"];

fn open(dir: &Dir) -> Store {
    Store::open(dir.path(), &options().file_bytes(1 << 12)).unwrap()
}

fn table<'s>(snapshot: &'s Snapshot, name: &str) -> TableSnapshot<'s> {
    if name.is_empty() { snapshot.main() } else { snapshot.table(name).unwrap() }
}

fn below(random: &mut Random, n: usize) -> usize {
    usize::try_from(random.below(n as u64)).unwrap()
}

/// Few different keys of bytes at either end, and some with a long beginning in common.
fn random_key(random: &mut Random) -> Vec<u8> {
    let mut key = if random.below(8) == 0 { vec![b'a'; 3000] } else { Vec::new() };
    (0..random.below(5)).for_each(|_| key.push([0, b'a', b'b', 0xff][below(random, 4)]));
    key
}

/// Some ranges of a table have what they should have.
fn check(snapshot: &Snapshot, states: &[Contents; 3], random: &mut Random) {
    let keys: u64 = states.iter().map(|state| state.len() as u64).sum();
    assert!(snapshot.len() >= keys);
    for (name, state) in TABLES.iter().zip(states) {
        let table = table(snapshot, name);
        let wanted = |is_wanted: &dyn Fn(&[u8]) -> bool| -> Vec<_> {
            let all = state.iter().filter(|(key, _)| is_wanted(key));
            all.map(|(key, value)| (key.clone(), value.clone())).collect()
        };
        let mut all = pairs(table.iter());
        if *name == "hosts" {
            all.sort();
        }
        assert_eq!(all, wanted(&|_| true));
        let (a, b) = (random_key(random), random_key(random));
        for key in [&a, &b] {
            assert_eq!(table.get(key).unwrap().as_deref(), state.get(key).map(Vec::as_slice));
        }
        assert_eq!(pairs(table.prefix(&a).unwrap()), wanted(&|key| key.starts_with(&a)));
        let mut bound = |key| match random.below(3) {
            0 => Bound::Unbounded,
            1 => Bound::Included(key),
            _ => Bound::Excluded(key),
        };
        let range = (bound(&a[..]), bound(&b[..]));
        let contains = |key: &[u8]| std::ops::RangeBounds::<[u8]>::contains(&range, key);
        assert_eq!(pairs(table.range(range).unwrap()), wanted(&contains), "{range:?}");
    }
}

fn runs(dir: &Dir) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut runs: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|it| it == "run")).collect();
    runs.sort();
    runs
}

/// Makes a file of sorted records missing, torn, or another one.
fn spoil(path: &PathBuf, other: &PathBuf, random: &mut Random) {
    let mut bytes = fs::read(path).unwrap();
    let Some(last) = bytes.len().checked_sub(1) else { return };
    let at = below(random, last + 1);
    match random.below(4) {
        0 => return fs::remove_file(path).unwrap(),
        1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes.truncate(at),
        _ => bytes = fs::read(other).unwrap_or_default(),
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn random_operations_agree_with_a_sorted_map() {
    for seed in 1..=3 {
        let (dir, mut random) = (Dir::new(), Random(seed));
        let options = options().file_bytes(1 << 12).ordered(true);
        let mut store = Store::open(dir.path(), &options).unwrap();
        store.ordered_table("birds").unwrap();
        store.table("hosts").unwrap();
        let mut states: [Contents; 3] = Default::default();
        let mut kept: Option<(Snapshot, [Contents; 3])> = None;
        for step in 0..700 {
            let number = below(&mut random, 3);
            let (name, key) = (TABLES[number], random_key(&mut random));
            let value = vec![7; below(&mut random, 60)];
            let state = &mut states[number];
            let table = if name.is_empty() { store.main() } else { store.table(name).unwrap() };
            match random.below(60) {
                0 => store.compact().unwrap(),
                1 => store.checkpoint().unwrap(),
                2 => kept = Some((store.snapshot(), states.clone())),
                3 => store.sort(|_, _| true).unwrap(),
                4 | 5 => {
                    store.close().unwrap();
                    let runs = runs(&dir);
                    assert!(!runs.is_empty());
                    for path in &runs {
                        let other = &runs[below(&mut random, runs.len())];
                        if random.below(3) == 0 && path.exists() {
                            spoil(path, other, &mut random);
                        }
                    }
                    store = open(&dir);
                }
                6..10 => check(&store.snapshot(), &states, &mut random),
                10..14 => {
                    let mut batch = Batch::new();
                    batch.within(name);
                    for n in 0..random.below(5) {
                        let key = random_key(&mut random);
                        if n == 3 {
                            batch.delete(&key).unwrap();
                            state.remove(&key);
                        } else {
                            batch.put(&key, &value).unwrap();
                            state.insert(key, value.clone());
                        }
                    }
                    store.apply(&batch).unwrap();
                }
                14..25 => {
                    assert_eq!(table.delete(&key).unwrap(), state.remove(&key).is_some());
                }
                25..28 => {
                    table.put_for(&key, &value, Duration::ZERO).unwrap();
                    state.remove(&key);
                }
                _ => {
                    table.put(&key, &value).unwrap();
                    state.insert(key, value);
                }
            }
            if let Some((snapshot, states)) = kept.as_ref().filter(|_| step % 50 == 0) {
                check(snapshot, states, &mut random);
            }
        }
        check(&store.snapshot(), &states, &mut random);
        check(&Store::open_read_only(dir.path()).unwrap().snapshot(), &states, &mut random);
        let copy = Dir::new();
        store.backup(copy.path()).unwrap();
        check(&open(&copy).snapshot(), &states, &mut random);
    }
}

/// Sorting for another table went past records of a table that was not kept in order meanwhile.
#[test]
fn records_of_a_time_without_order_are_in_order_later() {
    let dir = Dir::new();
    let store = open(&dir);
    let [birds, hosts] = ["birds", "hosts"].map(|name| store.ordered_table(name).unwrap());
    for (n, is_ordered) in (1..).zip([true, false, true]) {
        birds.set_ordered(is_ordered).unwrap();
        for ordered in [&birds, &hosts] {
            ordered.put(&key(n), b"").unwrap();
        }
        let snapshot = store.snapshot();
        for name in ["hosts", "birds"] {
            let found = pairs(table(&snapshot, name).iter());
            assert!(found.iter().map(|(name, _)| name).eq(&(1..=n).map(key).collect::<Vec<_>>()));
        }
    }
}

/// A store of some files, in order, whose records are all sorted.
fn sorted() -> (Dir, Contents) {
    let dir = Dir::new();
    let store = Store::open(dir.path(), &options().file_bytes(1 << 12).ordered(true)).unwrap();
    let mut expected = Contents::new();
    for n in 0..200_u32 {
        // Neighbours by key are not neighbours in the log.
        let name = key(n.wrapping_mul(7919) % 1000);
        store.put(&name, b"value").unwrap();
        expected.insert(name, b"value".to_vec());
    }
    store.close().unwrap();
    (dir, expected)
}

#[test]
fn no_flipped_bit_of_a_run_changes_a_result() {
    let (dir, expected) = sorted();
    let path = &runs(&dir)[0];
    let bytes = fs::read(path).unwrap();
    let wanted = Vec::from_iter(expected);
    for bit in (0..bytes.len() * 8).step_by(11) {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(path, changed).unwrap();
        let store = Store::open_read_only(dir.path()).unwrap();
        assert_eq!(pairs(store.snapshot().iter()), wanted, "bit {bit}");
    }
}

/// A file with right checksums that has a record twice, and none of another.
#[test]
fn a_hostile_run_repeats_no_key() {
    let (dir, expected) = sorted();
    let path = &runs(&dir)[0];
    let mut bytes = fs::read(path).unwrap();
    let end = bytes.len();
    bytes.copy_within(end - 8..end - 4, end - 4);
    let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..60]), &bytes[64..]);
    bytes[60..64].copy_from_slice(&sum.to_le_bytes());
    fs::write(path, bytes).unwrap();
    let found = pairs(Store::open_read_only(dir.path()).unwrap().snapshot().iter());
    assert!(found.is_sorted_by(|a, b| a.0 < b.0) && found.len() == expected.len() - 1);
}

/// A damaged key would lead a search elsewhere, and records near it would be missing.
#[test]
fn damage_in_the_log_is_an_error_and_the_rest_is_found() {
    let (dir, expected) = sorted();
    let logs = dir.logs();
    assert!(logs.len() > 1);
    for (name, _) in expected.iter().step_by(5) {
        let found = logs.iter().find_map(|path| {
            let bytes = fs::read(path).unwrap();
            let at = bytes
                .windows(name.len() + 1)
                .rposition(|part| part[..name.len()] == **name && part[name.len()] == b'v');
            at.map(|at| (path, bytes, at))
        });
        let (path, bytes, at) = found.unwrap();
        // In order behind or before all others.
        for byte in [b'z', b'A'] {
            let mut damaged = bytes.clone();
            damaged[at] = byte;
            fs::write(path, damaged).unwrap();
            let store = Store::open_read_only(dir.path()).unwrap();
            let snapshot = store.snapshot();
            let ranges = [snapshot.iter(), snapshot.prefix(&name[..5]).unwrap()];
            for (i, entries) in ranges.into_iter().enumerate() {
                let (found, errors): (Vec<_>, Vec<_>) = entries.partition(Result::is_ok);
                let found = found.into_iter().map(|entry| entry.unwrap().key.to_vec());
                let is_wanted =
                    |it: &&Vec<u8>| *it != name && (i == 0 || it.starts_with(&name[..5]));
                let wanted: Vec<_> = expected.keys().filter(is_wanted).cloned().collect();
                assert_eq!(Vec::from_iter(found), wanted);
                // A range need not read it, if the damage is not in its way.
                assert!(errors.len() == 1 || i == 1 && errors.is_empty(), "{errors:?}");
                errors.iter().for_each(|it| assert!(it.as_ref().err().unwrap().is_damage()));
            }
            // No range that should have it comes without an error.
            let range = (Bound::Included(&name[..]), Bound::Included(&name[..]));
            let mut found = snapshot.range(range).unwrap();
            assert!(matches!(found.next(), Some(Err(Error::Damaged { .. }))), "{name:?}");
            assert!(found.next().is_none());
        }
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn order_is_kept_with_the_store_and_other_options_are_refused() {
    let (dir, ordered) = (Dir::new(), options().ordered(true));
    let store = dir.open();
    let plain = store.table("plain").unwrap();
    plain.put(b"koel", b"1").unwrap();
    store.put(b"koel", b"2").unwrap();
    let refused = store.ordered_table("plain").err().unwrap();
    assert!(refused.to_string().starts_with("keys of table 'plain' are in no order"), "{refused}");
    store.close().unwrap();
    assert!(runs(&dir).is_empty());
    let refused = Store::open(dir.path(), &ordered).err().unwrap();
    assert!(refused.to_string().starts_with("the store's keys are in no order"), "{refused}");
    // Without an option it is as it was, whatever that is.
    let store = dir.open();
    assert!(!store.main().is_ordered());
    store.main().set_ordered(true).unwrap();
    store.table("plain").unwrap().set_ordered(true).unwrap();
    let mut told = Vec::new();
    store
        .sort(|done, all| {
            told.push((done, all));
            true
        })
        .unwrap();
    assert!(told.is_sorted() && told.last().is_some_and(|(done, all)| done == all), "{told:?}");
    assert!(!runs(&dir).is_empty());
    store.close().unwrap();
    let refused = Store::open(dir.path(), &options().ordered(false)).err().unwrap();
    assert!(matches!(refused, Error::Order(_)), "{refused}");
    let store = Store::open(dir.path(), &ordered).unwrap();
    assert!(store.ordered_table("plain").unwrap().is_ordered());
    // A table that is removed and made again has the order of its new making.
    assert!(store.remove_table("plain").unwrap());
    assert!(!store.table("plain").unwrap().is_ordered());
    store.main().set_ordered(false).unwrap();
    store.close().unwrap();
    // Nobody needs them any more.
    dir.open().close().unwrap();
    assert!(runs(&dir).is_empty());
}

/// The last file of a store that was not closed can be missing. The next one has its number.
#[test]
fn runs_of_lost_records_are_not_used() {
    let (dir, _) = sorted();
    let lost = dir.logs().pop().unwrap();
    dir.remove("CHECKPOINT");
    fs::remove_file(&lost).unwrap();
    assert!(lost.with_extension("run").exists());
    let store = open(&dir);
    assert!(!lost.with_extension("run").exists());
    let mut expected = Vec::from_iter(crate::support::contents(&store));
    for n in 2000..2050 {
        store.put(&key(n), b"new").unwrap();
        expected.push((key(n), b"new".to_vec()));
    }
    expected.sort();
    drop(store);
    assert!(lost.with_extension("run").exists());
    assert_eq!(pairs(open(&dir).snapshot().iter()), expected);
}

struct Full(AtomicBool);

impl Hooks for Full {
    fn before_create(&self, name: &str) -> io::Result<()> {
        let is_full = name.ends_with(".run") && self.0.load(Ordering::Relaxed);
        if is_full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}

#[test]
fn a_full_device_leaves_sorted_records_in_memory() {
    let dir = Dir::new();
    let (storage, full) = Wrapped::new(dir.path(), Full(AtomicBool::new(true)));
    let options = options().file_bytes(1 << 12).ordered(true);
    let store = Store::open_in(storage.clone(), None, &options).unwrap();
    for n in 0..400 {
        store.put(&key(n * 7 % 400), b"value").unwrap();
    }
    store.sort(|_, _| true).unwrap();
    assert_eq!(pairs(store.snapshot().iter()).len(), 400);
    store.close().unwrap();
    assert!(runs(&dir).is_empty());
    full.0.store(false, Ordering::Relaxed);
    let store = Store::open_in(storage, None, &options).unwrap();
    store.close().unwrap();
    assert_eq!(runs(&dir).len(), dir.logs().len());
    let copy = Dir::new();
    each_file(dir.path(), copy.path(), fs::copy);
    assert_eq!(pairs(copy.open().snapshot().prefix(b"key 1").unwrap()).len(), 111);
}
