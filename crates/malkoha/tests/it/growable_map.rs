//! The growable map against a naive model, through growth, splits and ever wider values.
#![expect(clippy::cast_precision_loss, reason = "sample sizes, all small")]

use std::collections::HashMap;

use malkoha::GrowableCuckooMap;
use proptest::prelude::*;

use crate::support::agree;

#[derive(Clone, Debug)]
enum Operation {
    InsertRange { from: u32, len: u32, shift: u32 },
    InsertCopies { key: u32, value: u64, len: u32 },
    Update { key: u32, new: u64 },
    RemoveRange { from: u32, len: u32 },
    Shrink,
    Reserve { keys: u64, value: u64 },
}

fn value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift)
}

fn operation() -> impl Strategy<Value = Operation> {
    // Few keys, so that they are met again and again as the map grows.
    let key = || 0..20_000_u32;
    prop_oneof![
        3 => (key(), 0..6_000_u32, 32..64_u32)
            .prop_map(|(from, len, shift)| Operation::InsertRange { from, len, shift }),
        2 => (key(), value(), 0..12_u32)
            .prop_map(|(key, value, len)| Operation::InsertCopies { key, value, len }),
        3 => (key(), value()).prop_map(|(key, new)| Operation::Update { key, new }),
        2 => (key(), 0..6_000_u32).prop_map(|(from, len)| Operation::RemoveRange { from, len }),
        1 => Just(Operation::Shrink),
        1 => (0..200_000_u64, value())
            .prop_map(|(keys, value)| Operation::Reserve { keys, value }),
    ]
}

/// The values of each key.
type Model = HashMap<u32, Vec<u64>>;

fn insert(map: &mut GrowableCuckooMap, model: &mut Model, key: u32, value: u64) {
    map.insert(key, value).unwrap();
    model.entry(key).or_default().push(value);
}

fn insert_many(map: &mut GrowableCuckooMap, model: &mut Model, pairs: &[(u32, u64)]) {
    map.insert_many(pairs).unwrap();
    for &(key, value) in pairs {
        model.entry(key).or_default().push(value);
    }
}

