//! What a store takes of the system, and its threads meanwhile.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use malkoha_store::{Batch, Durability, Options, Store};

use crate::support::{Contents, Dir, assert_holds, delete_all, key, options, put_all};

/// Bytes of this mapped file that are in memory.
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

/// The bytes that will be written next are in memory before.
#[test]
#[cfg_attr(malkoha_calls, ignore = "of mapped files")]
fn memory_is_ready_before_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), &Options::new()).unwrap();
    // The last file has room for 3 MiB, partly written.
    (0..1000_u32).for_each(|key| store.put(&key.to_le_bytes(), &[1; 100_000]).unwrap());
    let name = format!("{:012}.log", store.stats().files);
    let room = std::fs::metadata(directory.path().join(&name)).unwrap().len();
    let deadline = Instant::now() + Duration::from_secs(60);
    while resident(&name) < room {
        assert!(Instant::now() < deadline, "{} bytes of {room}", resident(&name));
        std::thread::yield_now();
    }
    assert!((0..1000_u32).all(|key| store.contains(&key.to_le_bytes()).unwrap()));
    store.close().unwrap();
}

/// Full files stayed open until they were synced, and all files while a store was opened from its
/// log.
#[test]
#[cfg_attr(malkoha_calls, ignore = "files that are read by calls stay open")]
fn a_process_that_may_open_few_files_has_stores_of_many() {
    let test = std::env::current_exe().unwrap();
    let run = "ulimit -n 32; exec \"$0\" --exact threads::many_files --ignored --nocapture";
    let done = Command::new("sh").args(["-c", run]).arg(test).output().unwrap();
    let told = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(done.status.success(), "{}{}", told(&done.stdout), told(&done.stderr));
    assert!(told(&done.stdout).contains("1 passed"), "{}", told(&done.stdout));
}

#[test]
#[ignore = "run by the test before, with few descriptors"]
fn many_files() {
    let dir = Dir::new();
    let options = options().file_bytes(1 << 12);
    let store = Store::open(dir.path(), &options).unwrap();
    let mut expected = Contents::new();
    put_all(&store, &mut expected, 0..5000, &[1; 100]);
    assert!(dir.logs().len() > 150, "{} files", dir.logs().len());
    assert_holds(&store, &expected);
    store.close().unwrap();
    dir.remove("CHECKPOINT");
    assert_holds(&Store::open_read_only(dir.path()).unwrap(), &expected);
    let store = Store::open(dir.path(), &options).unwrap();
    assert!(store.verify().unwrap().damage.is_empty());
    delete_all(&store, &mut expected, (0..5000).step_by(2));
    let before = store.stats().index_bytes;
    store.compact().unwrap();
    let stats = store.stats();
    assert!(stats.index_bytes < before * 3 / 4, "{stats:?}, before {before}");
    let copy = Dir::new();
    store.backup(copy.path()).unwrap();
    store.close().unwrap();
    assert_holds(&Store::open(copy.path(), &options).unwrap(), &expected);
    assert_holds(&Store::open(dir.path(), &options).unwrap(), &expected);
    dir.remove("CHECKPOINT");
    assert_eq!(Store::repair(dir.path()).unwrap().keys, 2500);
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

/// A third of the looks at ten keys saw some of a batch and some of the one before.
#[test]
fn many_gets_at_once_see_whole_batches() {
    const ROUNDS: u32 = 80;
    // More than are looked up under one lock.
    let keys: Vec<_> = (0..5000).map(key).collect();
    for durability in [Durability::System, Durability::Always] {
        let dir = Dir::new();
        let options = options().durability(durability);
        let store = Store::open(dir.path(), &options.file_bytes(1 << 20)).unwrap();
        let rounds = if durability == Durability::Always { ROUNDS / 10 } else { ROUNDS };
        let write = |round: u32| {
            let mut batch = Batch::new();
            for key in &keys {
                batch.put(key, &round.to_le_bytes()).unwrap();
            }
            store.apply(&batch).unwrap();
        };
        write(0);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                (1..rounds).for_each(write);
                done.store(true, Ordering::Release);
            });
            let mut looks = 0;
            while !done.load(Ordering::Acquire) || looks < 10 {
                for some in [&keys[..], &keys[..10]] {
                    let mut seen = Vec::new();
                    store.get_many(some, |_, value| seen.push(value.map(<[u8]>::to_vec))).unwrap();
                    let whole = seen.iter().all(|value| *value == seen[0]);
                    assert!(whole, "{:?} and others", seen[0]);
                    looks += 1;
                }
            }
        });
    }
}
