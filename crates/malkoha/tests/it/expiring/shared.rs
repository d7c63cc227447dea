//! What threads do at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use malkoha::{AnyFilter, GrowableConcurrentExpiringCuckooFilter, Key};

use crate::support::new_to_threads;

const THREADS: u64 = 4;
const KEYS: u64 = 20_000;

/// Each key is new to one thread in each window, whatever the others do.
fn one_is_told(seen: &GrowableConcurrentExpiringCuckooFilter) {
    let keys: Vec<u64> = (0..KEYS).collect();
    for round in 0..5 {
        seen.advance(round * 1_067);
        let many = |keys: &[u64]| seen.insert_unique_many(keys).unwrap();
        let new = new_to_threads(&keys, 777, many, |key| seen.insert_unique(key).unwrap());
        assert!(new.iter().all(|&count| count <= 1), "a key was new twice");
        let new = u64::from(new.iter().sum::<u32>());
        // But for those that share a fingerprint.
        assert!((KEYS - KEYS / 100..=KEYS).contains(&new), "round {round}: {new}");
        assert_eq!(seen.len(), new, "round {round}");
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn one_thread_is_told_that_a_key_is_new() {
    one_is_told(
        &GrowableConcurrentExpiringCuckooFilter::with_capacity(KEYS, 0.001, 1_000).unwrap(),
    );
    one_is_told(&GrowableConcurrentExpiringCuckooFilter::with_capacity(10, 0.001, 1_000).unwrap());
}

/// Keys that are refreshed all the time are never missed, while time runs, others expire, and the
/// filter is saved.
fn none_is_missed(seen: &GrowableConcurrentExpiringCuckooFilter) {
    let rounds = std::env::var("MALKOHA_ROUNDS").map_or(30, |n| n.parse::<u64>().unwrap());
    let done = AtomicBool::new(false);
    seen.insert_many(&(0..1_000_u64).collect::<Vec<_>>()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=rounds {
                // A third of the time that keys live, in which all of them are refreshed.
                seen.refresh_many(&(0..1_000_u64).collect::<Vec<_>>()).unwrap();
                seen.advance(round * 333);
            }
            done.store(true, Ordering::Relaxed);
        });
        for worker in 1..THREADS {
            let done = &done;
            scope.spawn(move || {
                let mut other = worker << 40;
                while !done.load(Ordering::Relaxed) {
                    assert!(
                        (0..1_000_u64).all(|key| seen.contains(key) && seen.age(key).is_some())
                    );
                    assert!(
                        seen.contains_many(&(0..1_000_u64).collect::<Vec<_>>()).iter().all(|&f| f)
                    );
                    // Others come and go.
                    other += 1_000;
                    let others: Vec<u64> = (other..other + 100).collect();
                    seen.insert_unique_many(&others).unwrap();
                    if worker == 1 {
                        let before = seen.now();
                        let copy =
                            GrowableConcurrentExpiringCuckooFilter::from_bytes(&seen.to_bytes());
                        let copy = copy.unwrap();
                        assert!(copy.now() >= before);
                        assert!((0..1_000_u64).all(|key| copy.contains(key)));
                    }
                }
            });
        }
    });
    assert!(seen.remove(5_u64) && !seen.contains(5_u64));
    seen.clear();
    assert!(seen.is_empty() && !seen.contains(6_u64));
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn none_that_lives_is_missed() {
    none_is_missed(
        &GrowableConcurrentExpiringCuckooFilter::with_capacity(20_000, 0.001, 1_000).unwrap(),
    );
    none_is_missed(
        &GrowableConcurrentExpiringCuckooFilter::with_capacity(1, 0.001, 1_000).unwrap(),
    );
}

#[test]
fn files_of_the_shared() {
    let seen = GrowableConcurrentExpiringCuckooFilter::with_capacity(10, 0.001, 60).unwrap();
    seen.advance(1_000);
    seen.insert_many(&(0..5_000_u64).collect::<Vec<_>>()).unwrap();
    let any = AnyFilter::from_bytes(&seen.to_bytes()).unwrap();
    let AnyFilter::GrowableExpiringSet(one) = any else { panic!("another kind") };
    assert!(one == seen.to_filter());
    let read = one.into_concurrent();
    assert!(read == seen && read.now() == 1_000 && (read.ttl(), read.resolution()) == (60, 4));
    assert!((0..5_000_u64).all(|key| read.contains(key)) && read.len() == seen.len());
    read.advance(1_064);
    assert!(read.is_empty());
}

