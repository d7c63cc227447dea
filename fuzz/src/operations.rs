//! Any sequence of operations on any small geometry, against a model that counts.
use std::collections::HashMap;

use arbitrary::Arbitrary;
use malkoha::{CuckooFilter, Layout};

/// What an input stands for.
#[derive(Arbitrary, Debug)]
pub struct Case {
    capacity: u8,
    layout: u8,
    fingerprint_bits: u8,
    max_kicks: u8,
    seed: u64,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Insert(u8),
    InsertMany(Vec<u8>),
    InsertCopies(u8, u8),
    Remove(u8),
    Reopen,
}

/// One input.
pub fn run(case: Case) {
    let layouts = [
        Layout::Bucketed { bucket_size: 1 },
        Layout::Bucketed { bucket_size: 2 },
        Layout::Bucketed { bucket_size: 4 },
        Layout::Bucketed { bucket_size: 8 },
        Layout::SemiSorted,
        Layout::GapWindows,
        Layout::Words,
    ];
    let built = CuckooFilter::builder()
        .capacity(u64::from(case.capacity) + 1)
        .layout(layouts[usize::from(case.layout) % layouts.len()])
        .fingerprint_bits(5 + u32::from(case.fingerprint_bits) % 28)
        .max_kicks(case.max_kicks.into())
        .seed(case.seed)
        .build();
    let mut filter = built.expect("every such geometry exists");
    let mut model: HashMap<u8, u64> = HashMap::new();
    for operation in case.operations {
        match operation {
            Operation::Insert(key) => {
                if filter.insert(key).is_ok() {
                    *model.entry(key).or_default() += 1;
                }
            }
            Operation::InsertCopies(key, copies) => {
                let inserted = (0..copies).take_while(|_| filter.insert(key).is_ok()).count();
                // The first may find no room; copies of what is in always do.
                assert!(inserted == 0 || inserted == usize::from(copies));
                *model.entry(key).or_default() += inserted as u64;
            }
            Operation::InsertMany(keys) => {
                let refused = filter.insert_many(&keys).err().map(|error| error.refused);
                let refused = refused.unwrap_or_default();
                for (i, key) in keys.into_iter().enumerate() {
                    if refused.binary_search(&i).is_err() {
                        *model.entry(key).or_default() += 1;
                    }
                }
            }
            Operation::Remove(key) => {
                if let Some(count) = model.get_mut(&key).filter(|count| **count > 0) {
                    *count -= 1;
                    assert!(filter.remove(key));
                }
            }
            Operation::Reopen => {
                filter = CuckooFilter::from_bytes(&filter.to_bytes()).expect("its own bytes");
            }
        }
    }
    let keys: Vec<u8> = model.keys().copied().collect();
    for (key, found) in keys.iter().zip(filter.contains_many(&keys)) {
        assert_eq!(filter.contains(key), found);
    }
    assert_eq!(filter.len(), model.values().sum::<u64>());
    for (key, &count) in &model {
        assert!(filter.count(key) >= count);
        assert!(count == 0 || filter.contains(key));
    }
}
