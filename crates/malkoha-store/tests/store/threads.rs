//! What a store takes of the system, and its threads meanwhile.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use malkoha_store::{Options, Store};

use crate::support::{Contents, Dir, assert_holds, key, options};

/// Bytes of this mapped file that are in memory, as the system tells.
fn resident(name: &str) -> u64 {
    let (mut is_it, mut bytes) = (false, 0);
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("Rss:") if is_it => {
                bytes += words.next().unwrap().parse::<u64>().unwrap() << 10;
            }
            Some(first) if !first.ends_with(':') => is_it = line.ends_with(name),
            _ => {}
        }
    }
    bytes
}

/// What will be written next is in memory before.
#[test]
fn memory_is_ready_before_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), &Options::new()).unwrap();
    // The files are of 1, 1, 2, 4, 8 and 16 MiB; the last has three MiB of them.
    (0..200_u32).for_each(|key| store.put(&key.to_le_bytes(), &[1; 100_000]).unwrap());
    let deadline = Instant::now() + Duration::from_secs(60);
    while resident("000000000006.log") < 4 << 20 {
        assert!(Instant::now() < deadline, "{} bytes", resident("000000000006.log"));
        std::thread::yield_now();
    }
    let written: Vec<bool> =
        (0..200_u32).map(|key| store.get(&key.to_le_bytes()).unwrap().is_some()).collect();
    assert_eq!(written, [true; 200]);
    store.close().unwrap();
}

/// Log files of a directory that are open; more than 1024 may not be, as a rule.
fn descriptors(dir: &Dir) -> usize {
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let paths = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    paths
        .filter(|path| path.starts_with(dir.path()) && path.to_string_lossy().contains(".log"))
        .count()
}

#[test]
fn a_store_of_many_files_has_few_of_them_open() {
    let dir = Dir::new();
    let store = dir.open();
    let mut expected = Contents::new();
    for n in 0..4000 {
        store.put(&key(n), &[1; 100]).unwrap();
        expected.insert(key(n), vec![1; 100]);
        if n % 100 == 0 {
            store.sync().unwrap();
        }
    }
    assert!(dir.logs().len() > 20);
    assert!(descriptors(&dir) < 5, "{} after writing", descriptors(&dir));
    assert_holds(&store, &expected);
    store.close().unwrap();
    for store in [dir.open(), Store::open_read_only(dir.path()).unwrap()] {
        assert!(descriptors(&dir) < 5, "{} after opening", descriptors(&dir));
        assert_holds(&store, &expected);
        assert!(store.verify().unwrap().damage.is_empty());
    }
    // Nor do they come back with what needs them all.
    let store = dir.open();
    for n in (0..4000).step_by(2) {
        assert!(store.delete(&key(n)).unwrap());
        expected.remove(&key(n));
    }
    store.compact().unwrap();
    // What a sync covers is closed at the next one.
    store.put(&key(1), &[2; 100]).unwrap();
    expected.insert(key(1), vec![2; 100]);
    store.sync().unwrap();
    assert!(descriptors(&dir) < 5, "{} after compaction", descriptors(&dir));
    store.close().unwrap();
    assert_holds(&dir.open(), &expected);
    let options = options().file_bytes(1 << 12);
    assert_holds(&Store::open(dir.path(), &options).unwrap(), &expected);
}

/// It may take hours, at its rate.
#[test]
fn compaction_in_the_background_makes_way_for_others() {
    let (dir, copy) = (Dir::new(), Dir::new());
    let options = Options::new().file_bytes(1 << 20).compact_rate(1);
    let store = Arc::new(Store::open(dir.path(), &options).unwrap());
    for n in (0..20_000).chain((0..20_000).step_by(2)) {
        store.put(&key(n), &[1; 100]).unwrap();
    }
    let written = store.stats().log_bytes;
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.stats().log_bytes == written {
        assert!(Instant::now() < deadline, "nothing is compacted: {:?}", store.stats());
        std::thread::sleep(Duration::from_millis(10));
    }
    let (done, is_done) = mpsc::channel();
    let backup = {
        let store = Arc::clone(&store);
        move || done.send(store.backup(copy.path()))
    };
    std::thread::spawn(backup);
    is_done.recv_timeout(Duration::from_secs(60)).expect("it does not wait for that").unwrap();
    assert_eq!(store.len(), 20_000);
}

/// Bytes that this process had the device read.
fn read_from_device() -> u64 {
    let told = std::fs::read_to_string("/proc/self/io").unwrap();
    told.lines().find_map(|line| line.strip_prefix("read_bytes: ")).unwrap().parse().unwrap()
}

/// Each get of a record that was not in memory read two MiB: advice for huge pages meant reading
/// ahead.
#[test]
fn a_get_beyond_memory_reads_little_more_than_its_record() {
    const GETS: u64 = 50;
    let dir = Dir::new();
    let options = Options::new().background(false).seed(1);
    let store = Store::open(dir.path(), &options).unwrap();
    (0..300_000).for_each(|n| store.put(&key(n), &[1; 100]).unwrap());
    store.close().unwrap();
    for log in dir.logs() {
        let file = std::fs::File::open(log).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    }
    let store = Store::open_read_only(dir.path()).unwrap();
    let before = read_from_device();
    for n in 0..GETS {
        assert!(store.get(&key(u32::try_from(n).unwrap() * 5999)).unwrap().is_some());
    }
    let each = (read_from_device() - before) / GETS;
    if each == 0 {
        eprintln!("skipped: the temporary directory is in memory");
    }
    assert!(each <= 64 << 10, "{each} bytes for a get");
}
