//! Growing filters that threads share: no number and no choice of keys makes them refuse or lose
//! one. They equal a growing filter with one owner, and keep its rate.

use std::sync::atomic::{AtomicUsize, Ordering};

use malkoha::tables::places_looked_at;
use malkoha::{GrowableConcurrentCuckooFilter, GrowableCuckooFilter};

use crate::support::crafted::{honest, in_one_place, in_one_segment};
use crate::support::new_to_threads;

fn new(capacity: u64, fpr: f64) -> GrowableConcurrentCuckooFilter {
    GrowableConcurrentCuckooFilter::with_capacity(capacity, fpr).unwrap()
}

fn has_all(filter: &GrowableConcurrentCuckooFilter, hashes: &[u64]) -> bool {
    let mut found = vec![false; hashes.len()];
    filter.contains_hashes(hashes, &mut found);
    found.into_iter().all(|found| found) && hashes.iter().all(|&hash| filter.contains_hash(hash))
}

/// At most 1.3 times the bits of a filter of one owner with the same keys, whatever it began with.
#[test]
#[cfg_attr(miri, ignore = "too many keys")]
fn it_takes_what_a_filter_of_one_owner_takes() {
    let hashes = honest(700_000);
    for (capacity, fpr) in [(1, 0.03), (50_000, 0.002), (50_000, 1e-6)] {
        let shared = new(capacity, fpr);
        let mut alone = GrowableCuckooFilter::with_capacity(capacity, fpr).unwrap();
        let mut done = 0;
        for next in [100_000, 150_000, 400_000, 700_000] {
            // In batches too small for the filter of one owner to make room for beforehand.
            for hashes in hashes[done..next].chunks(1_000) {
                shared.insert_hashes(hashes).unwrap();
                alone.insert_hashes(hashes).unwrap();
            }
            done = next;
            let [shared, alone] = [shared.bits_per_key(), alone.bits_per_key()];
            assert!(shared < 1.3 * alone, "{capacity} {fpr}, {next}: {shared}, alone {alone}");
        }
        let rates = [shared.expected_fpr(), alone.expected_fpr()];
        assert!(rates[0] <= fpr && rates[0] < 1.2 * rates[1], "{rates:?}");
    }
}

/// One becomes the other, through memory or a file, and both still work.
#[test]
fn it_is_a_filter_of_one_owner_in_branches() {
    let hashes = honest(if cfg!(miri) { 400 } else { 150_000 });
    for capacity in [1, 50_000, 2_000_000] {
        let mut alone = GrowableCuckooFilter::with_capacity(capacity, 0.001).unwrap();
        alone.insert_hashes(&hashes[..hashes.len() / 2]).unwrap();
        (0..20).for_each(|_| alone.insert_hash(hashes[0]).unwrap());
        let shared = GrowableConcurrentCuckooFilter::from_bytes(&alone.to_bytes()).unwrap();
        assert!(shared == alone.clone().into_concurrent());
        assert_eq!((shared.len(), shared.capacity()), (alone.len(), alone.capacity()));
        assert_eq!((shared.segments(), shared.buckets()), (alone.segments(), alone.buckets()));
        assert_eq!(shared.count_hash(hashes[0]), 21);
        assert!((shared.expected_fpr() / alone.expected_fpr() - 1.0).abs() < 1e-9);
        shared.insert_hashes(&hashes[hashes.len() / 2..]).unwrap();
        assert!(has_all(&shared, &hashes));
        let mut back = shared.to_filter();
        assert!(back == GrowableCuckooFilter::from_bytes(&shared.to_bytes()).unwrap());
        assert!(back.clone().into_concurrent() == shared && shared.clone() == shared);
        assert_eq!(back.len(), shared.len());
        assert!(hashes.iter().all(|&hash| back.remove_hash(hash) && shared.remove_hash(hash)));
        assert_eq!((back.len(), shared.len(), shared.count_hash(hashes[0])), (20, 20, 20));
        shared.shrink_to_fit();
        back.shrink_to_fit();
        assert!(shared.contains_hash(hashes[0]) && back.contains_hash(hashes[0]));
        shared.clear();
        assert!(shared.is_empty() && shared.entries().next().is_none());
    }
}

/// Threads hand in the same keys, a jam among them, while branches are parted: each is new once at
/// most, and those that are not new are false positives.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
#[cfg_attr(miri, ignore = "too many keys")]
fn a_key_is_new_once_at_any_size() {
    let filter = new(500, 1e-4);
    let mut hashes = honest(80_000);
    hashes.extend(in_one_place(16).take(2_000));
    let many = |hashes: &[u64]| {
        let mut new = vec![false; hashes.len()];
        filter.insert_unique_hashes(hashes, &mut new).unwrap();
        new
    };
    let one = |&hash: &u64| filter.insert_unique_hash(hash).unwrap();
    let new = new_to_threads(&hashes, 500, many, one);
    assert!(new.iter().all(|&count| count <= 1), "a key was new twice");
    let sum = new.iter().sum::<u32>();
    assert_eq!(u64::from(sum), filter.len());
    assert!(sum > 80_000 && has_all(&filter, &hashes));
    assert_eq!(filter.entries().map(|entry| entry.copies).sum::<u64>(), filter.len());
}

