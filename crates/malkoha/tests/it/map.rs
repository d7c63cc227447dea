//! The map of fixed size. The fuzz target `operations` compares it with a model.

use std::collections::HashMap;

use malkoha::{BatchError, BuildError, Copies, CuckooMap, InsertError, Key, Layout, UnionError};

/// Further values of a key give way to new keys, equal or not, as copies do in filters.
#[test]
fn a_map_holds_its_capacity_of_distinct_keys() {
    for different in [0, 1] {
        let mut map = CuckooMap::with_capacity(10_000, 0.001, 16).unwrap();
        let pairs = |key: u32| (0..5).map(move |i| u64::from(key) + i * different);
        for key in 0..10_000_u32 {
            pairs(key).try_for_each(|value| map.insert(key, value)).unwrap();
        }
        assert_eq!(map.len(), 50_000);
        assert!((0..10_000).all(|key| pairs(key).all(|value| map.count_value(key, value) >= 1)));
        assert!((0..10_000).all(|key| pairs(key).all(|value| map.remove(key, value))));
        assert!(map.is_empty() && map.spilled() == 0);
    }
}

#[test]
fn a_union_has_the_pairs_of_both() {
    let map = |keys: std::ops::Range<u32>, capacity| {
        let mut map = CuckooMap::with_capacity(capacity, 0.001, 33).unwrap();
        let pairs: Vec<(u32, u64)> = keys.map(|key| (key, u64::from(key) * 2)).collect();
        map.insert_many(&pairs).unwrap();
        map
    };
    let mut ours = map(0..20_000, 40_000);
    ours.unite(&map(15_000..35_000, 40_000), Copies::Sum).unwrap();
    assert_eq!(ours.len(), 40_000);
    for key in 0..35_000_u32 {
        let copies = 1 + u64::from((15_000..20_000).contains(&key));
        assert!(ours.count_value(key, u64::from(key) * 2) >= copies);
    }
    let before = ours.to_bytes();
    let error = ours.unite(&map(40_000..75_000, 40_000), Copies::Sum).unwrap_err();
    assert_eq!(error, UnionError::Full { keys: 75_000, capacity: 40_000 });
    let error = ours.unite(&map(0..10, 10), Copies::Sum).unwrap_err();
    assert!(matches!(error, UnionError::Different("geometry")), "{error}");
    assert!(before == ours.to_bytes());
}

/// 100,000 keys; candidates of present keys beyond their own: about 90, tolerance 4.5 sigma.
/// Candidates of absent keys: 1,000,000 lookups at an expected 0.9e-3 or so,
/// sigma 3.3 %, tolerance 4.5 sigma and the formula's own 4 %.
#[test]
fn candidates_are_few() {
    let mut map = CuckooMap::with_capacity(100_000, 0.001, 32).unwrap();
    for key in 0..100_000_u64 {
        map.insert(key, key * 3).unwrap();
    }
    let fpr = map.expected_fpr();
    assert!(fpr <= 0.001);
    let mut present = 0;
    for key in 0..100_000_u64 {
        assert!(map.get(&key).any(|value| value == key * 3));
        present += map.get(&key).count();
    }
    assert!(present as f64 <= 100_000.0 * (1.0 + 1.5 * fpr), "{present}");
    let absent = (0..1_000_000_u64).map(|key| map.get(&(key + (1 << 40))).count()).sum::<usize>();
    let measured = absent as f64 / 1e6;
    assert!((measured / fpr - 1.0).abs() < 0.19, "{measured} {fpr}");
}

