//! What the threads of a store do meanwhile.

use std::time::{Duration, Instant};

use malkoha_store::{Options, Store};

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