/// Threads put keys in and take half of them out again while branches are parted, and another looks
/// for those that stay. In the end all is taken out, and nothing is left.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
#[cfg_attr(miri, ignore = "too many keys")]
fn no_key_is_missed_while_branches_are_parted() {
    (0..crate::concurrent::rounds().div_ceil(6)).for_each(|_| branches_are_parted());
}

fn branches_are_parted() {
    const EACH: usize = 40_000;
    let filter = new(500, 1e-3);
    let mut hashes = honest(2 * EACH as u64);
    // A crowd among them, so that keys are stashed.
    for (n, chosen) in in_one_place(18).take(1_000).enumerate() {
        hashes[n * 60] = chosen;
    }
    let mut is_cloned = false;
    let put_in: Vec<AtomicUsize> = (0..2).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|thread| {
                let (filter, mine) = (&filter, &hashes[thread * EACH..][..EACH]);
                let put_in = &put_in[thread];
                scope.spawn(move || {
                    for (number, keys) in mine.chunks(100).enumerate() {
                        if number % 2 == 0 {
                            filter.insert_hashes(keys).unwrap();
                        } else {
                            keys.iter().for_each(|&hash| filter.insert_hash(hash).unwrap());
                        }
                        assert!(keys[50..].iter().all(|&hash| filter.remove_hash(hash)));
                        put_in.fetch_add(1, Ordering::Release);
                    }
                })
            })
            .collect();
        while !writers.iter().all(|writer| writer.is_finished()) {
            for thread in 0..2 {
                let chunks = put_in[thread].load(Ordering::Acquire);
                for keys in hashes[thread * EACH..][..EACH].chunks(100).take(chunks) {
                    assert!(has_all(&filter, &keys[..50]));
                }
            }
            let before: Vec<usize> =
                put_in.iter().map(|chunks| chunks.load(Ordering::Acquire)).collect();
            // Cloned as it is, or with the partitions put together.
            is_cloned = !is_cloned;
            let copy = if is_cloned { filter.clone().to_filter() } else { filter.to_filter() };
            assert_eq!(copy.len(), copy.entries().map(|entry| entry.copies).sum::<u64>());
            for (thread, chunks) in (0..).zip(before) {
                for keys in hashes[thread * EACH..][..EACH].chunks(100).take(chunks) {
                    assert!(keys[..50].iter().all(|&hash| copy.count_hash(hash) >= 1));
                }
            }
        }
    });
    assert_eq!(filter.len(), EACH as u64);
    let kept = || hashes.chunks(100).flat_map(|keys| &keys[..50]);
    assert!(kept().all(|&hash| filter.remove_hash(hash)));
    assert!(filter.is_empty() && filter.entries().next().is_none());
}

/// Batches that are sorted, of two threads at once, and of keys that are in. They take what one
/// batch takes in a filter of one owner, with a crowd for one segment too.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
#[cfg_attr(miri, ignore = "too many keys")]
fn large_batches_meet() {
    let hashes = honest(400_000);
    let (first, second) = hashes.split_at(300_000);
    let (filter, mut alone) = (new(1_000, 0.002), new(1_000, 0.002).to_filter());
    alone.insert_hashes(first).unwrap();
    std::thread::scope(|scope| {
        let filter = &filter;
        for half in first.chunks(150_000) {
            scope.spawn(|| filter.insert_hashes(half).unwrap());
        }
    });
    assert!(has_all(&filter, first) && filter.len() == 300_000);
    let [shared, of_one] = [filter.bits_per_key(), alone.bits_per_key()];
    assert!(shared < 1.2 * of_one, "{shared}, of one owner {of_one}");
    assert!(filter.expected_fpr() <= 0.002, "{}", filter.expected_fpr());
    filter.insert_hashes(&first[..200_000]).unwrap();
    assert!(first[..200_000].iter().all(|&hash| filter.count_hash(hash) >= 2));
    assert!(first[..200_000].iter().all(|&hash| filter.remove_hash(hash)));
    let (before, size) = (places_looked_at(), filter.size_in_bytes());
    let crowd: Vec<u64> = second.iter().copied().chain(in_one_segment(20).take(60_000)).collect();
    filter.insert_hashes(&crowd).unwrap();
    let each = (places_looked_at() - before) / crowd.len() as u64;
    assert!(each < 300, "{each} places a key");
    assert!(filter.size_in_bytes() < size + 160_000 * 80, "{}", filter.size_in_bytes());
    assert!(has_all(&filter, &hashes) && has_all(&filter, &crowd));
    assert_eq!(filter.len(), 460_000);
}

/// Threads that insert the same keys uniquely make room for them once, in the order of each.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
#[cfg_attr(miri, ignore = "too many keys")]
fn many_threads_with_the_same_keys_take_the_memory_of_one() {
    let hashes = honest(150_000);
    let unique = |filter: &GrowableConcurrentCuckooFilter, hashes: &[u64]| {
        filter.insert_unique_hashes(hashes, &mut vec![false; hashes.len()]).unwrap();
    };
    let alone = new(1_000, 0.002);
    unique(&alone, &hashes);
    for rotated in [0, 9_001] {
        let filter = new(1_000, 0.002);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (filter, mut hashes) = (&filter, hashes.clone());
                scope.spawn(move || {
                    hashes.rotate_left(thread * rotated);
                    unique(filter, &hashes);
                });
            }
        });
        assert!(has_all(&filter, &hashes));
        let [all, one] = [filter.bits_per_key(), alone.bits_per_key()];
        assert!(all < 1.3 * one, "{all}, of one thread {one}");
    }
}
