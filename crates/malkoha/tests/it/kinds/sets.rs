//! Sets: of fixed size, growing, shared, and growing and shared.

use malkoha::{
    AnyFilter, Builder, ConcurrentCuckooFilter, CuckooFilter, GrowableConcurrentCuckooFilter,
    GrowableCuckooFilter,
};

use super::{KEYS, absent, hashes, holds_all, present, tells_its_size};

/// Instantiates every test for every kind. What is built has room for all keys in the end.
macro_rules! sets {
    ($($kind:ident: $type:ty = $builder:expr;)*) => {$(
        #[allow(unused_mut, reason = "shared ones change through shared references")]
        mod $kind {
            use super::*;

            fn full() -> $type {
                let mut filter: $type = $builder.build().unwrap();
                filter.insert_many(&present()).unwrap();
                filter
            }

            #[test]
            fn lookups_and_numbers() {
                holds_all(&full());
                tells_its_size(&full());
            }

            #[test]
            fn inserts_one_by_one_and_removals() {
                let mut filter: $type = $builder.build().unwrap();
                for key in present() {
                    filter.insert(key).unwrap();
                }
                holds_all(&filter);
                assert!(present().into_iter().all(|key| filter.remove(key)));
                assert!(filter.is_empty() && filter.entries().next().is_none());
                assert!(!present().into_iter().any(|key| filter.contains(key)));
            }

            #[test]
            fn batches_of_hashes_and_removals() {
                let mut filter: $type = $builder.build().unwrap();
                let hashes = hashes(&filter, &present());
                filter.insert_hashes(&hashes).unwrap();
                holds_all(&filter);
                let mut removed = vec![false; hashes.len()];
                filter.remove_hashes(&hashes, &mut removed);
                assert!(removed.iter().all(|&removed| removed) && filter.is_empty());
                filter.insert_many(&present()).unwrap();
                assert!(filter.remove_many(&present()).into_iter().all(|removed| removed));
                assert!(filter.is_empty());
            }

            #[test]
            fn unique_inserts() {
                let mut filter: $type = $builder.build().unwrap();
                assert_eq!(filter.insert_unique("koel"), Ok(true));
                assert_eq!(filter.insert_unique("koel"), Ok(false));
                assert_eq!((filter.count("koel"), filter.len()), (1, 1));
                let twice: Vec<u64> = present().into_iter().flat_map(|key| [key, key]).collect();
                let new = filter.insert_unique_many(&twice).unwrap();
                let seconds = new.iter().skip(1).step_by(2).filter(|&&new| new).count();
                let firsts = new.iter().step_by(2).filter(|&&new| new).count() as u64;
                assert_eq!(seconds, 0);
                assert!((KEYS - 30..=KEYS).contains(&firsts));
                assert_eq!(filter.len(), firsts + 1);
                let hashes = hashes(&filter, &twice);
                let mut again = vec![true; twice.len()];
                filter.insert_unique_hashes(&hashes, &mut again).unwrap();
                assert!(!again.contains(&true));
                holds_all(&filter);
            }

            #[test]
            fn copies() {
                let mut filter = full();
                for _ in 0..1_000 {
                    filter.insert(7_u64).unwrap();
                }
                assert!(filter.count(7_u64) >= 1_001);
                assert_eq!(filter.entries().map(|entry| entry.copies).sum::<u64>(), KEYS + 1_000);
                assert!((0..1_000).all(|_| filter.remove(7_u64)));
                assert!(filter.contains(7_u64) && filter.len() == KEYS);
            }

            #[test]
            fn clear_clone_and_equality() {
                let mut filter = full();
                let copy = filter.clone();
                assert!(copy == filter);
                filter.insert("koel").unwrap();
                assert!(copy != filter && copy.len() == KEYS);
                filter.clear();
                assert!(filter.is_empty() && !filter.contains("koel"));
                assert_eq!(filter.contains_many(&present()), vec![false; present().len()]);
                filter.insert_many(&present()).unwrap();
                holds_all(&filter);
                holds_all(&copy);
            }

            #[test]
            #[cfg_attr(target_family = "wasm", ignore = "needs a file system")]
            fn files() {
                let mut filter = full();
                (0..50).for_each(|_| filter.insert(7_u64).unwrap());
                let bytes = filter.to_bytes();
                let check = |read: $type| {
                    assert!(read == filter && read.to_bytes() == bytes);
                    assert!(read.count(7_u64) >= 51 && read.capacity() == filter.capacity());
                    holds_all(&read);
                };
                check(<$type>::from_bytes(&bytes).unwrap());
                let mut stream = bytes.clone();
                stream.extend(b"more");
                let mut reader = &stream[..];
                check(<$type>::read_from(&mut reader).unwrap());
                assert_eq!(reader, b"more");
                assert!(<$type>::from_bytes(&stream).is_err());
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("filter.mlk");
                filter.save(&path).unwrap();
                filter.save(&path).unwrap();
                check(<$type>::open(&path).unwrap());
                assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
                let any = AnyFilter::open(&path).unwrap();
                assert_eq!(any.len(), filter.len());
                assert!(any.contains_hash(hashes(&filter, &[7])[0]));
                assert!(filter.save(folder.path().join("no/such/folder")).is_err());
            }

            #[test]
            fn refused_keys_of_a_batch_are_named() {
                let mut filter: $type = $builder.build().unwrap();
                let keys: Vec<u64> = (0..4 * KEYS).collect();
                if let Err(refusal) = filter.insert_many(&keys) {
                    assert!(refusal.refused.is_sorted());
                    assert_eq!(filter.len(), keys.len() as u64 - refusal.refused.len() as u64);
                    let mut refused = refusal.refused.into_iter().peekable();
                    let is_in = |i: &usize| refused.next_if_eq(i).is_none();
                    assert!((0..keys.len()).filter(is_in).all(|i| filter.contains(keys[i])));
                } else {
                    assert_eq!(filter.len(), keys.len() as u64);
                }
            }

            #[test]
            fn absent_keys_are_not_removed() {
                let mut filter = full();
                assert!(absent().iter().all(|key| filter.contains(key) || !filter.remove(key)));
            }
        }
    )*};
}

sets! {
    fixed: CuckooFilter = Builder::new().capacity(KEYS).fpr(0.001);
    growing: GrowableCuckooFilter = Builder::new().capacity(100).fpr(0.001);
    shared: ConcurrentCuckooFilter = Builder::new().capacity(KEYS).fpr(0.001);
    shared_growing: GrowableConcurrentCuckooFilter = Builder::new().capacity(100).fpr(0.001);
}
