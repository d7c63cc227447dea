//! The map against a naive model.

use std::collections::HashMap;

use malkoha::{BuildError, CuckooMap};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Insert(u8, u64),
    Update(u8, u64),
    Remove(u8),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => (any::<u8>(), any::<u64>()).prop_map(|(key, value)| Operation::Insert(key, value)),
        1 => (any::<u8>(), any::<u64>()).prop_map(|(key, value)| Operation::Update(key, value)),
        2 => any::<u8>().prop_map(Operation::Remove),
    ]
}

proptest! {
    #[test]
    fn every_value_is_among_the_candidates(
        capacity in 1..300_u64,
        value_bits in 1..=64_u32,
        fpr in prop_oneof![Just(0.1), Just(0.001), Just(1e-8)],
        operations in proptest::collection::vec(operation(), 0..400),
    ) {
        let mut map = CuckooMap::with_capacity(capacity, fpr, value_bits).unwrap();
        let mut model: HashMap<u8, Vec<u64>> = HashMap::new();
        let cut = |value: u64| value >> (64 - value_bits);
        for operation in operations {
            match operation {
                Operation::Insert(key, value) => {
                    if map.insert(&key, cut(value)).is_ok() {
                        model.entry(key).or_default().push(cut(value));
                    }
                }
                Operation::Update(key, new) => {
                    if let Some(value) = model.get_mut(&key).and_then(|values| values.last_mut()) {
                        prop_assert!(map.update(&key, *value, cut(new)));
                        *value = cut(new);
                    }
                }
                Operation::Remove(key) => {
                    if let Some(value) = model.get_mut(&key).and_then(Vec::pop) {
                        prop_assert!(map.remove(&key, value));
                    }
                }
            }
        }
        prop_assert_eq!(map.len(), model.values().map(|values| values.len() as u64).sum::<u64>());
        let hasher = map.hasher();
        for (key, values) in &model {
            let mut candidates: Vec<u64> = map.get(key).collect();
            let mut batched = Vec::new();
            map.get_hashes(&[malkoha::Key::hash_with(key, hasher)], |_, value| batched.push(value));
            prop_assert_eq!(&candidates, &batched);
            for value in values {
                let at = candidates.iter().position(|candidate| candidate == value);
                prop_assert!(at.is_some(), "lost {} of {}", value, key);
                candidates.swap_remove(at.unwrap());
            }
        }
    }
}

/// 100,000 keys; candidates of present keys beyond their own: about 90, tolerance 4.5 sigma.
/// Candidates of absent keys: 1,000,000 lookups at an expected 0.9e-3 or so,
/// sigma 3.3 %, tolerance 4.5 sigma and the formula's own 4 %.
#[test]
fn candidates_are_few() {
    let mut map = CuckooMap::with_capacity(100_000, 0.001, 32).unwrap();
    for key in 0..100_000_u64 {
        map.insert(&key, key * 3).unwrap();
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
    let mut before = Vec::new();
    loop {
        before.clear();
        map.write_to(&mut before).unwrap();
        if map.insert(&keys, keys << 8).is_err() {
            break;
        }
        keys += 1;
    }
    let mut after = Vec::new();
    map.write_to(&mut after).unwrap();
    assert!(before == after);
    assert!(keys >= 500);
    assert!((0..keys).all(|key| map.get(&key).any(|value| value == key << 8)));
}

#[test]
fn values_that_do_not_fit_are_refused() {
    assert_eq!(CuckooMap::with_capacity(1, 0.1, 0).unwrap_err(), BuildError::ValueBits(0));
    assert_eq!(CuckooMap::with_capacity(1, 0.1, 65).unwrap_err(), BuildError::ValueBits(65));
    let mut map = CuckooMap::with_capacity(10, 0.1, 3).unwrap();
    map.insert("fits", 7).unwrap();
    let refused = std::panic::catch_unwind(move || map.insert("does not", 8));
    assert!(refused.is_err());
}
