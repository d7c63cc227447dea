//! Growing filters that threads share: no number and no choice of keys makes them refuse one.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use malkoha::tables::{most_places_growing_shared, places_looked_at};
use malkoha::{BuildError, Builder, GrowableConcurrentCuckooFilter, Key, KeyHasher};

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
const LOW: u64 = 0xffff_ffff;

/// The hash whose lower half is `low`, and with which the fingerprint is made of `word`: the upper
/// half of the hash times [`MIX`], which has an inverse given the lower one.
fn hash(word: u64, low: u64) -> u64 {
    let (mix_high, mix_low) = (MIX >> 32, MIX & LOW);
    let inverse =
        (0..6).fold(1_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(mix_low.wrapping_mul(x))));
    let rest = low.wrapping_mul(mix_high).wrapping_add(low.wrapping_mul(mix_low) >> 32);
    (word.wrapping_sub(rest).wrapping_mul(inverse) & LOW) << 32 | low & LOW
}

/// Hashes whose fingerprints begin with so many zeros, so that splits do not part them.
fn in_one_part(zeros: u32, seed: u64) -> impl Iterator<Item = u64> {
    (0_u64..).map(move |n| {
        let random = n.hash_with(KeyHasher::new(seed));
        hash(random >> 32 >> zeros, random & LOW)
    })
}

fn honest(keys: u64) -> Vec<u64> {
    (0..keys).map(|key| key.hash_with(KeyHasher::new(7))).collect()
}

fn build(capacity: u64, fpr: f64, growth: Option<f64>) -> GrowableConcurrentCuckooFilter {
    let builder = Builder::new().capacity(capacity).fpr(fpr);
    let builder = if let Some(growth) = growth { builder.growth(growth) } else { builder };
    builder.build().unwrap()
}

fn has_all(filter: &GrowableConcurrentCuckooFilter, hashes: &[u64]) -> bool {
    let mut found = vec![false; hashes.len()];
    filter.contains_hashes(hashes, &mut found);
    found.into_iter().all(|found| found) && hashes.iter().all(|&hash| filter.contains_hash(hash))
}

#[test]
fn hashes_are_as_asked() {
    for (word, low) in [(0, 0), (1, LOW), (0x1234_5678, 0x9abc_def0), (LOW, LOW)] {
        let hash = hash(word, low);
        assert_eq!((hash & LOW, hash.wrapping_mul(MIX) >> 32), (low, word));
    }
}

/// Sample: 300,000 absent keys at each doubling, far beyond the tables that a filter begins with;
/// tolerance of the expectation: 5 sigma, and 15 % for parts that are fuller than others.
#[test]
#[cfg_attr(miri, ignore = "statistics need many keys")]
fn the_rate_holds_at_any_size() {
    for (capacity, fpr, growth, most) in [
        (500, 0.01, None, 1_600_000),
        (500, 0.03, Some(1.0), 400_000),
        (500, 1e-4, Some(2.0), 100_000),
    ] {
        let filter = build(capacity, fpr, growth);
        let hashes = honest(most);
        let absent: Vec<u64> = (0..300_000_u64).map(|n| n.hash_with(KeyHasher::new(8))).collect();
        let (mut done, mut next) = (0, 500);
        while done < hashes.len() {
            filter.insert_hashes(&hashes[done..next]).unwrap();
            (done, next) = (next, hashes.len().min(2 * next));
            let mut found = vec![false; absent.len()];
            filter.contains_hashes(&absent, &mut found);
            let found = found.into_iter().filter(|&found| found).count() as f64;
            let expected = filter.expected_fpr() * absent.len() as f64;
            let off = 5.0 * expected.sqrt() + 0.15 * expected + 5.0;
            assert!((found - expected).abs() < off, "{done}: {found}, expected {expected}");
            let promised = if growth.is_none() { fpr } else { 1.5 * fpr };
            assert!(found <= promised * absent.len() as f64, "{done}: {found}");
        }
        assert!(has_all(&filter, &hashes));
        assert!(filter.bits_per_key() < 80.0, "{}", filter.bits_per_key());
        assert!(filter.spilled() < most / 100, "{}", filter.spilled());
        let (gone, kept) = hashes.split_at(hashes.len() / 3);
        assert!(gone.iter().all(|&hash| filter.remove_hash(hash)));
        assert!(has_all(&filter, kept));
        let read = GrowableConcurrentCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert!(read == filter && has_all(&read, kept));
        assert!(kept.iter().all(|&hash| read.remove_hash(hash)));
        assert!(read.is_empty() && read.spilled() == 0);
        assert!(!hashes.iter().any(|&hash| read.contains_hash(hash)));
    }
}

