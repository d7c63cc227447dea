//! Lookups on the threads of a pool answer as one thread does.
#![cfg(feature = "rayon")]

use malkoha::tables::Lookup;
use malkoha::{
    Builder, ConcurrentCuckooFilter, Content, CuckooFilter, CuckooMap, Filter, FilterView,
    GrowableConcurrentCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap, Key, Layout,
};
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
fn filters_of_every_layout() {
    for layout in [
        Layout::Bucketed { bucket_size: 1 },
        Layout::Bucketed { bucket_size: 2 },
        Layout::Bucketed { bucket_size: 4 },
        Layout::Bucketed { bucket_size: 8 },
        Layout::SemiSorted,
        Layout::GapWindows,
        Layout::Words,
    ] {
        let builder = CuckooFilter::builder().layout(layout).fingerprint_bits(12);
        let present: Vec<u64> = (0..PRESENT).collect();
        let filter = builder.build_from(&present).unwrap();
        agrees(&filter);

        let mut bytes = Vec::new();
        filter.write_to(&mut bytes).unwrap();
        let view = FilterView::view(&bytes).unwrap();
        agrees(&view);
    }
}

#[cfg(feature = "mmap")]
#[test]
fn mapped_filters() {
    let present: Vec<u64> = (0..PRESENT).collect();
    let filter = CuckooFilter::builder().fpr(0.001).build_from(&present).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    filter.write_to(&mut file).unwrap();
    // SAFETY: nobody else knows the file.
    let mapped = unsafe { malkoha::MappedFilter::map(file.path()) }.unwrap();
    agrees(&mapped);
}

#[test]
fn filters_that_grow_and_filters_of_threads() {
    let present: Vec<u64> = (0..PRESENT).collect();
    let mut grown = GrowableCuckooFilter::builder().capacity(100).fpr(0.001).build().unwrap();
    grown.insert_many(&present).unwrap();
    agrees(&grown);

    let builder = ConcurrentCuckooFilter::builder().capacity(2 * PRESENT).fpr(0.001);
    let shared = builder.build().unwrap();
    shared.insert_many(&present).unwrap();
    agrees(&shared);

    let both: GrowableConcurrentCuckooFilter =
        Builder::new().capacity(100).fpr(0.001).build().unwrap();
    both.insert_many(&present).unwrap();
    agrees(&both);
}

#[test]
fn maps() {
    let pairs: Vec<(u64, u64)> = (0..PRESENT).map(|key| (key, key % 7)).collect();
    let mut map = CuckooMap::with_capacity(2 * PRESENT, 0.001, 3).unwrap();
    map.insert_many(&pairs).unwrap();
    agrees(&map);

    let mut grown =
        GrowableCuckooMap::builder().capacity(100).fpr(0.001).value_bits(3).build().unwrap();
    grown.insert_many(&pairs).unwrap();
    agrees(&grown);
}

#[test]
#[should_panic(expected = "one answer for each hash")]
fn answers_must_have_room() {
    let filter = CuckooFilter::with_capacity(10, 0.01).unwrap();
    filter.par_contains_hashes(&[1, 2, 3], &mut [false; 2]);
}
