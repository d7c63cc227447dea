//! The filter that threads share: what must hold in many. The fuzz target `operations` compares it
//! with a model in one.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use malkoha::locks::{ElidedMcsLock, Global, Locking, McsLock, ParkingLock, Striped};
use malkoha::tables::Shared;
use malkoha::{
    BuildError, Builder, ConcurrentCuckooFilter, ConcurrentCuckooFilterWith, CuckooFilter, Filter,
    GrowableConcurrentCuckooFilter, Layout, ReadError,
};

use crate::support::new_to_threads;

/// Batches of the sizes at which they are looked up in another way, with keys that occur several
/// times, in tables from one bucket on.
fn batches_agree_with_single_lookups<P: Locking>(capacity: u64, bits: u32) {
    let builder = Builder::new().capacity(capacity).fingerprint_bits(bits);
    let filter: ConcurrentCuckooFilterWith<P> = builder.build().unwrap();
    (0..capacity).for_each(|key| filter.insert(key).unwrap());
    let groups = [31, 32, 33, 79, 80, 81, 1023, 1024, 1025, 1028, 1029, 1040, 1041, 2049];
    for size in (0..=18).chain(groups) {
        for repeats in [1, 2, 17] {
            let keys: Vec<u64> = (0..size).map(|i| i / repeats * 7 % (2 * capacity)).collect();
            let single: Vec<bool> = keys.iter().map(|&key| filter.contains(key)).collect();
            assert_eq!(filter.contains_many(&keys), single, "{size} keys, {capacity} in the set");
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many keys")]
fn batches_of_any_size_agree_with_single_lookups() {
    for (capacity, bits) in [(1, 32), (4, 16), (8, 5), (40, 12), (1000, 8), (20_000, 16)] {
        batches_agree_with_single_lookups::<Striped<ParkingLock>>(capacity, bits);
        batches_agree_with_single_lookups::<Global<ParkingLock>>(capacity, bits);
    }
}

pub(crate) fn rounds() -> u64 {
    std::env::var("MALKOHA_ROUNDS")
        .map_or(if cfg!(miri) { 2 } else { 6 }, |n| n.parse().expect("MALKOHA_ROUNDS is a number"))
}

/// Threads insert, remove and look up at the same time in a filter that is nearly full, so that
/// inserts move what others look for and copy.
fn no_key_is_ever_missed<P: Locking>(threads: u64) {
    let (stay, come): (u64, u64) = if cfg!(miri) { (60, 20) } else { (14_000, 3_000) };
    let capacity = stay + threads * come;
    let builder = Builder::new().capacity(capacity).fingerprint_bits(16);
    let filter: ConcurrentCuckooFilterWith<P> = builder.build().unwrap();
    filter.insert_many(&(0..stay).collect::<Vec<_>>()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..threads)
            .map(|thread| {
                let filter = &filter;
                scope.spawn(move || {
                    let first = stay + thread * come;
                    let mine: Vec<u64> = (first..first + come).collect();
                    for round in 0..rounds() {
                        if round % 2 == 0 {
                            filter.insert_many(&mine).unwrap();
                        } else {
                            mine.iter().for_each(|key| filter.insert(key).unwrap());
                        }
                        assert!(filter.contains_many(&mine).iter().all(|&found| found));
                        assert!(mine.iter().all(|key| filter.contains(key)));
                        if round % 2 == 0 {
                            assert!(filter.remove_many(&mine).iter().all(|&removed| removed));
                        } else {
                            assert!(mine.iter().all(|key| filter.remove(key)));
                        }
                    }
                })
            })
            .collect();
        let (filter, done) = (&filter, &done);
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                for key in 0..stay {
                    assert!(filter.contains(key), "{key} was in all the while");
                }
            }
        });
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                let copy = filter.clone();
                assert!((0..stay).all(|key| copy.contains(key)), "missed in a copy");
                let total: u64 = copy.entries().map(|entry| entry.copies).sum();
                assert!((stay..=capacity).contains(&total) && total == copy.len());
            }
        });
        let results: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        // Also after a failure, so that the reader ends.
        done.store(true, Ordering::Relaxed);
        results.into_iter().for_each(|result| result.unwrap());
    });
    // Exactly what stays is left.
    assert_eq!(filter.len(), stay);
    assert_eq!(filter.entries().count() as u64, stay);
    assert!(filter.remove_many(&(0..stay).collect::<Vec<_>>()).iter().all(|&removed| removed));
    assert!(filter.is_empty());
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn no_key_is_missed_with_a_lock_a_stripe() {
    no_key_is_ever_missed::<Striped<ParkingLock>>(3);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn no_key_is_missed_with_queue_locks() {
    no_key_is_ever_missed::<Striped<McsLock>>(2);
    no_key_is_ever_missed::<Striped<ElidedMcsLock>>(2);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn no_key_is_missed_with_one_lock() {
    no_key_is_ever_missed::<Global<ParkingLock>>(2);
    no_key_is_ever_missed::<Global<ElidedMcsLock>>(2);
}

/// A thread fills a filter of a few buckets until it refuses a key, and empties it, again and
/// again. So keys that stay move all the time, and batches of them rarely find all versions
/// unchanged.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn no_key_is_missed_in_batches_of_a_few_buckets() {
    let stay: Vec<u64> = (0..16).collect();
    let builder = ConcurrentCuckooFilter::builder().capacity(20).fingerprint_bits(32);
    let filter: ConcurrentCuckooFilter = builder.build().unwrap();
    filter.insert_many(&stay).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut others = stay.len() as u64..;
            for _ in 0..if cfg!(miri) { 20 } else { 10_000 + 200 * rounds() } {
                let comes: Vec<u64> =
                    others.by_ref().take_while(|key| filter.insert(key).is_ok()).collect();
                assert!(comes.iter().all(|key| filter.remove(key)));
            }
        });
        scope.spawn(|| {
            // Few keys, a group, and several groups.
            let sizes = [3, 16, 80];
            let batches = sizes.map(|size| stay.iter().copied().cycle().take(size).collect());
            while !done.load(Ordering::Relaxed) {
                for keys in &batches {
                    let keys: &Vec<u64> = keys;
                    let missed = filter.contains_many(keys).iter().filter(|&&found| !found).count();
                    assert_eq!(missed, 0, "of {} that were in all the while", keys.len());
                }
            }
        });
        let result = writer.join();
        // Also after a failure, so that the reader ends.
        done.store(true, Ordering::Relaxed);
        result.unwrap();
    });
    assert_eq!(filter.len(), stay.len() as u64);
}

