//! Options at their ends and beyond, values of no bits, and callbacks that panic: an error or a
//! right answer, never a panic of ours.

use std::panic::{AssertUnwindSafe, catch_unwind};

use malkoha::{
    Builder, ConcurrentCuckooFilter, CuckooFilter, CuckooMap, ExpiringCuckooFilter,
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap,
    GrowableConcurrentExpiringCuckooFilter, GrowableCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter, InsertError, Key, KeyHasher,
};

/// Builders with options at their ends and beyond.
fn all_odd<F>() -> Vec<Builder<F>> {
    let mut all = Vec::new();
    let capacities = [None, Some(0), Some(1), Some(2), Some((1 << 36) + 1), Some(u64::MAX)];
    let rates = [None, Some(0.5), Some(0.999_999), Some(1e-9), Some(5e-324), Some(0.0), Some(1.0)];
    let ends = [f64::NAN, f64::INFINITY, -0.1, f64::MIN_POSITIVE];
    for capacity in capacities {
        for fpr in rates.into_iter().chain(ends.map(Some)) {
            let plain = capacity.into_iter().fold(Builder::new(), Builder::capacity);
            let plain = fpr.into_iter().fold(plain, Builder::fpr);
            let with = || plain.clone();
            let growths = [1.0, 2.0, 1e9, 1e300, 0.0, f64::NAN, f64::INFINITY];
            all.extend(growths.map(|growth| with().growth(growth)));
            all.extend([0, 1, 64, 65, u32::MAX].map(|bits| with().value_bits(bits)));
            all.extend([0, 1, 65_535, 65_536].map(|kicks| with().max_kicks(kicks)));
            for ttl in [0, 1, 255, u64::MAX] {
                all.push(with().expire_after(ttl));
                let resolutions = [0, 1, ttl, u64::MAX];
                all.extend(resolutions.map(|each| with().expire_after(ttl).resolution(each)));
            }
            all.push(plain);
        }
    }
    all
}

/// What is built works: inserted keys are found, also in its file, and can be removed.
macro_rules! works {
    ($($name:ident: $type:ty, $insert:expr, $remove:expr;)*) => {$(
        #[test]
        #[cfg_attr(miri, ignore = "too slow")]
        fn $name() {
            let (insert, remove) = ($insert, $remove);
            let (mut built, mut keys) = (0, 0);
            for odd in all_odd::<$type>() {
                #[allow(unused_mut, reason = "some change through shared references")]
                let mut filter = match odd.build() {
                    Ok(filter) => filter,
                    Err(error) => {
                        assert!(error.to_string().len() > 20, "{odd:?}: {error}");
                        continue;
                    }
                };
                built += 1;
                assert!(filter.is_empty() && filter.capacity() > 0, "{odd:?}");
                assert!((0.0..=1.0).contains(&filter.expected_fpr()), "{odd:?}");
                let inserted: Vec<u64> = (0..9).filter(|&key| insert(&mut filter, key)).collect();
                assert!(inserted.contains(&0), "{odd:?}: one key at least");
                assert!(inserted.iter().all(|key| filter.contains(key)), "{odd:?}");
                assert!((0.0..=1.0).contains(&filter.expected_fpr()), "{odd:?}");
                assert!(filter.bits_per_key().is_finite() && filter.load_factor() > 0.0);
                let read = <$type>::from_bytes(&filter.to_bytes());
                let read = read.unwrap_or_else(|error| panic!("{odd:?}: {error}"));
                assert!(read == filter && inserted.iter().all(|key| read.contains(key)));
                assert!(filter.clone() == filter);
                keys += inserted.len();
                inserted.iter().for_each(|&key| {
                    let _ = remove(&mut filter, key);
                });
                assert!(filter.is_empty(), "{odd:?}");
            }
            assert!(built > 5 && keys > built, "{built} built, {keys} keys");
        }
    )*};
}

works! {
    fixed_sets: CuckooFilter, |f: &mut CuckooFilter, k| f.insert(k).is_ok(), CuckooFilter::remove::<u64>;
    growing_sets: GrowableCuckooFilter, |f: &mut GrowableCuckooFilter, k| f.insert(k).is_ok(),
        GrowableCuckooFilter::remove::<u64>;
    shared_sets: ConcurrentCuckooFilter, |f: &mut ConcurrentCuckooFilter, k| f.insert(k).is_ok(),
        |f: &mut ConcurrentCuckooFilter, k: u64| f.remove(k);
    shared_growing_sets: GrowableConcurrentCuckooFilter,
        |f: &mut GrowableConcurrentCuckooFilter, k| f.insert(k).is_ok(),
        |f: &mut GrowableConcurrentCuckooFilter, k: u64| f.remove(k);
    fixed_maps: CuckooMap, |f: &mut CuckooMap, k| f.insert(k, k & 1).is_ok(),
        |f: &mut CuckooMap, k: u64| f.remove(k, k & 1);
    growing_maps: GrowableCuckooMap,
        |f: &mut GrowableCuckooMap, k: u64| { let v = k & u64::from(f.value_bits() > 0); f.insert(k, v).is_ok() },
        |f: &mut GrowableCuckooMap, k: u64| { let v = k & u64::from(f.value_bits() > 0); f.remove(k, v) };
    shared_growing_maps: GrowableConcurrentCuckooMap,
        |f: &mut GrowableConcurrentCuckooMap, k: u64| { let v = k & u64::from(f.value_bits() > 0); f.insert(k, v).is_ok() },
        |f: &mut GrowableConcurrentCuckooMap, k: u64| { let v = k & u64::from(f.value_bits() > 0); f.remove(k, v) };
    expiring_sets: ExpiringCuckooFilter,
        |f: &mut ExpiringCuckooFilter, k| { f.advance(u64::MAX); f.insert(k).is_ok() },
        ExpiringCuckooFilter::remove::<u64>;
    growing_expiring_sets: GrowableExpiringCuckooFilter,
        |f: &mut GrowableExpiringCuckooFilter, k| { f.advance(u64::MAX); f.insert(k).is_ok() },
        GrowableExpiringCuckooFilter::remove::<u64>;
    shared_growing_expiring_sets: GrowableConcurrentExpiringCuckooFilter,
        |f: &mut GrowableConcurrentExpiringCuckooFilter, k| { f.advance(u64::MAX); f.insert(k).is_ok() },
        |f: &mut GrowableConcurrentExpiringCuckooFilter, k: u64| f.remove(k);
}

