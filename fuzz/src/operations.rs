//! Any sequence of operations on any small geometry, against a model that counts: a set, one that
//! threads share, and a map.
use std::collections::HashMap;

use arbitrary::Arbitrary;
use malkoha::tables::Lookup;
use malkoha::{
    BatchError, Builder, ConcurrentCuckooFilter, Content, CuckooFilter, CuckooMap, Filter, Layout,
};

/// The meaning of an input.
#[derive(Arbitrary, Debug)]
pub struct Case {
    capacity: u8,
    layout: u8,
    fingerprint_bits: u8,
    value_bits: u8,
    max_kicks: u8,
    seed: u64,
    #[arbitrary(with = super::all)]
    operations: Vec<Operation>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    InsertRange { from: u8, len: u8 },
    InsertCopies { key: u8, copies: u8 },
    RemoveRange { from: u8, len: u8 },
    Reopen,
}

impl Case {
    fn builder<F>(&self) -> Builder<F> {
        Builder::new()
            .capacity(u64::from(self.capacity) + 1)
            .fingerprint_bits(5 + u32::from(self.fingerprint_bits) % 28)
            .max_kicks(self.max_kicks.into())
            .seed(self.seed)
    }
}

/// One input.
pub fn run(case: Case) {
    let buckets = [1, 2, 4, 8].map(|bucket_size| Layout::Bucketed { bucket_size });
    let others = [Layout::SemiSorted, Layout::GapWindows, Layout::Words];
    let number = usize::from(case.layout) % 7;
    let layout = buckets.get(number).copied().unwrap_or_else(|| others[number - 4]);
    let set = case.builder::<CuckooFilter>().layout(layout).build();
    agrees(set.expect("every such geometry exists"), &case.operations);
    let shared = case.builder::<ConcurrentCuckooFilter>().build();
    agrees(shared.expect("every such geometry exists"), &case.operations);
    let map = case.builder::<CuckooMap>().layout(buckets[number % 4]);
    let map = map.value_bits(1 + u32::from(case.value_bits) % 64).build();
    let map = map.expect("every such geometry exists");
    agrees(Valued { map, values: HashMap::new(), given: 0 }, &case.operations);
}

/// The operations on each kind.
trait Kind {
    fn filter(&self) -> &Filter<impl Lookup, impl Content>;
    fn insert(&mut self, key: u8) -> bool;
    fn insert_many(&mut self, keys: &[u8]) -> Result<(), BatchError>;
    fn remove(&mut self, key: u8) -> bool;
    fn remove_many(&mut self, keys: &[u8]) -> Vec<bool>;
    fn reopen(&mut self);
}

macro_rules! set {
    ($set:ty) => {
        impl Kind for $set {
            fn filter(&self) -> &Filter<impl Lookup, impl Content> {
                self
            }
            fn insert(&mut self, key: u8) -> bool {
                <$set>::insert(self, key).is_ok()
            }
            fn insert_many(&mut self, keys: &[u8]) -> Result<(), BatchError> {
                <$set>::insert_many(self, keys)
            }
            fn remove(&mut self, key: u8) -> bool {
                <$set>::remove(self, key)
            }
            fn remove_many(&mut self, keys: &[u8]) -> Vec<bool> {
                <$set>::remove_many(self, keys)
            }
            fn reopen(&mut self) {
                let again = <$set>::from_bytes(&self.to_bytes()).expect("its own bytes");
                assert!(again == *self && again.clone() == *self);
                *self = again;
            }
        }
    };
}
set!(CuckooFilter);
set!(ConcurrentCuckooFilter);

/// A map, and the values that each key has.
struct Valued {
    map: CuckooMap,
    values: HashMap<u8, Vec<u64>>,
    given: u64,
}

impl Valued {
    /// The next value. Half are of few, so that some are equal.
    fn next(&mut self) -> u64 {
        self.given += 1;
        let mixed = self.given.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let value = if mixed >> 63 == 0 { mixed << 1 } else { mixed >> 61 << 61 };
        value >> (64 - self.map.value_bits())
    }

    /// Takes a key's last value.
    fn last(&mut self, key: u8) -> u64 {
        self.values.get_mut(&key).and_then(Vec::pop).expect("keys that are in are removed")
    }
}

