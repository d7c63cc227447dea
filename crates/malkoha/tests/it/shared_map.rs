//! Maps that threads share.
#![cfg(not(target_family = "wasm"))]

use std::thread;

use malkoha::{Builder, GrowableConcurrentCuckooMap};

const KEYS: u64 = 200_000;

fn growing() -> GrowableConcurrentCuckooMap {
    let builder = Builder::new().capacity(64).fpr(0.001);
    builder.value_bits(20).seed(42).build().unwrap()
}

/// Threads insert, replace and remove, each its own keys, and look up all the time.
#[test]
fn threads_change_a_map() {
    let map = growing();
    thread::scope(|scope| {
        for worker in 0..4_u64 {
            let map = &map;
            scope.spawn(move || {
                let keys = (0..KEYS / 4).map(|i| i * 4 + worker);
                for key in keys.clone() {
                    map.insert(key, key).unwrap();
                    assert!(map.get(key).any(|value| value == key));
                    if key % 3 == 0 {
                        assert!(map.update(key, key, key + 1).unwrap());
                    }
                    if key % 5 == 0 {
                        assert!(map.remove(key, key + u64::from(key % 3 == 0)));
                    }
                }
                for key in keys.filter(|key| key % 5 > 0) {
                    let now = key + u64::from(key % 3 == 0);
                    assert!(map.get(key).any(|value| value == now), "{key}");
                }
            });
        }
    });
    assert_eq!(map.len(), KEYS - KEYS / 5);
    assert!(map.expected_fpr() < 0.001);
    let (one, mut expected) = (map.to_map(), 0);
    for key in (0..KEYS).filter(|key| key % 5 > 0) {
        let now = key + u64::from(key % 3 == 0);
        assert!(one.get(key).any(|value| value == now));
        expected += 1;
    }
    assert_eq!(one.len(), expected);
    let keys: Vec<(u64, u64)> = (0..KEYS)
        .filter(|key| key % 5 > 0)
        .map(|key| (key, key + u64::from(key % 3 == 0)))
        .collect();
    assert!(map.remove_many(&keys).into_iter().all(|removed| removed) && map.is_empty());
    // Partitions stay, each with a segment at least.
    let before = (map.size_in_bytes(), map.segments());
    map.shrink_to_fit();
    assert!(map.size_in_bytes() < before.0 && map.segments() <= before.1);
}

#[test]
fn room_beforehand_saves_growing() {
    let map = growing();
    map.reserve(100_000, (1 << 20) - 1).unwrap();
    let before = map.size_in_bytes();
    let pairs: Vec<(u64, u64)> = (0..100_000).map(|key| (key, key)).collect();
    map.insert_many(&pairs).unwrap();
    assert_eq!(map.size_in_bytes(), before);
}