fn remove(map: &mut GrowableCuckooMap, model: &mut Model, key: u32) {
    if let Some(value) = model.get_mut(&key).and_then(Vec::pop) {
        assert!(map.remove(key, value), "{key} had {value}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn agrees_with_the_model_while_it_grows(
        capacity in prop_oneof![Just(1), 1..30_000_u64],
        fpr in prop_oneof![Just(0.3), Just(0.01), Just(1e-4), Just(1e-7)],
        seed: u64,
        operations in proptest::collection::vec(operation(), 0..40),
    ) {
        let builder = GrowableCuckooMap::builder().capacity(capacity).fpr(fpr).seed(seed);
        let (mut map, mut model) = (builder.value_bits(64).build().unwrap(), Model::new());
        for operation in operations {
            match operation {
                Operation::InsertRange { from, len, shift } => {
                    let value = |key| u64::from(key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift;
                    let pairs: Vec<_> = (from..from + len).map(|key| (key, value(key))).collect();
                    insert_many(&mut map, &mut model, &pairs);
                }
                Operation::InsertCopies { key, value, len } => {
                    (0..len).for_each(|i| insert(&mut map, &mut model, key, value ^ u64::from(i / 2)));
                }
                Operation::Update { key, new } => {
                    if let Some(old) = model.get_mut(&key).and_then(|values| values.first_mut()) {
                        prop_assert!(map.update(key, *old, new).unwrap());
                        *old = new;
                    }
                }
                Operation::Shrink => map.shrink_to_fit(),
                Operation::Reserve { keys, value } => map.reserve(keys, value).unwrap(),
                Operation::RemoveRange { from, len } => {
                    let last = |key| Some((key, model.get_mut(&key)?.pop()?));
                    let pairs: Vec<_> = (from..from + len).filter_map(last).collect();
                    prop_assert!(map.remove_many(&pairs).into_iter().all(|removed| removed));
                }
            }
        }
        agree(&map, &model);
        let keys: Vec<u32> = model.keys().copied().collect();
        for key in keys {
            while !model[&key].is_empty() {
                remove(&mut map, &mut model, key);
            }
        }
        prop_assert!(map.is_empty() && map.load_factor() == 0.0);
        prop_assert_eq!(map.expected_fpr(), 0.0);
    }
}

/// A store's index: offsets of 28 bits that rise as keys come, in a map that would take 64.
///
/// Candidates of a million absent keys: tolerance 4.5 sigma of a Poisson number, and 2 % for the
/// formula. Present keys have one more each.
#[test]
fn candidates_are_as_few_as_promised_and_values_as_narrow_as_they_can() {
    let mut map = GrowableCuckooMap::with_capacity(1_000, 0.004, 64).unwrap();
    let keys = 600_000_u64;
    let value = |key: u64| key * 400;
    let pairs: Vec<_> =
        (0..keys).map(|key| (malkoha::Key::hash_with(&key, map.hasher()), value(key))).collect();
    map.insert_hashes(&pairs).unwrap();
    let all: Vec<u64> = (0..keys).collect();
    let (mut right, mut wrong) = (0, 0);
    map.get_many(&all, |i, found| if found == value(i as u64) { right += 1 } else { wrong += 1 });
    assert_eq!(right, keys);
    let absent: Vec<u64> = (keys..keys + 1_000_000).collect();
    let mut candidates = 0_u32;
    map.get_many(&absent, |_, _| candidates += 1);
    let promised = map.expected_fpr() * 1e6;
    assert!(map.expected_fpr() <= 0.004, "{promised}");
    let off = (f64::from(candidates) - promised).abs();
    assert!(off <= 4.5 * promised.sqrt() + 0.02 * promised, "{candidates} of {promised}");
    let of_present = f64::from(wrong) / keys as f64;
    assert!(of_present <= 1.1 * map.expected_fpr(), "{of_present}");
    // 28 bits and a fingerprint of 12 bits or so with its mark, at load 0.76 and more.
    let bits = f64::from(28 + map.fingerprint_bits() + 1) / 0.76;
    assert!(map.bits_per_key() <= bits, "{} of {bits}", map.bits_per_key());
}

#[test]
fn a_key_has_any_number_of_values() {
    let mut map = GrowableCuckooMap::with_capacity(100, 0.001, 20).unwrap();
    for value in 0..1_000 {
        map.insert("cuckoo", value).unwrap();
    }
    (0..50_000_u32).for_each(|key| map.insert(key, 7).unwrap());
    let mut values: Vec<u64> = map.get("cuckoo").filter(|&value| value != 7).collect();
    values.sort_unstable();
    assert!((0..1_000).filter(|&value| value != 7).eq(values));
    assert!(map.update("cuckoo", 999, 1_000_000).unwrap());
    assert!(!map.update("cuckoo", 999, 1).unwrap());
    assert!(map.remove("cuckoo", 1_000_000) && !map.remove("cuckoo", 1_000_000));
    (0..999).for_each(|value| assert!(map.remove("cuckoo", value), "{value}"));
    assert_eq!((map.spilled(), map.len()), (0, 50_000));
}

/// Room made beforehand is enough, takes no more than growing would, and can be given back.
#[test]
fn what_was_reserved_need_not_grow() {
    for keys in [1_000_u64, 60_000, 300_000] {
        let mut map = GrowableCuckooMap::with_capacity(256, 0.004, 40).unwrap();
        assert!(map.reserve(keys, 1 << 40).is_err());
        map.reserve(keys, keys * 400).unwrap();
        let (segments, bytes) = (map.segments(), map.size_in_bytes());
        (0..keys).for_each(|key| map.insert(key, key * 400).unwrap());
        assert_eq!((map.segments(), map.size_in_bytes()), (segments, bytes), "{keys} keys");
        // A segment's load is not below 0.72, nor has a small map 256 slots.
        assert!(map.load_factor() > 0.72, "{} at {keys} keys", map.load_factor());
        assert!((0..keys).all(|key| map.get(&key).any(|value| value == key * 400)));
        let mut empty = GrowableCuckooMap::with_capacity(256, 0.004, 40).unwrap();
        empty.reserve(keys, keys * 400).unwrap();
        empty.shrink_to_fit();
        assert!(empty.size_in_bytes() < bytes / 2);
    }
}

/// Two splits use up what a map that is not to grow knows of its first keys. Whoever has them can
/// insert those again, as often as it takes.
#[test]
fn a_map_whose_oldest_keys_come_again_splits_on() {
    let keys = 300_000_u64;
    let builder = || GrowableCuckooMap::builder().capacity(1_000).fpr(0.01).growth(1.0);
    let mut maps = [(); 2].map(|()| builder().value_bits(20).seed(1).build().unwrap());
    let mut renewed = 0;
    for n in 0..keys {
        maps.iter_mut().for_each(|map| map.insert(n, n).unwrap());
        let [_, map] = &mut maps;
        if n % 1_000 > 0 || map.splits_left() > 0 {
            continue;
        }
        let mut segment = 0;
        while segment < map.segments() {
            let old = map.values_short_of(1, segment);
            renewed += old.len();
            assert_eq!(map.remove_many(&pairs(&old)), vec![true; old.len()]);
            map.insert_many(&pairs(&old)).unwrap();
            segment += 1;
        }
        assert!(map.splits_left() > 0, "{n}");
        assert!((0..=n).step_by(100).all(|n| map.get(n).any(|value| value == n)));
    }
    let [stuck, map] = maps;
    assert_eq!((stuck.splits_left(), stuck.segments()), (0, 4));
    assert!(map.segments() >= 8 && map.size_in_bytes() * 4 < stuck.size_in_bytes());
    assert!(renewed > 0 && map.spilled() < 50 && map.len() == keys);
    assert!((0..keys).all(|n| map.count_value(n, n) == 1));
    // There is no such segment, and new keys know all that they can.
    assert!(map.values_short_of(1, map.segments()).is_empty());
    let fresh = GrowableCuckooMap::with_capacity(100_000, 0.01, 20).unwrap();
    assert_eq!((fresh.splits_left(), fresh.values_short_of(u32::MAX, 0)), (31 - 2, vec![]));
}

fn pairs(values: &[u64]) -> Vec<(u64, u64)> {
    values.iter().map(|&value| (value, value)).collect()
}