/// Copies of one key from several threads are all counted, and cost no slots.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn copies_are_counted() {
    let copies: u64 = if cfg!(miri) { 30 } else { 30_000 };
    let builder = ConcurrentCuckooFilter::builder().capacity(100).fingerprint_bits(16);
    let filter: ConcurrentCuckooFilter = builder.build().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..copies).for_each(|_| filter.insert("again").unwrap()));
        }
    });
    assert_eq!(filter.count("again"), 3 * copies);
    (0..90_u64).for_each(|key| filter.insert(key).unwrap());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..copies - 1).for_each(|_| assert!(filter.remove("again"))));
        }
    });
    assert_eq!(filter.count("again"), 3);
    assert_eq!(filter.len(), 93);
}

#[test]
fn other_layouts_are_refused() {
    let builder = ConcurrentCuckooFilter::builder().capacity(10).layout(Layout::GapWindows);
    let refused = builder.fpr(0.01).build();
    assert!(matches!(refused, Err(BuildError::Layout { layout: "gap-windows", .. })));
    let plain = CuckooFilter::with_capacity(10, 0.01).unwrap();
    assert!(plain.into_concurrent::<Striped<ParkingLock>>().is_err());
}

/// A shared set of fixed size is a set with words, and no other can be shared.
#[test]
fn a_shared_set_of_fixed_size_is_a_set_with_words() {
    let shared = ConcurrentCuckooFilter::with_capacity(1_000, 0.01).unwrap();
    shared.insert_many(&(0..1_000_u64).collect::<Vec<_>>()).unwrap();
    let plain = CuckooFilter::from_bytes(&shared.to_bytes()).unwrap();
    assert!(plain.geometry().layout == Layout::Words && plain == shared.to_filter().unwrap());
    let back: ConcurrentCuckooFilter = Builder::new().capacity(1).fpr(0.1).build().unwrap();
    assert!(back != shared);
    let back: ConcurrentCuckooFilter =
        ConcurrentCuckooFilter::from_bytes(&plain.to_bytes()).unwrap();
    assert!(back == shared);
    let other = CuckooFilter::with_capacity(10, 0.01).unwrap().to_bytes();
    let error = ConcurrentCuckooFilterWith::<Striped<McsLock>>::from_bytes(&other).unwrap_err();
    assert!(matches!(error, ReadError::Layout("gap-windows")), "{error}");
}

