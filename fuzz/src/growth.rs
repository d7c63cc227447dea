//! Any sequence of operations on a growable map, which is a growable filter with values, against a
//! model that keeps the values of each key; and on a growable filter next to it.
use std::collections::HashMap;

use arbitrary::Arbitrary;
use malkoha::{
    GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooMap, GrowableCuckooFilter,
    GrowableCuckooMap,
};

/// The meaning of an input.
#[derive(Arbitrary, Debug)]
pub struct Case {
    capacity: u16,
    fpr: u8,
    growth: u8,
    seed: u64,
    #[arbitrary(with = super::all)]
    operations: Vec<Operation>,
}

/// Few different keys, so that they come repeatedly, and thousands at once, so that segments
/// split. Values of any number of bits.
#[derive(Arbitrary, Debug)]
enum Operation {
    InsertRange { from: u16, len: u16, value: u64, shift: u8 },
    InsertCopies { key: u16, value: u64, shift: u8, copies: u8 },
    RemoveRange { from: u16, len: u16 },
    Update { key: u16, new: u64, shift: u8 },
    Reserve { keys: u16, value: u64, shift: u8 },
    Shrink,
    Reopen,
}

fn range(from: u16, len: u16) -> impl Iterator<Item = u16> {
    let from = from % 20_000;
    from..from + len % 8_192
}

/// One input.
pub fn run(case: Case) {
    let fpr = 0.5_f64.powi(1 + i32::from(case.fpr) % 24);
    macro_rules! built {
        ($kind:ty) => {{
            let builder = <$kind>::builder().capacity(u64::from(case.capacity) + 1).fpr(fpr);
            // Without a growth, the rate holds at any size.
            let growth = Some(f64::from(case.growth)).filter(|&growth| growth > 0.0);
            let builder =
                growth.into_iter().fold(builder, |builder, growth| builder.growth(growth));
            builder.seed(case.seed).build().expect("every such table exists")
        }};
    }
    let (mut filter, mut map) = (built!(GrowableCuckooFilter), built!(GrowableCuckooMap));
    let mut model: HashMap<u16, Vec<u64>> = HashMap::new();
    for operation in case.operations {
        match operation {
            Operation::InsertRange { from, len, value, shift } => {
                let value = |key: u32| value.rotate_left(key % 64) >> (shift % 64);
                let keys: Vec<u16> = range(from, len).collect();
                let pairs = keys.iter().map(|&key| (key, value(key.into())));
                let pairs: Vec<(u16, u64)> = pairs.collect();
                filter.insert_many(&keys).expect("any number of keys");
                map.insert_many(&pairs).expect("any number of keys");
                pairs.iter().for_each(|&(key, value)| model.entry(key).or_default().push(value));
            }
            Operation::InsertCopies { key, value, shift, copies } => {
                let key = key % 20_000;
                for copy in 0..u64::from(copies) {
                    // Each value twice.
                    let value = (value ^ (copy / 2)) >> (shift % 64);
                    filter.insert(key).expect("any number of copies");
                    map.insert(key, value).expect("any number of values");
                    model.entry(key).or_default().push(value);
                }
            }
            Operation::RemoveRange { from, len } => {
                let last = |key| Some((key, model.get_mut(&key)?.pop()?));
                let pairs: Vec<(u16, u64)> = range(from, len).filter_map(last).collect();
                assert!(map.remove_many(&pairs).into_iter().all(|removed| removed));
                let keys: Vec<u16> = pairs.iter().map(|&(key, _)| key).collect();
                assert!(filter.remove_many(&keys).into_iter().all(|removed| removed));
            }
            Operation::Update { key, new, shift } => {
                let values = model.get_mut(&(key % 20_000));
                if let Some(value) = values.and_then(|values| values.last_mut()) {
                    let new = new >> (shift % 64);
                    assert_eq!(map.update(key % 20_000, *value, new), Ok(true));
                    *value = new;
                }
            }
            Operation::Reserve { keys, value, shift } => {
                map.reserve(keys.into(), value >> (shift % 64)).expect("room for a few keys");
            }
            Operation::Shrink => {
                filter.shrink_to_fit();
                map.shrink_to_fit();
            }
            // Each file as of those that threads share, and the other way round.
            Operation::Reopen => {
                let set = GrowableConcurrentCuckooFilter::from_bytes(&filter.to_bytes());
                let pairs = GrowableConcurrentCuckooMap::from_bytes(&map.to_bytes());
                let (set, pairs) = (set.expect("the same file"), pairs.expect("the same file"));
                assert_eq!((set.len(), set.spilled()), (filter.len(), filter.spilled()));
                assert_eq!((pairs.len(), pairs.spilled()), (map.len(), map.spilled()));
                assert!(set == filter.into_concurrent() && pairs == map.into_concurrent());
                filter = GrowableCuckooFilter::from_bytes(&set.to_bytes()).expect("its own");
                map = GrowableCuckooMap::from_bytes(&pairs.to_bytes()).expect("its own bytes");
                assert!(filter == set.to_filter() && map == pairs.to_map());
            }
        }
    }
    super::agree(&map, &model);
    assert_eq!(filter.len(), map.len());
    assert_eq!(filter.entries().map(|entry| entry.copies).sum::<u64>(), filter.len());
    let keys: Vec<u16> = model.keys().copied().collect();
    for (key, found) in keys.iter().zip(filter.contains_many(&keys)) {
        assert_eq!(filter.contains(key), found);
        assert!(filter.count(key) >= model[key].len() as u64);
    }
    for (key, values) in model {
        for value in values {
            assert!(filter.remove(key) && map.remove(key, value), "{key} had {value}");
        }
    }
    assert!(filter.is_empty() && filter.load_factor() == 0.0 && filter.expected_fpr() == 0.0);
    assert!(map.is_empty() && map.load_factor() == 0.0 && map.expected_fpr() == 0.0);
    assert_eq!((filter.spilled(), map.spilled()), (0, 0));
}
