//! Lookups on the threads of a pool answer as one thread does.
#![cfg(feature = "rayon")]

use malkoha::tables::Lookup;
use malkoha::{Content, CuckooFilter, CuckooMap, Filter, GrowableCuckooFilter, Key};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Lengths around those at which chunks end, and none at all.
const LENGTHS: [usize; 7] = [0, 1, 1000, 4095, 4096, 4097, 50_000];
/// Keys that are in; as many are not.
const PRESENT: u64 = 25_000;

fn pools() -> impl Iterator<Item = ThreadPool> {
    [1, 2, 8].into_iter().map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap())
}

/// Keys that are in and keys that are not, in turn.
fn keys() -> Vec<u64> {
    (0..PRESENT).flat_map(|key| [key, key + PRESENT]).collect()
}

/// Compares the answers of every pool with those of one thread.
fn agrees<T: Lookup + Sync, C: Content + Sync>(filter: &Filter<T, C>) {
    let (keys, hasher) = (keys(), filter.hasher());
    let hashes: Vec<u64> = keys.iter().map(|key| key.hash_with(hasher)).collect();
    let expected: Vec<bool> = keys.iter().map(|key| filter.contains(key)).collect();
    assert!(expected.iter().step_by(2).all(|&found| found));
    assert!(expected.iter().filter(|&&found| found).count() < 27_000);
    for pool in pools() {
        for length in LENGTHS {
            let found = pool.install(|| filter.par_contains_many(&keys[..length]));
            assert_eq!(found, expected[..length]);
            let mut found = vec![length % 2 == 0; length];
            pool.install(|| filter.par_contains_hashes(&hashes[..length], &mut found));
            assert_eq!(found, expected[..length]);
        }
    }
}

#[test]
fn sets_and_maps() {
    let present: Vec<u64> = (0..PRESENT).collect();
    agrees(&CuckooFilter::builder().fpr(0.001).build_from(&present).unwrap());
    let mut grown = GrowableCuckooFilter::builder().capacity(100).fpr(0.001).build().unwrap();
    grown.insert_many(&present).unwrap();
    agrees(&grown);
    let mut map = CuckooMap::with_capacity(2 * PRESENT, 0.001, 3).unwrap();
    let pairs: Vec<(u64, u64)> = (0..PRESENT).map(|key| (key, key % 7)).collect();
    map.insert_many(&pairs).unwrap();
    agrees(&map);
}

#[test]
#[should_panic(expected = "one answer for each hash")]
fn answers_must_have_room() {
    let filter = CuckooFilter::with_capacity(10, 0.01).unwrap();
    filter.par_contains_hashes(&[1, 2, 3], &mut [false; 2]);
}
