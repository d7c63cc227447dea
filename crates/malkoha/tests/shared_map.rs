//! Maps that threads share, in several shards: what threads do at the same time, and files.
#![cfg(not(target_family = "wasm"))]

use std::thread;

use malkoha::{
    AnyFilter, BuildError, Builder, ConcurrentCuckooMap, GrowableConcurrentCuckooMap, InsertError,
    Key, ReadError,
};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const KEYS: u64 = 200_000;

fn fixed() -> ConcurrentCuckooMap {
    Builder::new().capacity(KEYS).fpr(0.001).value_bits(20).seed(42).build().unwrap()
}

fn growing() -> GrowableConcurrentCuckooMap {
    // As long as fingerprints were with no growth named, when all had one length.
    let builder = Builder::new().capacity(64).fpr(0.001).growth(3e8);
    builder.value_bits(20).seed(42).build().unwrap()
}

/// Threads insert, replace and remove, each its own keys, and look up all the time.
macro_rules! threads_agree {
    ($map:expr) => {{
        let map = $map;
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
        map
    }};
}

#[test]
fn threads_change_a_map_of_fixed_size() {
    let map = threads_agree!(fixed());
    assert!(map.expected_fpr() < 0.001 && map.bits_per_key() < 45.0, "{}", map.bits_per_key());
}

#[test]
fn threads_change_a_map_that_grows() {
    let map = threads_agree!(growing());
    let (one, mut expected) = (map.to_map().unwrap(), 0);
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
    let before = map.size_in_bytes();
    map.shrink_to_fit();
    assert!(map.size_in_bytes() * 8 < before);
}

/// What is handed in runs without a lock, so that it may change the map.
#[test]
fn callbacks_may_use_the_map() {
    let map = growing();
    let pairs: Vec<(u64, u64)> = (0..1_000).map(|key| (key, key)).collect();
    map.insert_many(&pairs).unwrap();
    let keys: Vec<u64> = (0..1_000).collect();
    map.get_many(&keys, |i, value| {
        if value == keys[i] {
            assert!(map.update(keys[i], value, value + 1_000).unwrap());
        }
    });
    let hash = 7_u64.hash_with(map.hasher());
    map.for_each_candidate(hash, |value, _| map.insert(7_u64, value + 1).unwrap());
    assert!(keys.iter().all(|&key| map.get(key).any(|value| value == key + 1_000)));
}

#[test]
fn what_does_not_fit_is_named() {
    let map = growing();
    let error = map.insert_many(&[(1_u64, 1), (2, 1 << 20), (3, 3)]).unwrap_err();
    assert_eq!(
        (error.refused, error.error),
        (vec![1], InsertError::Value { value: 1 << 20, bits: 20 })
    );
    assert!(map.len() == 2 && map.update(1_u64, 1, 1 << 20).is_err());
    let small: ConcurrentCuckooMap =
        Builder::new().capacity(100).fpr(0.001).value_bits(20).build().unwrap();
    let pairs: Vec<(u64, u64)> = (0..1_000).map(|key| (key, key)).collect();
    let error = small.insert_many(&pairs).unwrap_err();
    assert!(matches!(error.error, InsertError::Full { capacity: 100, .. }));
    assert_eq!(small.len() + error.refused.len() as u64, 1_000);
    let none = Builder::<ConcurrentCuckooMap>::new().fpr(0.001).value_bits(20).build();
    assert_eq!(none.unwrap_err(), BuildError::Capacity(0));
    let none = Builder::<GrowableConcurrentCuckooMap>::new().capacity(0).build();
    assert_eq!(none.unwrap_err(), BuildError::Capacity(0));
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

/// The files of this version, which every release reads, and every damage to them.
#[test]
fn files_are_kept_and_checked() {
    let (fixed, growing) = (fixed_small(), growing());
    (0..2_000_u64).for_each(|key| growing.insert(key, key).unwrap());
    let check = |name: &str, bytes: Vec<u8>| {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
        if std::env::var_os("MALKOHA_WRITE_FIXTURES").is_some() && !path.exists() {
            std::fs::write(&path, &bytes).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes, "{name}: the format has changed");
        let whole = AnyFilter::from_bytes(&bytes).unwrap();
        assert!(whole.len() > 1_000);
        for cut in (0..bytes.len()).step_by(211) {
            assert!(AnyFilter::from_bytes(&bytes[..cut]).is_err(), "{name} cut at {cut}");
        }
        for at in (0..bytes.len()).step_by(97).chain(0..160) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(AnyFilter::from_bytes(&damaged).is_err(), "{name} damaged at {at}");
        }
    };
    check("shared-map-v1-bound.mlk", fixed.to_bytes());
    check("shared-growable-map-v1-narrowing.mlk", growing.to_bytes());
}

/// Length, checksum and bytes of each shard, behind 128 bytes of header.
fn shards(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = &bytes[128..];
    let mut shards = Vec::new();
    while !rest.is_empty() {
        let length = usize::try_from(u64::from_le_bytes(*rest.first_chunk().unwrap())).unwrap();
        let (shard, after) = rest.split_at(16 + length);
        shards.push(shard);
        rest = after;
    }
    shards
}

/// A file of these shards under that header, which says how long they are.
fn put_together(header: &[u8], shards: &[&[u8]]) -> Vec<u8> {
    let mut bytes = header[..128].to_vec();
    let length: usize = shards.iter().map(|shard| shard.len()).sum();
    bytes[56..64].copy_from_slice(&(length as u64).to_le_bytes());
    let checksum = xxh3_64_with_seed(&bytes[..120], u64::MAX);
    bytes[120..].copy_from_slice(&checksum.to_le_bytes());
    shards.iter().for_each(|shard| bytes.extend_from_slice(shard));
    bytes
}

/// All keys of both would seem not to be in.
#[test]
fn shards_that_changed_places_are_noticed() {
    let growing = growing();
    (0..2_000_u64).for_each(|key| growing.insert(key, key).unwrap());
    for bytes in [fixed_small().to_bytes(), growing.to_bytes()] {
        let mut shards = shards(&bytes);
        assert!(shards.len() > 1 && put_together(&bytes, &shards) == bytes);
        shards.swap(0, 1);
        let read = AnyFilter::from_bytes(&put_together(&bytes, &shards)).map(|map| map.len());
        let is_noticed = matches!(read, Err(ReadError::ShardChecksum { shard: 0, offset: 128 }));
        assert!(is_noticed, "{read:?}");
    }
}

/// A map of several rates would tell the rate of none, and one whose shards take other values
/// would be asked to store what they cannot.
#[test]
fn shards_of_other_shapes_are_refused() {
    let with = |fpr, value_bits| -> Vec<u8> {
        let builder = Builder::<GrowableConcurrentCuckooMap>::new().capacity(64).growth(8.0);
        builder.fpr(fpr).value_bits(value_bits).build().unwrap().to_bytes()
    };
    let bytes = with(0.001, 20);
    for other in [with(0.1, 20), with(0.001, 21)] {
        let mut shards = shards(&bytes);
        let others = self::shards(&other);
        shards[3] = others[3];
        let read = AnyFilter::from_bytes(&put_together(&bytes, &shards)).map(|map| map.len());
        assert!(matches!(read, Err(ReadError::Field { field: "shard", value: 3, .. })), "{read:?}");
    }
}

fn fixed_small() -> ConcurrentCuckooMap {
    let map: ConcurrentCuckooMap =
        Builder::new().capacity(40_000).fpr(0.1).value_bits(1).seed(42).build().unwrap();
    (0..2_000_u64).for_each(|key| map.insert(key, key % 2).unwrap());
    map
}