impl Kind for Valued {
    fn filter(&self) -> &Filter<impl Lookup, impl Content> {
        &self.map
    }

    /// With a value that another one then replaces.
    fn insert(&mut self, key: u8) -> bool {
        let (first, value) = (self.next(), self.next());
        let is_in = self.map.insert(key, first).is_ok();
        if is_in {
            assert_eq!(self.map.update(key, first, value), Ok(true));
            self.values.entry(key).or_default().push(value);
        }
        is_in
    }

    fn insert_many(&mut self, keys: &[u8]) -> Result<(), BatchError> {
        let pairs: Vec<(u8, u64)> = keys.iter().map(|&key| (key, self.next())).collect();
        let result = self.map.insert_many(&pairs);
        let refused = result.as_ref().map_or_else(|error| &error.refused[..], |()| &[]);
        for (i, (key, value)) in pairs.into_iter().enumerate() {
            if !refused.contains(&i) {
                self.values.entry(key).or_default().push(value);
            }
        }
        result
    }

    fn remove(&mut self, key: u8) -> bool {
        let value = self.last(key);
        self.map.remove(key, value)
    }

    fn remove_many(&mut self, keys: &[u8]) -> Vec<bool> {
        let pairs: Vec<(u8, u64)> = keys.iter().map(|&key| (key, self.last(key))).collect();
        self.map.remove_many(&pairs)
    }

    fn reopen(&mut self) {
        super::agree(&self.map, &self.values);
        self.map = CuckooMap::from_bytes(&self.map.to_bytes()).expect("its own bytes");
    }
}

fn agrees(mut kind: impl Kind, operations: &[Operation]) {
    let mut model = [0_u64; 256];
    let range = |from: u8, len: u8| (0..len % 64).map(move |n| from.wrapping_add(n));
    for operation in operations {
        match *operation {
            Operation::InsertCopies { key, copies } => {
                let copies = u64::from(copies % 16);
                let inserted = (0..copies).take_while(|_| kind.insert(key)).count() as u64;
                // The first may find no room; copies of what is in always do.
                let had = model[usize::from(key)];
                assert!(inserted == copies || inserted == 0 && had == 0, "{inserted} of {copies}");
                model[usize::from(key)] += inserted;
            }
            Operation::InsertRange { from, len } => {
                let keys: Vec<u8> = range(from, len).collect();
                let refused = kind.insert_many(&keys).err().map_or(vec![], |error| error.refused);
                let is_in = |i: &usize| !refused.contains(i);
                (0..keys.len()).filter(is_in).for_each(|i| model[usize::from(keys[i])] += 1);
            }
            Operation::RemoveRange { from, len } => {
                let is_in = |&key: &u8| model[usize::from(key)] > 0;
                let keys: Vec<u8> = range(from, len).filter(is_in).collect();
                remove(&mut kind, &mut model, &keys);
            }
            Operation::Reopen => kind.reopen(),
        }
    }
    kind.reopen();
    let filter = kind.filter();
    assert_eq!(filter.len(), model.iter().sum::<u64>());
    assert_eq!(filter.entries().map(|entry| entry.copies).sum::<u64>(), filter.len());
    let keys: Vec<u8> = (0..=u8::MAX).collect();
    for (&key, found) in keys.iter().zip(filter.contains_many(&keys)) {
        let count = filter.count(key);
        assert!(count >= model[usize::from(key)], "{key}: {count}");
        assert_eq!((filter.contains(key), count > 0), (found, found));
    }
    while model != [0; 256] {
        let left: Vec<u8> = keys.iter().copied().filter(|&k| model[usize::from(k)] > 0).collect();
        remove(&mut kind, &mut model, &left);
    }
    let filter = kind.filter();
    assert!(filter.is_empty() && filter.load_factor() == 0.0 && filter.spilled() == 0);
}

/// Removes a copy of each of these keys: of the first alone, of the others at once.
fn remove(kind: &mut impl Kind, model: &mut [u64; 256], keys: &[u8]) {
    keys.iter().for_each(|&key| model[usize::from(key)] -= 1);
    if let Some((&first, others)) = keys.split_first() {
        assert!(kind.remove(first), "{first} was in");
        assert!(kind.remove_many(others).into_iter().all(|removed| removed));
    }
}
