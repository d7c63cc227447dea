//! The library's filters as subjects: the same methods, for filters of one owner and shared ones.

use malkoha::{
    ConcurrentCuckooFilter, CuckooFilter, GrowableConcurrentCuckooFilter, GrowableCuckooFilter, Key,
};

use crate::subject::{How, Operation, Subject, count};

macro_rules! subject {
    ($filter:ty) => {
        impl Subject for $filter {
            fn can(&self, operation: Operation, how: How) -> bool {
                match operation {
                    Operation::Insert | Operation::Remove => {
                        matches!(how, How::Single | How::Many)
                    }
                    Operation::Find => true,
                }
            }

            fn insert(&mut self, how: How, keys: &[u64], refused: &mut Vec<u64>) {
                if how == How::Single {
                    refused.extend(keys.iter().filter(|key| Self::insert(self, *key).is_err()));
                } else if let Err(error) = self.insert_many(keys) {
                    refused.extend(error.refused.iter().map(|&position| keys[position]));
                }
            }

            fn find(&self, how: How, keys: &[u64], found: &mut [bool]) -> u64 {
                #[inline(never)]
                fn call(filter: &$filter, key: u64) -> bool {
                    filter.contains(key)
                }

                match how {
                    How::Single => keys.iter().map(|key| u64::from(self.contains(key))).sum(),
                    How::Call => keys.iter().map(|&key| u64::from(call(self, key))).sum(),
                    How::Hash => keys.iter().map(|&hash| u64::from(self.contains_hash(hash))).sum(),
                    How::Many => count(&self.contains_many(keys)),
                    How::Hashes => {
                        self.contains_hashes(keys, found);
                        count(found)
                    }
                }
            }

            fn remove(&mut self, how: How, keys: &[u64], _: &mut [bool]) -> u64 {
                if how == How::Single {
                    return keys.iter().map(|key| u64::from(Self::remove(self, key))).sum();
                }
                count(&self.remove_many(keys))
            }

            fn hash(&self, keys: &mut [u64]) {
                let hasher = self.hasher();
                for key in keys {
                    *key = key.hash_with(hasher);
                }
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn load(&self) -> Option<f64> {
                Some(self.load_factor())
            }

            fn expected_fpr(&self) -> Option<f64> {
                Some(Self::expected_fpr(self))
            }
        }
    };
}

subject!(CuckooFilter);
subject!(ConcurrentCuckooFilter);
subject!(GrowableCuckooFilter);
subject!(GrowableConcurrentCuckooFilter);