/// By hashes and by keys, one by one and many at once: the same keys come and go.
fn by_hashes(seen: &GrowableConcurrentExpiringCuckooFilter) {
    let keys: Vec<u64> = (0..3_000).collect();
    let hashes: Vec<u64> = keys.iter().map(|key| key.hash_with(seen.hasher())).collect();
    let (first, second) = hashes.split_at(1_000);
    seen.insert_hashes(first).unwrap();
    assert!(seen.contains_many(&keys[..1_000]).iter().all(|&found| found));
    seen.advance(500);
    seen.insert_hash(hashes[0]).unwrap();
    assert_eq!((seen.age(0_u64), seen.age(1_u64)), (Some(0), Some(500)));
    let mut new = vec![true; 1_000];
    seen.insert_unique_hashes(first, &mut new).unwrap();
    assert!(new.iter().all(|&new| !new));
    assert_eq!(seen.age(1_u64), Some(500), "it stays as old as it is");
    seen.refresh_hashes(first, &mut new).unwrap();
    assert!(new.iter().all(|&new| !new));
    assert_eq!(seen.age(1_u64), Some(0));
    let mut new = vec![false; 2_000];
    seen.insert_unique_hashes(second, &mut new).unwrap();
    let told = new.iter().filter(|&&new| new).count();
    assert!(told > 1_980, "{told} of 2000 at 0.001");
    assert_eq!(seen.len(), 1_000 + told as u64);
    let mut removed = vec![false; 2_000];
    seen.remove_hashes(second, &mut removed);
    // A key that shares a fingerprint with one of the first goes with it.
    assert!(removed.iter().filter(|&&removed| removed).count().abs_diff(told) < 20);
    assert!(seen.remove_many(&keys[..1_000]).iter().filter(|&&removed| removed).count() > 990);
    assert_eq!(seen.len(), 0);
}

#[test]
fn hashes_do_what_keys_do() {
    by_hashes(&GrowableConcurrentExpiringCuckooFilter::with_capacity(3_000, 0.001, 1_500).unwrap());
    by_hashes(&GrowableConcurrentExpiringCuckooFilter::with_capacity(10, 0.001, 1_500).unwrap());
}

/// As many keys as take all partitions, each inserted as its own thread wants, live as long as
/// promised; a copy for one owner has the same.
#[test]
#[cfg_attr(miri, ignore = "many keys")]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
fn many_keys_come_and_go() {
    const MANY: u64 = 400_000;
    let seen = GrowableConcurrentExpiringCuckooFilter::with_capacity(10, 0.001, 1_000).unwrap();
    for (round, now) in [0, 700, 3_000].into_iter().enumerate() {
        seen.advance(now);
        let keys =
            |worker: u64| (worker * MANY / 4..(worker + 1) * MANY / 4).map(move |n| n << round);
        thread::scope(|scope| {
            for worker in 0..4 {
                let seen = &seen;
                scope.spawn(move || {
                    let keys: Vec<u64> = keys(worker).collect();
                    keys.chunks(50_000).for_each(|keys| seen.insert_many(keys).unwrap());
                });
            }
        });
        for of in [&seen, &seen.to_filter().into_concurrent()] {
            let all: Vec<u64> = (0..4).flat_map(keys).collect();
            assert!(of.contains_many(&all).iter().all(|&found| found));
            let expected = if round == 1 { MANY * 3 / 2 } else { MANY };
            assert!(of.len().abs_diff(expected) < expected / 20, "{} of {expected}", of.len());
        }
    }
    assert!(seen.segments() >= 16, "{}", seen.segments());
    seen.advance(10_000);
    assert!(seen.is_empty() && seen.expected_fpr() == 0.0);
}