/// Such rates leave fewer bits of a fingerprint to choose parts, and tables below open earlier.
#[test]
#[cfg_attr(miri, ignore = "too many keys")]
fn low_rates_hold_at_any_size() {
    let (hashes, absent) = (honest(300_000), 1_000_000..2_000_000_u64);
    for fpr in [1e-6, 1e-7, 4e-8] {
        let filter = build(10, fpr, None);
        for hashes in hashes.chunks(3_000) {
            filter.insert_hashes(hashes).unwrap();
            assert!(filter.expected_fpr() <= fpr, "{fpr}: {}", filter.expected_fpr());
        }
        let found = absent.clone().filter(|key| filter.contains(key)).count();
        assert!(found < 10, "{fpr}: {found}");
        assert!(has_all(&filter, &hashes));
        let read = GrowableConcurrentCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert!(read == filter && has_all(&read, &hashes));
        assert!(hashes.iter().all(|&hash| read.remove_hash(hash)) && read.is_empty());
    }
    let builder = GrowableConcurrentCuckooFilter::builder().capacity(10).fpr(1e-8);
    assert!(matches!(builder.build(), Err(BuildError::FprTooSmall { .. })));
}

/// Keys with one bucket for their first place, and few for their second: more than all of them have
/// slots. Before and after honest ones.
#[test]
#[cfg_attr(miri, ignore = "too many keys")]
fn a_jammed_place_harms_nobody() {
    let honest = honest(200_000);
    for (capacity, fpr, growth) in [(1_000, 0.001, None), (1, 0.03, None), (1_000, 1e-4, Some(1.0))]
    {
        let (filter, alone) = (build(capacity, fpr, growth), build(capacity, fpr, growth));
        // The lower half chooses the first place; words that differ in a high bit, others.
        let mut jam: Vec<u64> =
            (0..3_000).map(|n| hash(n << 20 & LOW, 77 << 22 | n >> 12)).collect();
        jam.extend((0..3_000).map(|n| hash(n, 77 << 22)));
        filter.insert_hashes(&jam[..2_000]).unwrap();
        filter.insert_hashes(&honest).unwrap();
        filter.insert_hashes(&jam[2_000..]).unwrap();
        alone.insert_hashes(&honest).unwrap();
        assert!(has_all(&filter, &honest) && has_all(&filter, &jam));
        assert!(jam.iter().all(|&hash| filter.count_hash(hash) >= 1));
        assert!(filter.size_in_bytes() < alone.size_in_bytes() + 6_000 * 80 + (2 << 20));
        let read = GrowableConcurrentCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert!(read == filter && has_all(&read, &jam) && filter.clone() == read);
        assert!(jam.iter().all(|&hash| read.remove_hash(hash)));
        assert!(has_all(&read, &honest));
        assert!(honest.iter().all(|&hash| read.remove_hash(hash)) && read.is_empty());
    }
}

