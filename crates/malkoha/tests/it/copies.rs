//! Any number of copies of any number of keys in a filter of fixed size.

use malkoha::{Builder, CuckooFilter, Layout};

use crate::support::every_layout;

fn builder(capacity: u64, layout: Layout) -> Builder {
    CuckooFilter::builder().capacity(capacity).layout(layout).fingerprint_bits(16)
}

#[test]
fn a_million_of_one_key() {
    for layout in every_layout() {
        let copies = if layout == Layout::GapWindows { 1_000_000 } else { 20_000 };
        let mut filter = builder(1_000, layout).build().unwrap();
        filter.try_extend(0..500_u32).unwrap();
        let (bytes, load) = (filter.size_in_bytes(), filter.load_factor());
        for _ in 0..copies {
            filter.insert("cuckoo").unwrap();
        }
        assert_eq!(filter.count("cuckoo"), copies);
        assert_eq!(filter.len(), copies + 500);
        assert!(filter.size_in_bytes() < bytes + 64, "one entry outside the table");
        assert!(filter.load_factor() < load + 5.0 / 1_000.0, "at most four slots");
        for left in (0..copies).rev() {
            assert!(filter.remove("cuckoo"));
            if left % 9_973 == 0 || left < 10 {
                assert_eq!(filter.count("cuckoo"), left);
            }
        }
        assert!(!filter.remove("cuckoo"));
        assert_eq!((filter.len(), filter.size_in_bytes()), (500, bytes));
        assert!((0..500_u32).all(|key| filter.contains(key)));
    }
}

/// The filter is first filled with pairs of copies, and still holds its capacity of distinct keys,
/// in any order of copies and new keys.
#[test]
fn copies_give_way_to_new_keys() {
    for layout in every_layout() {
        let capacity = 20_000_u32;
        let mut filter = builder(capacity.into(), layout).build().unwrap();
        for key in 0..capacity {
            for _ in 0..2 {
                filter.insert(key).unwrap_or_else(|full| panic!("{layout}, {key}: {full}"));
            }
        }
        for key in 0..capacity {
            filter.insert(key).unwrap();
        }
        assert_eq!(filter.len(), 3 * u64::from(capacity));
        assert!((0..capacity).all(|key| filter.count(key) >= 3));
        let exact = (0..capacity).filter(|key| filter.count(key) == 3).count();
        assert!(exact > 19_950, "{layout}: {exact}");
        for _ in 0..3 {
            assert!((0..capacity).all(|key| filter.remove(key)));
        }
        assert_eq!(filter.to_bytes(), builder(capacity.into(), layout).build().unwrap().to_bytes());
    }
}

/// One by one, in batches, sorted by segment, on threads: the same counts, and the same bytes
/// whatever the number of threads.
#[test]
fn the_path_makes_no_difference() {
    // 32 bits: enough bytes that a table is worth filling segment by segment.
    let distinct = 600_000_u64;
    let mut keys: Vec<u64> = (0..distinct).collect();
    keys.extend((0..distinct / 10).flat_map(|key| [key * 10; 2]));
    keys.extend([7; 5_000]);
    let layout = Layout::GapWindows;
    let builder = || builder(distinct, layout).fingerprint_bits(32);
    let threads = [1, 3].map(|threads| builder().threads(threads).build_from(&keys).unwrap());
    assert!(threads[0].to_bytes() == threads[1].to_bytes());
    let mut batched = builder().build().unwrap();
    batched.insert_many(&keys).unwrap();
    let mut single = builder().build().unwrap();
    single.try_extend(&keys).unwrap();
    for key in (0..distinct).step_by(7) {
        let count = single.count(key);
        assert!(count >= if key % 10 == 0 { 3 } else { 1 });
        assert_eq!(count, batched.count(key));
        assert_eq!(count, threads[0].count(key));
    }
    assert_eq!(single.count(7_u64), 5_001);
    assert_eq!(single.len(), keys.len() as u64);
    let removed = batched.remove_many(&keys);
    assert!(removed.into_iter().all(|removed| removed) && batched.is_empty());
    assert_eq!(batched.load_factor(), 0.0);
}
