//! Readers that take no lock, next to writers that come now and then.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use malkoha_store::{Options, Store};

use crate::support::Dir;

const KEYS: u64 = 32;
const ROUNDS: u64 = 40;
/// Lookups of all threads between writes: enough that readers need no lock.
const LOOKUPS: u64 = 100_000;

/// A value that differs from its neighbours in all its bytes.
fn value(round: u64) -> [u8; 64] {
    [round.to_le_bytes()[0]; 64]
}

/// Each write closes what readers have open, and each compaction removes files that they read. What
/// they see is whole, and never older than what they saw, also in a lookup inside another one.
#[test]
fn lookups_follow_writes_and_compactions() {
    let dir = Dir::new();
    let options = Options::new().background(false).file_bytes(1 << 16);
    let store = Store::open(dir.path(), &options).unwrap();
    (0..KEYS).for_each(|key| store.put(&key.to_le_bytes(), &value(0)).unwrap());
    let (written, lookups, ended) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let read = || {
        let mut seen = vec![0_u8; usize::try_from(KEYS).unwrap()];
        while !ended.load(Ordering::Relaxed) {
            for key in 0..KEYS {
                let at = usize::try_from(key).unwrap();
                let least = written.load(Ordering::Acquire).to_le_bytes()[0];
                let check = |value: &[u8]| {
                    assert!(value.len() == 64 && value.iter().all(|&byte| byte == value[0]));
                    value[0]
                };
                let found = store.get_with(&key.to_le_bytes(), |value| {
                    let other = (key + 1) % KEYS;
                    let inner = store.get(&other.to_le_bytes()).unwrap().unwrap();
                    assert!(check(&inner) >= least);
                    check(value)
                });
                let found = found.unwrap().expect("never removed");
                assert!(found >= least.max(seen[at]), "{found} after {least}, {}", seen[at]);
                seen[at] = found;
                assert!(!store.contains(&(key + KEYS).to_le_bytes()).unwrap());
            }
            lookups.fetch_add(3 * KEYS, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        let readers = [(); 3].map(|()| scope.spawn(read));
        for round in 1..=ROUNDS {
            let until = lookups.load(Ordering::Relaxed) + LOOKUPS;
            while lookups.load(Ordering::Relaxed) < until
                && readers.iter().all(|reader| !reader.is_finished())
            {
                thread::yield_now();
            }
            (0..KEYS).for_each(|key| store.put(&key.to_le_bytes(), &value(round)).unwrap());
            written.store(round, Ordering::Release);
            if round % 4 == 0 {
                store.compact().unwrap();
            }
        }
        ended.store(true, Ordering::Relaxed);
    });
    store.close().unwrap();
}
