//! The library's sets and maps as subjects, for one owner and shared, and hash tables.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::hint::black_box;
use std::sync::MutexGuard;

use hashbrown::HashMap as Hashbrown;
use malkoha::locks::Locking;
use malkoha::{
    ConcurrentCuckooFilterWith, CuckooFilter, CuckooMap, GrowableConcurrentCuckooFilter,
    GrowableConcurrentCuckooMap, GrowableCuckooFilter, GrowableCuckooMap, Key,
};
use malkoha_classic::BucketedCuckooTable;

use crate::subject::{Access, Operation, Subject, count};

/// Bits of the values in maps.
pub(crate) const VALUE_BITS: u32 = 32;

/// The value of a key in every map.
const fn value(key: u64) -> u32 {
    (key >> (64 - VALUE_BITS)) as u32
}

fn pairs(keys: &[u64]) -> Vec<(u64, u64)> {
    keys.iter().map(|&key| (key, value(key).into())).collect()
}

/// A set, and how it is held: by its owner, in a lock, or by reference where threads share it.
macro_rules! set {
    ([$($parameters:tt)*] $set:ty, $held:ty) => {
        impl<$($parameters)*> Subject for $held {
            fn insert(&mut self, key: u64) -> bool {
                <$set>::insert(self, key).is_ok()
            }

            fn contains(&self, key: u64) -> bool {
                <$set>::contains(self, key)
            }

            fn remove(&mut self, key: u64) -> bool {
                <$set>::remove(self, key)
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn can(&self, operation: Operation, access: Access) -> bool {
                match operation {
                    Operation::Insert => {
                        matches!(access, Access::Single | Access::Many | Access::Unique)
                    }
                    Operation::Remove => matches!(access, Access::Single | Access::Many),
                    Operation::Find => access != Access::Unique,
                }
            }

            fn load(&self) -> Option<f64> {
                Some(self.load_factor())
            }

            fn expected_fpr(&self) -> Option<f64> {
                Some(<$set>::expected_fpr(self))
            }

            fn hash(&self, keys: &mut [u64]) {
                let hasher = self.hasher();
                for key in keys {
                    *key = key.hash_with(hasher);
                }
            }

            fn contains_hash(&self, hash: u64) -> bool {
                <$set>::contains_hash(self, hash)
            }

            fn insert_batch(&mut self, access: Access, keys: &[u64], refused: &mut Vec<u64>) {
                let result = match access {
                    Access::Unique => self.insert_unique_many(keys).map(drop),
                    _ => self.insert_many(keys),
                };
                if let Err(error) = result {
                    refused.extend(error.refused.iter().map(|&position| keys[position]));
                }
            }

            fn find_batch(&self, access: Access, keys: &[u64], found: &mut [bool]) -> u64 {
                if access == Access::Many {
                    return count(&self.contains_many(keys));
                }
                self.contains_hashes(keys, found);
                count(found)
            }

            fn remove_batch(&mut self, keys: &[u64]) -> u64 {
                count(&self.remove_many(keys))
            }
        }
    };
}

set!([] CuckooFilter, CuckooFilter);
set!([] CuckooFilter, MutexGuard<'_, CuckooFilter>);
set!([] GrowableCuckooFilter, GrowableCuckooFilter);
set!([P: Locking] ConcurrentCuckooFilterWith<P>, ConcurrentCuckooFilterWith<P>);
set!([P: Locking] ConcurrentCuckooFilterWith<P>, &ConcurrentCuckooFilterWith<P>);
set!([] GrowableConcurrentCuckooFilter, GrowableConcurrentCuckooFilter);
set!([] GrowableConcurrentCuckooFilter, &GrowableConcurrentCuckooFilter);

/// A map, and how it is held.
macro_rules! map {
    ($map:ty, $held:ty) => {
        impl Subject for $held {
            fn insert(&mut self, key: u64) -> bool {
                <$map>::insert(self, key, value(key).into()).is_ok()
            }

            fn contains(&self, key: u64) -> bool {
                self.get(key).map(black_box).count() > 0
            }

            fn remove(&mut self, key: u64) -> bool {
                <$map>::remove(self, key, value(key).into())
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn can(&self, operation: Operation, access: Access) -> bool {
                let is_find = operation == Operation::Find;
                matches!(access, Access::Single | Access::Many)
                    || is_find && matches!(access, Access::Call | Access::Chain)
            }

            fn load(&self) -> Option<f64> {
                Some(self.load_factor())
            }

            fn expected_fpr(&self) -> Option<f64> {
                Some(self.expected_candidates())
            }

            fn insert_batch(&mut self, _: Access, keys: &[u64], refused: &mut Vec<u64>) {
                if let Err(error) = self.insert_many(&pairs(keys)) {
                    refused.extend(error.refused.iter().map(|&position| keys[position]));
                }
            }

            fn find_batch(&self, _: Access, keys: &[u64], found: &mut [bool]) -> u64 {
                found.fill(false);
                self.get_many(keys, |i, value| {
                    black_box(value);
                    found[i] = true;
                });
                count(found)
            }

            fn remove_batch(&mut self, keys: &[u64]) -> u64 {
                count(&self.remove_many(&pairs(keys)))
            }
        }
    };
}

map!(CuckooMap, CuckooMap);
map!(GrowableCuckooMap, GrowableCuckooMap);
map!(GrowableConcurrentCuckooMap, GrowableConcurrentCuckooMap);
map!(GrowableConcurrentCuckooMap, &GrowableConcurrentCuckooMap);

/// Of hash tables with values of this type.
macro_rules! hash_table {
    ($table:ident, $value:ty, $of:expr) => {
        impl<S: BuildHasher> Subject for $table<u64, $value, S> {
            fn insert(&mut self, key: u64) -> bool {
                let of: fn(u64) -> $value = $of;
                Self::insert(self, key, of(key));
                true
            }

            fn contains(&self, key: u64) -> bool {
                black_box(self.get(&key)).is_some()
            }

            fn remove(&mut self, key: u64) -> bool {
                Self::remove(self, &key).is_some()
            }

            fn bytes(&self) -> u64 {
                slots(self.capacity()) * (size_of::<(u64, $value)>() as u64 + 1)
            }

            fn load(&self) -> Option<f64> {
                Some(self.len() as f64 / slots(self.capacity()) as f64)
            }
        }
    };
}

hash_table!(HashMap, u32, value);
hash_table!(Hashbrown, u32, value);
hash_table!(Hashbrown, (), |_| ());

/// Slots of a hash table for `capacity` keys: a power of two, of which seven eighths are used, each
/// with a control byte.
fn slots(capacity: usize) -> u64 {
    (capacity as u64 * 8 / 7).next_power_of_two()
}

impl<const D: usize, const B: usize> Subject for BucketedCuckooTable<u64, u32, D, B> {
    fn insert(&mut self, key: u64) -> bool {
        Self::insert(self, key, value(key)).is_ok()
    }

    fn contains(&self, key: u64) -> bool {
        black_box(self.get(&key)).is_some()
    }

    fn remove(&mut self, key: u64) -> bool {
        Self::remove(self, &key).is_some()
    }

    fn bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn can(&self, operation: Operation, access: Access) -> bool {
        let is_find = operation == Operation::Find;
        access == Access::Single
            || is_find && matches!(access, Access::Call | Access::Chain | Access::Many)
    }

    fn load(&self) -> Option<f64> {
        Some(self.load_factor())
    }

    fn find_batch(&self, _: Access, keys: &[u64], _: &mut [bool]) -> u64 {
        self.get_many(keys).into_iter().map(|value| u64::from(black_box(value).is_some())).sum()
    }
}
