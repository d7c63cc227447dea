//! Maps: of fixed size, growing, shared, and growing and shared.

use malkoha::{AnyFilter, Builder, CuckooMap, GrowableConcurrentCuckooMap, GrowableCuckooMap};

use super::{KEYS, hashes, holds_all, present, tells_its_size};

fn pairs() -> Vec<(u64, u64)> {
    present().into_iter().map(|key| (key, key % 1_000)).collect()
}

macro_rules! maps {
    ($($kind:ident: $type:ty = $builder:expr;)*) => {$(
        #[allow(unused_mut, reason = "shared ones change through shared references")]
        mod $kind {
            use super::*;

            fn full() -> $type {
                let mut map: $type = $builder.build().unwrap();
                map.insert_many(&pairs()).unwrap();
                map
            }

            fn gives_all(map: &$type) {
                assert!(pairs().iter().all(|(key, value)| map.get(key).any(|v| v == *value)));
                assert!(pairs().iter().all(|(key, value)| map.count_value(key, *value) == 1));
                let mut given = vec![Vec::new(); present().len()];
                map.get_many(&present(), |i, value| given[i].push(value));
                assert!(pairs().iter().all(|(key, value)| given[usize::try_from(*key).unwrap()].contains(value)));
                let mut by_hash = vec![Vec::new(); present().len()];
                map.get_hashes(&hashes(map, &present()), |i, value| by_hash[i].push(value));
                assert_eq!(given, by_hash);
            }

            #[test]
            fn lookups_and_numbers() {
                holds_all(&full());
                tells_its_size(&full());
                gives_all(&full());
                assert_eq!(full().value_bits(), 10);
            }

            #[test]
            fn inserts_updates_and_removals() {
                let mut map: $type = $builder.build().unwrap();
                for (key, value) in pairs() {
                    map.insert(key, value).unwrap();
                }
                gives_all(&map);
                assert_eq!(map.update(7_u64, 7, 1_023), Ok(true));
                assert!(map.update(7_u64, 7, 1_024).is_err());
                assert_eq!(map.values(7_u64).iter().filter(|pair| pair.0 == 1_023).count(), 1);
                assert!(map.remove(7_u64, 1_023) && !map.remove(7_u64, 1_023));
                map.insert(7_u64, 7).unwrap();
                let removed = map.remove_many(&pairs());
                assert!(removed.into_iter().all(|removed| removed) && map.is_empty());
                let hashed: Vec<(u64, u64)> = hashes(&map, &present())
                    .into_iter()
                    .zip(pairs())
                    .map(|(hash, (_, value))| (hash, value))
                    .collect();
                map.insert_hashes(&hashed).unwrap();
                gives_all(&map);
                assert!(hashed.iter().all(|&(hash, value)| map.remove_hash(hash, value)));
            }

            #[test]
            fn copies_and_values() {
                let mut map = full();
                for i in 0..1_000 {
                    map.insert(7_u64, 500 + i % 2).unwrap();
                }
                let values = map.values(7_u64);
                assert!(values.contains(&(500, 500)) && values.contains(&(501, 500)));
                assert!(map.get(7_u64).count() < 12, "copies are not listed one by one");
                assert_eq!(map.count_value(7_u64, 500), 500);
                assert_eq!(map.entries().map(|entry| entry.copies).sum::<u64>(), KEYS + 1_000);
                assert!((0..1_000).all(|i| map.remove(7_u64, 500 + i % 2)));
                gives_all(&map);
            }

            /// Growth takes them along.
            #[test]
            fn a_key_has_any_number_of_values() {
                let mut map: $type = $builder.build().unwrap();
                (0..1_000).for_each(|value| map.insert("cuckoo", value).unwrap());
                map.insert_many(&pairs()).unwrap();
                let mut values: Vec<u64> = map.get("cuckoo").collect();
                values.sort_unstable();
                values.dedup();
                assert_eq!(values, (0..1_000).collect::<Vec<_>>());
                assert_eq!(map.update("cuckoo", 999, 1_023), Ok(true));
                assert_eq!(map.update("cuckoo", 999, 1), Ok(false));
                assert!(map.remove("cuckoo", 1_023) && !map.remove("cuckoo", 1_023));
                assert!((0..999).all(|value| map.remove("cuckoo", value)));
                assert_eq!(map.spilled(), 0);
                gives_all(&map);
            }

            #[test]
            fn clear_clone_and_equality() {
                let mut map = full();
                let copy = map.clone();
                assert!(copy == map);
                map.insert("koel", 1).unwrap();
                assert!(copy != map);
                map.clear();
                assert!(map.is_empty() && map.get("koel").next().is_none());
                map.insert_many(&pairs()).unwrap();
                gives_all(&map);
                gives_all(&copy);
            }

            #[test]
            #[cfg_attr(target_family = "wasm", ignore = "needs a file system")]
            fn files() {
                let mut map = full();
                (0..50).for_each(|_| map.insert(7_u64, 9).unwrap());
                let bytes = map.to_bytes();
                let check = |read: $type| {
                    assert!(read == map && read.to_bytes() == bytes);
                    assert_eq!(read.count_value(7_u64, 9), 50);
                    gives_all(&read);
                };
                check(<$type>::from_bytes(&bytes).unwrap());
                check(<$type>::read_from(&bytes[..]).unwrap());
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("map.mlk");
                map.save(&path).unwrap();
                check(<$type>::open(&path).unwrap());
                let any = AnyFilter::open(&path).unwrap();
                assert_eq!((any.len(), any.kind()), (map.len(), AnyFilter::from_bytes(&bytes).unwrap().kind()));
            }
        }
    )*};
}

maps! {
    fixed: CuckooMap = Builder::new().capacity(KEYS).fpr(0.001).value_bits(10);
    growing: GrowableCuckooMap = Builder::new().capacity(100).fpr(0.001).value_bits(10);
    growing_shared: GrowableConcurrentCuckooMap =
        Builder::new().capacity(100).fpr(0.001).value_bits(10);
}