#[test]
fn any_number_of_threads_is_taken() {
    let keys: Vec<u64> = (0..70_000).collect();
    for threads in [0, 1, 3, usize::MAX] {
        let built = CuckooFilter::builder().fpr(0.01).threads(threads).build_from(&keys).unwrap();
        assert!(built.contains_many(&keys).iter().all(|&found| found));
        let mut filter = CuckooFilter::with_capacity(70_000, 0.01).unwrap();
        filter.insert_hashes_with_threads(&keys, threads).unwrap();
        let mut map = CuckooMap::with_capacity(100, 0.01, 8).unwrap();
        let pairs: Vec<(u64, u64)> =
            (0..100_u64).map(|key| (key.hash_with(KeyHasher::new(0)), key)).collect();
        assert_eq!(map.insert_distinct_hashes(&pairs, threads, |a, b| a == b), Ok(100));
        let none: [(u64, u64); 0] = [];
        assert_eq!(map.insert_distinct_hashes(&none, threads, |_, _| false), Ok(0));
    }
}

#[test]
fn too_much_room_is_refused() {
    let mut map = GrowableCuckooMap::builder().value_bits(64).build().unwrap();
    let shared = GrowableConcurrentCuckooMap::builder().value_bits(64).build().unwrap();
    map.insert("koel", u64::MAX).unwrap();
    shared.insert("koel", u64::MAX).unwrap();
    let before = map.to_bytes();
    for keys in [1 << 40, 1 << 50, u64::MAX / 120 + 1, u64::MAX] {
        let errors = [map.reserve(keys, u64::MAX), shared.reserve(keys, u64::MAX)];
        let is_right = |error| matches!(error, InsertError::Memory { bytes } if bytes > 1 << 40);
        assert!(errors.map(Result::unwrap_err).into_iter().all(is_right), "{errors:?}");
    }
    assert!(map.to_bytes() == before);
    map.reserve(0, 0).unwrap();
    shared.reserve(0, 0).unwrap();
    assert!(map.get("koel").eq([u64::MAX]) && shared.get("koel").eq([u64::MAX]));
}

/// Callbacks that panic leave a filter whole, and no lock behind them.
#[test]
#[cfg_attr(not(panic = "unwind"), ignore = "panics end the program")]
fn callbacks_may_panic() {
    let quiet = |f: &mut dyn FnMut()| assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
    let growing = GrowableConcurrentCuckooMap::with_capacity(10, 0.001, 16).unwrap();
    let pairs: Vec<(u64, u64)> = (0..30_000).map(|key| (key, key)).collect();
    let keys: Vec<u64> = (0..30_000).collect();
    growing.insert_many(&pairs).unwrap();
    quiet(&mut || growing.get_many(&keys, |i, _| assert!(i != 7)));
    // They run without a lock, so they may change the filter that calls them.
    let hash = 6_u64.hash_with(growing.hasher());
    growing.for_each_candidate(hash, |value, _| growing.insert(6_u64, value + 1).unwrap());
    growing.get_many(&keys[8..9], |i, value| {
        assert!(i == 0 && growing.update(8_u64, value, value + 1).unwrap());
    });
    assert!(growing.count_value(6_u64, 7) > 0 && growing.count_value(8_u64, 9) > 0);
    growing.get_many(&keys[..100], |i, _| growing.insert(i as u64, 9).unwrap());
    growing.get(5_u64).for_each(|value| assert!(growing.remove(5_u64, value)));
    assert!(growing.count_value(50_u64, 9) > 0 && growing.count(5_u64) == 0);

    let mut map = CuckooMap::with_capacity(40_000, 0.001, 16).unwrap();
    let half: Vec<(u64, u64)> = pairs[..15_000]
        .iter()
        .map(|&(key, v)| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15), v))
        .collect();
    map.insert_distinct_hashes(&half, 2, |a, b| a == b).unwrap();
    for threads in [1, 2] {
        quiet(&mut || {
            let again = map.insert_distinct_hashes(&half, threads, |a, _| {
                if a == 77 { panic!("asked") } else { true }
            });
            assert!(again.is_err());
        });
        assert!(half.iter().all(|&(hash, value)| map.get_hash(hash).any(|found| found == value)));
        assert_eq!(map.len(), map.entries().map(|entry| entry.copies).sum::<u64>());
        assert!(CuckooMap::from_bytes(&map.to_bytes()).unwrap() == map);
    }
}
