//! What the threads of a store do meanwhile.

use std::time::{Duration, Instant};

use malkoha_store::{Options, Store};

/// Bytes of mapped log files that are in memory, as the system tells.
fn resident() -> u64 {
    let (mut is_log, mut bytes) = (false, 0);
    for line in std::fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("Rss:") if is_log => {
                bytes += words.next().unwrap().parse::<u64>().unwrap() << 10;
            }
            Some(first) if !first.ends_with(':') => is_log = line.ends_with(".log"),
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
    // Into a file that has two MiB to spare: each is as long as all before it.
    (0..200_u32).for_each(|key| store.put(&key.to_le_bytes(), &[1; 100_000]).unwrap());
    let written = store.stats().log_bytes;
    let deadline = Instant::now() + Duration::from_secs(60);
    while resident() < written + (1 << 20) {
        assert!(Instant::now() < deadline, "{} of {written} bytes", resident());
        std::thread::yield_now();
    }
    store.close().unwrap();
}