/// What a thread keeps for its searches is gone when the values that it had before are dropped.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn a_thread_that_ends_inserts() {
    struct Last(Arc<ConcurrentCuckooFilter>);
    impl Drop for Last {
        fn drop(&mut self) {
            (80_000..100_000_u64).for_each(|key| self.0.insert(key).unwrap());
        }
    }
    thread_local! {
        static LAST: Cell<Option<Last>> = const { Cell::new(None) };
    }
    let builder = ConcurrentCuckooFilter::builder().capacity(100_000).fingerprint_bits(12);
    let filter: Arc<ConcurrentCuckooFilter> = Arc::new(builder.build().unwrap());
    let shared = Arc::clone(&filter);
    let thread = std::thread::spawn(move || {
        LAST.set(Some(Last(Arc::clone(&shared))));
        (0..80_000_u64).for_each(|key| shared.insert(key).unwrap());
    });
    thread.join().unwrap();
    assert!((0..100_000_u64).all(|key| filter.contains(key)));
    assert_eq!(filter.len(), 100_000);
}

/// Also by code that is generic over locks.
#[test]
fn filters_of_all_kinds_are_shared() {
    fn shared<T: Send + Sync>() {}
    fn check<P: Locking>() {
        shared::<Filter<Shared<P>>>();
    }
    check::<Striped<ParkingLock>>();
    check::<Global<McsLock>>();
    shared::<GrowableConcurrentCuckooFilter>();
    shared::<CuckooFilter>();
    shared::<malkoha::CuckooMap>();
    #[cfg(feature = "mmap")]
    shared::<malkoha::MappedFilter>();
}

/// 10^6 keys, each handed in twice by each of four threads at nearly the same time, one by one and
/// in batches. Some 0.2 % of them seem to be in, and almost every insert needs a lock.
fn each_key_is_new_once<P: Locking>() {
    let keys: Vec<u64> = (0..if cfg!(miri) { 200 } else { 1_000_000 }).collect();
    let builder = Builder::new().capacity(keys.len() as u64).fingerprint_bits(12);
    let filter: ConcurrentCuckooFilterWith<P> = builder.build().unwrap();
    let many = |keys: &[u64]| filter.insert_unique_many(keys).unwrap();
    let new = new_to_threads(&keys, 1000, many, |key| filter.insert_unique(key).unwrap());
    assert!(new.iter().all(|&count| count <= 1), "a key was new twice");
    assert_eq!(u64::from(new.iter().sum::<u32>()), filter.len());
    // Each fingerprint with its places is in once.
    assert_eq!(filter.entries().count() as u64, filter.len());
    assert!(keys.iter().all(|key| filter.count(key) == 1));
    assert!(filter.len() > keys.len() as u64 / 100 * 99);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn a_million_keys_are_new_once() {
    each_key_is_new_once::<Striped<ParkingLock>>();
    if !cfg!(miri) {
        each_key_is_new_once::<Striped<ElidedMcsLock>>();
        each_key_is_new_once::<Global<ParkingLock>>();
    }
}
