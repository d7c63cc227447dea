//! The growable map. The fuzz target `growth` compares it with a model.
#![expect(clippy::cast_precision_loss, reason = "sample sizes, all small")]

use malkoha::GrowableCuckooMap;

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