/// A refused insert leaves every value where it was, through all the evictions it tried.
#[test]
fn a_refused_insert_changes_nothing() {
    let mut map = CuckooMap::with_capacity(500, 0.01, 40).unwrap();
    let mut keys = 0_u64;
    let before = loop {
        let before = map.to_bytes();
        if map.insert(keys, keys << 8).is_err() {
            break before;
        }
        keys += 1;
    };
    assert!(before == map.to_bytes());
    assert!(keys >= 500);
    assert!((0..keys).all(|key| map.get(&key).any(|value| value == key << 8)));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    assert_eq!(CuckooMap::with_capacity(1, 0.1, 0).unwrap_err(), BuildError::ValueBits(0));
    assert_eq!(CuckooMap::with_capacity(1, 0.1, 65).unwrap_err(), BuildError::ValueBits(65));
    let gap_windows = CuckooMap::builder().capacity(1).fpr(0.1).layout(Layout::GapWindows);
    let error = gap_windows.value_bits(8).build().unwrap_err();
    assert!(error.to_string().contains("choose the bucketed layout"), "{error}");

    let mut map = CuckooMap::with_capacity(10, 0.1, 3).unwrap();
    map.insert("fits", 7).unwrap();
    let before = map.to_bytes();
    let error = map.insert("does not", 8).unwrap_err();
    assert_eq!(error, InsertError::Value { value: 8, bits: 3 });
    assert!(error.to_string().contains("build it for more"), "{error}");
    assert_eq!(map.update("fits", 7, 8), Err(error));
    assert!(before == map.to_bytes());
    let refusal = map.insert_many(&[("fits", 1), ("does not", 8), ("fits too", 2)]).unwrap_err();
    assert_eq!((refusal.refused, refusal.error), (vec![1], error));
    assert!(map.get("fits too").eq([2]) && map.len() == 3);
    let mut widest = CuckooMap::with_capacity(10, 0.1, 64).unwrap();
    widest.insert("fits", u64::MAX).unwrap();
    assert!(widest.get("fits").any(|value| value == u64::MAX));
}

/// The first value of each key, as a naive set keeps it, in several segments and for any number of
/// threads; keys repeat within a batch and between batches.
#[test]
fn distinct_keys_keep_their_first_values() {
    let key_of = |value: u64| value.wrapping_mul(0x9e37_79b9) % 400_000;
    let values: Vec<u64> = (0..600_000).collect();
    let mut expected = HashMap::new();
    for &value in &values {
        expected.entry(key_of(value)).or_insert(value);
    }
    let mut bytes = Vec::new();
    for threads in [1, 2, 8] {
        let mut map = CuckooMap::with_capacity(400_000, 0.002, 20).unwrap();
        assert!(map.geometry().segments > 1);
        let hasher = map.hasher();
        let mut inserted = 0;
        for values in values.chunks(50_000) {
            let pairs: Vec<(u64, u64)> =
                values.iter().map(|&value| (key_of(value).hash_with(hasher), value)).collect();
            let is_same = |a: u64, b: u64| key_of(a) == key_of(b);
            inserted += map.insert_distinct_hashes(&pairs, threads, is_same).unwrap();
        }
        assert_eq!((inserted, map.len()), (expected.len() as u64, expected.len() as u64));
        for (key, &value) in &expected {
            let of_key = map.get(key).filter(|&found| key_of(found) == *key);
            assert_eq!(of_key.collect::<Vec<_>>(), [value]);
        }
        if bytes.is_empty() {
            bytes = map.to_bytes();
        }
        assert!(bytes == map.to_bytes(), "{threads} threads");
    }
}

/// Many keys of one hash are more than its slots: the others are spilled, and found again.
#[test]
fn distinct_keys_of_one_hash() {
    let mut map = CuckooMap::with_capacity(100, 0.01, 10).unwrap();
    for round in 0..3_u64 {
        let pairs: Vec<(u64, u64)> = (0..100).map(|n| (7, (round * 20 + n) % 50)).collect();
        let inserted = map.insert_distinct_hashes(&pairs, 2, |a, b| a == b);
        assert_eq!(inserted, Ok(if round == 0 { 50 } else { 0 }));
    }
    let mut values: Vec<u64> = map.get_hash(7).collect();
    values.sort_unstable();
    assert_eq!(values, (0..50).collect::<Vec<_>>());
    assert!(map.spilled() > 0);
}

#[test]
fn distinct_keys_that_do_not_fit_are_named() {
    let mut map = CuckooMap::with_capacity(100, 0.01, 10).unwrap();
    let pairs: Vec<(u64, u64)> = (0..1000_u64).map(|n| (n.hash_with(map.hasher()), n)).collect();
    let Err(BatchError { refused, .. }) = map.insert_distinct_hashes(&pairs, 2, |a, b| a == b)
    else {
        panic!("1000 keys in room for 100")
    };
    assert_eq!(map.len(), 1000 - refused.len() as u64);
    for (i, &(hash, value)) in pairs.iter().enumerate() {
        let is_in = map.get_hash(hash).any(|found| found == value);
        assert_eq!(is_in, refused.binary_search(&i).is_err());
    }
    let too_large = map.insert_distinct_hashes(&[(1, 1), (2, 1024)], 2, |a, b| a == b);
    let BatchError { refused, error, .. } = too_large.unwrap_err();
    assert_eq!((refused, error), (vec![1], InsertError::Value { value: 1024, bits: 10 }));
}