/// Keys that belong in one part however often it is split, table below table. Memory is in
/// proportion to them, and so is the work: an insert reads a part where it is split, and searches.
#[test]
#[cfg_attr(miri, ignore = "too many keys")]
fn a_lopsided_filter_goes_on() {
    for (zeros, growth, keys) in [(10, None, 100_000), (16, Some(1.0), 100_000), (24, None, 50_000)]
    {
        let filter = build(1_000, 0.001, growth);
        let (mut longest, start) = (0, places_looked_at());
        let hashes: Vec<u64> = in_one_part(zeros, 3).take(keys).collect();
        for &hash in &hashes {
            let before = places_looked_at();
            filter.insert_hash(hash).unwrap();
            longest = longest.max(places_looked_at() - before);
        }
        let each = (places_looked_at() - start) / keys as u64;
        assert!(longest <= most_places_growing_shared(), "{longest}");
        assert!(each < 2_000, "{each} places a key");
        assert!(has_all(&filter, &hashes));
        assert!(hashes.iter().all(|&hash| filter.count_hash(hash) >= 1));
        let bytes = filter.size_in_bytes() / keys as u64;
        assert!(bytes < 150, "{bytes} bytes a key");
        let honest = honest(50_000);
        filter.insert_hashes(&honest).unwrap();
        assert!(has_all(&filter, &honest));
        let read = GrowableConcurrentCuckooFilter::from_bytes(&filter.to_bytes()).unwrap();
        assert!(read == filter);
        assert!(hashes.iter().all(|&hash| read.remove_hash(hash)) && has_all(&read, &honest));
    }
}

/// Threads hand in the same keys, a jam among them, while the filter grows past its first table:
/// each is new once at most, and those that are not new are false positives.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
#[cfg_attr(miri, ignore = "too many keys")]
fn a_key_is_new_once_at_any_depth() {
    let filter = build(500, 1e-4, Some(1.0));
    let mut hashes = honest(60_000);
    hashes.extend((0..2_000).map(|n| hash(n << 20 & LOW, 77 << 22 | n >> 12)));
    let new: Vec<AtomicU8> = hashes.iter().map(|_| AtomicU8::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (filter, hashes, new) = (&filter, &hashes, &new);
            scope.spawn(move || {
                for i in 0..hashes.len() {
                    // Some threads run ahead of others by a few keys.
                    let i = (i + thread * 3) % hashes.len();
                    let is_new = filter.insert_unique_hash(hashes[i]).unwrap();
                    new[i].fetch_add(is_new.into(), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(new.iter().all(|new| new.load(Ordering::Relaxed) <= 1), "a key was new twice");
    let sum = new.iter().filter(|new| new.load(Ordering::Relaxed) == 1).count();
    assert_eq!(sum as u64, filter.len());
    assert!(sum > 61_000 && has_all(&filter, &hashes));
    assert_eq!(filter.entries().map(|entry| entry.copies).sum::<u64>(), filter.len());
}

/// Threads put keys in and take half of them out again, table below table, while another looks for
/// those that stay. In the end all is taken out, and nothing is left.
#[test]
#[cfg_attr(target_family = "wasm", ignore = "needs threads")]
#[cfg_attr(miri, ignore = "too many keys")]
fn no_key_is_missed_at_any_depth() {
    const EACH: usize = 30_000;
    let filter = build(500, 1e-3, Some(1.0));
    let mut hashes = honest(2 * EACH as u64);
    // A crowd among them, so that keys are stashed.
    for n in 0..1_000 {
        hashes[n * 60] = hash((n as u64) << 20 & LOW, 77 << 22 | n as u64 >> 12);
    }
    let put_in: Vec<AtomicUsize> = (0..2).map(|_| AtomicUsize::new(0)).collect();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|thread| {
                let (filter, mine) = (&filter, &hashes[thread * EACH..][..EACH]);
                let put_in = &put_in[thread];
                scope.spawn(move || {
                    for keys in mine.chunks(100) {
                        filter.insert_hashes(keys).unwrap();
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
            let copy = filter.clone();
            assert!(copy.len() <= 2 * EACH as u64);
        }
    });
    assert_eq!(filter.len(), EACH as u64);
    let kept = || hashes.chunks(100).flat_map(|keys| &keys[..50]);
    assert!(kept().all(|&hash| filter.count_hash(hash) >= 1));
    assert!(kept().all(|&hash| filter.remove_hash(hash)));
    assert!(filter.is_empty() && filter.entries().next().is_none());
}
