//! Any sequence of operations on a growable map, which is a growable filter with values, against a
//! model that keeps the values of each key; and on a growable filter beside it.
use std::collections::HashMap;

use arbitrary::Arbitrary;
use malkoha::{GrowableCuckooFilter, GrowableCuckooMap};

/// What an input stands for.
#[derive(Arbitrary, Debug)]
pub struct Case {
    capacity: u16,
    fpr: u8,
    growth: u8,
    seed: u64,
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    /// Up to 2048 keys, so that segments split.
    InsertRange {
        from: u16,
        len: u16,
        value: u64,
    },
    InsertCopies {
        key: u16,
        value: u64,
        copies: u8,
    },
    RemoveRange {
        from: u16,
        len: u16,
    },
    Update {
        key: u16,
        new: u64,
    },
    Shrink,
    Reopen,
}

/// One input.
pub fn run(case: Case) {
    let fpr = 0.5_f64.powi(1 + i32::from(case.fpr) % 10);
    let (capacity, growth) = (u64::from(case.capacity) + 1, f64::from(case.growth) + 1.0);
    let builder = GrowableCuckooFilter::builder().capacity(capacity).fpr(fpr);
    let built = builder.growth(growth).seed(case.seed).build();
    let mut filter = built.expect("every such filter exists");
    let builder = GrowableCuckooMap::builder().capacity(capacity).fpr(fpr);
    let built = builder.growth(growth).seed(case.seed).build();
    let mut map = built.expect("every such map exists");
    let mut model: HashMap<u16, Vec<u64>> = HashMap::new();
    for operation in case.operations {
        match operation {
            Operation::InsertRange { from, len, value } => {
                let keys = (0..len % 2048).map(|n| from.wrapping_add(n));
                let pairs: Vec<(u16, u64)> =
                    keys.map(|key| (key, value ^ u64::from(key))).collect();
                insert(&mut filter, &mut map, &mut model, &pairs);
            }
            Operation::InsertCopies { key, value, copies } => {
                let pairs = vec![(key, value); copies.into()];
                insert(&mut filter, &mut map, &mut model, &pairs);
            }
            Operation::RemoveRange { from, len } => {
                let keys = (0..len % 2048).map(|n| from.wrapping_add(n));
                let last = |key| Some((key, model.get_mut(&key)?.pop()?));
                let pairs: Vec<(u16, u64)> = keys.filter_map(last).collect();
                assert!(map.remove_many(&pairs).into_iter().all(|removed| removed));
                let keys: Vec<u16> = pairs.iter().map(|&(key, _)| key).collect();
                assert!(filter.remove_many(&keys).into_iter().all(|removed| removed));
            }
            Operation::Update { key, new } => {
                if let Some(value) = model.get_mut(&key).and_then(|values| values.last_mut()) {
                    assert_eq!(map.update(key, *value, new), Ok(true));
                    *value = new;
                }
            }
            Operation::Shrink => {
                filter.shrink_to_fit();
                map.shrink_to_fit();
            }
            Operation::Reopen => {
                filter = GrowableCuckooFilter::from_bytes(&filter.to_bytes()).expect("its own");
                map = GrowableCuckooMap::from_bytes(&map.to_bytes()).expect("its own bytes");
            }
        }
    }
    let copies = model.values().map(|values| values.len() as u64).sum::<u64>();
    assert_eq!((filter.len(), map.len()), (copies, copies));
    assert_eq!(filter.entries().map(|entry| entry.copies).sum::<u64>(), copies);
    let keys: Vec<u16> = model.keys().copied().collect();
    for (key, found) in keys.iter().zip(filter.contains_many(&keys)) {
        assert_eq!(filter.contains(key), found);
        assert!(filter.count(key) >= model[key].len() as u64);
        let mut candidates: HashMap<u64, u64> = map.values(key).into_iter().collect();
        for value in &model[key] {
            let copies = candidates.get_mut(value).expect("every value is among the candidates");
            *copies = copies.checked_sub(1).expect("every copy is counted");
        }
    }
}

/// What one of the two refused is in neither of them.
fn insert(
    filter: &mut GrowableCuckooFilter,
    map: &mut GrowableCuckooMap,
    model: &mut HashMap<u16, Vec<u64>>,
    pairs: &[(u16, u64)],
) {
    for (key, value) in pairs {
        if map.insert(key, *value).is_err() {
            continue;
        }
        if filter.insert(key).is_ok() {
            model.entry(*key).or_default().push(*value);
        } else {
            assert!(map.remove(key, *value));
        }
    }
}
