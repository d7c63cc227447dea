//! The cuckoo hash tables against the standard library's map.

use std::collections::HashMap;

use malkoha::{Key, KeyHasher};
use malkoha_classic::{BucketedCuckooTable, BuildError, CuckooHashTable, Growth};
use proptest::prelude::*;

use crate::support::{key, keys};

type Operations = Vec<(u16, u8)>;

fn operations() -> impl Strategy<Value = Operations> {
    proptest::collection::vec((0_u16..150, 0_u8..8), 0..600)
}

/// One sequence of operations on a table and on a map; after each, both say the same.
fn follows_a_map<const D: usize, const B: usize>(
    operations: &Operations,
    growth: Growth,
) -> Result<(), TestCaseError> {
    let table = BucketedCuckooTable::<u16, usize, D, B>::with_geometry(9, KeyHasher::new(2));
    let mut table = table.unwrap().with_growth(growth).with_max_kicks(40);
    let mut model = HashMap::new();
    for (i, &(key, operation)) in operations.iter().enumerate() {
        match operation {
            0..=4 => match table.insert(key, i) {
                Ok(before) => prop_assert_eq!(before, model.insert(key, i)),
                Err(refused) => {
                    prop_assert_eq!(growth, Growth::Fixed);
                    prop_assert_eq!((refused.key, refused.value), (key, i));
                }
            },
            5 => prop_assert_eq!(table.remove(&key), model.remove(&key)),
            6 => prop_assert_eq!(table.get(&key), model.get(&key)),
            _ => {
                if let Some(value) = table.get_mut(&key) {
                    *value += 1;
                }
                if let Some(value) = model.get_mut(&key) {
                    *value += 1;
                }
            }
        }
        prop_assert_eq!(table.len(), model.len() as u64);
    }
    let entries: HashMap<u16, usize> = table.iter().map(|(&key, &value)| (key, value)).collect();
    prop_assert_eq!(&entries, &model);
    let all: Vec<u16> = (0..150).collect();
    let expected: Vec<Option<&usize>> = all.iter().map(|key| model.get(key)).collect();
    prop_assert_eq!(table.get_many(&all), expected);
    Ok(())
}

macro_rules! for_all_tables {
    ($($name:ident: $choices:literal x $slots:literal),* $(,)?) => {$(
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig {
                    cases: 64, failure_persistence: None, ..Default::default()
                })]

                #[test]
                fn fixed(operations in operations()) {
                    follows_a_map::<$choices, $slots>(&operations, Growth::Fixed)?;
                }

                #[test]
                fn growing(operations in operations()) {
                    follows_a_map::<$choices, $slots>(&operations, Growth::Rehash)?;
                }
            }

            #[test]
            fn holds_its_capacity() {
                for capacity in [1, 2, 10, 100, 5_000] {
                    let table =
                        BucketedCuckooTable::<u64, (), $choices, $slots>::with_capacity(capacity);
                    let mut table = table.unwrap();
                    assert!(table.capacity() >= capacity);
                    for key in keys(1, capacity) {
                        assert_eq!(table.insert(key, ()), Ok(None));
                    }
                    assert!(table.contains_many(&keys(1, capacity)).iter().all(|&found| found));
                    table.clear();
                    assert!(table.is_empty() && !table.contains(&key(1, 0)));
                }
            }
        }
    )*};
}
for_all_tables! {
    two_by_one: 2 x 1, two_by_four: 2 x 4, two_by_eight: 2 x 8, three_by_one: 3 x 1,
    three_by_three: 3 x 3, four_by_one: 4 x 1, four_by_two: 4 x 2,
}

/// The story of cuckoo hashing: three keys that share both positions of the plain table cannot all
/// lie in it. The third is handed back, the first two stay; a growing table takes all three.
#[test]
fn a_cycle_loses_no_key() {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Twin(u32);
    impl Key for Twin {
        fn hash_with(&self, hasher: KeyHasher) -> u64 {
            // All twins collide under the first seed, and under no other.
            if hasher.seed() == Some(0) { 7 } else { self.0.hash_with(hasher) }
        }
    }

    let mut table = CuckooHashTable::with_capacity(100).unwrap();
    table.insert(Twin(1), 'a').unwrap();
    table.insert(Twin(2), 'b').unwrap();
    let refused = table.insert(Twin(3), 'c').unwrap_err();
    assert_eq!((refused.key.clone(), refused.value), (Twin(3), 'c'));
    assert!(refused.to_string().contains("grow"), "{refused}");
    assert_eq!((table.get(&Twin(1)), table.get(&Twin(2))), (Some(&'a'), Some(&'b')));

    let mut table = table.with_growth(Growth::Rehash);
    table.insert(Twin(3), 'c').unwrap();
    assert_eq!(table.len(), 3);
    for (n, value) in [(1, 'a'), (2, 'b'), (3, 'c')] {
        assert_eq!(table.get(&Twin(n)), Some(&value));
    }
}

/// Keys of one hash under every seed: the table gives up growing, and still loses nothing.
#[test]
fn hopeless_keys_are_handed_back() {
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Bad(u8);
    impl Key for Bad {
        fn hash_with(&self, _: KeyHasher) -> u64 {
            42
        }
    }
    let mut table = BucketedCuckooTable::<Bad, u8, 2, 2>::with_capacity(10)
        .unwrap()
        .with_growth(Growth::Rehash);
    for n in 0..4 {
        table.insert(Bad(n), n).unwrap();
    }
    let buckets = table.buckets();
    assert_eq!(table.insert(Bad(4), 4).unwrap_err().key, Bad(4));
    assert_eq!(table.buckets(), buckets);
    assert!((0..4).all(|n| table.get(&Bad(n)) == Some(&n)));
}

#[test]
fn sizes_are_reported_and_checked() {
    let table = CuckooHashTable::<u64, u64>::with_capacity(1_000).unwrap();
    assert_eq!(table.slots(), 2 * table.buckets());
    assert_eq!(table.size_in_bytes(), table.slots() * 24);
    assert!(table.bits_per_key().is_infinite());
    assert_eq!(table.load_factor(), 0.0);
    let none = CuckooHashTable::<u64, u64>::with_capacity(0);
    assert_eq!(none.unwrap_err(), BuildError::Capacity(0));
    let many = CuckooHashTable::<u64, [u64; 1000]>::with_capacity(1 << 36);
    assert!(matches!(many, Err(BuildError::Memory { .. })));
}
