//! The library's filters as subjects: they differ only in what a batch of inserts answers.

use malkoha::{ConcurrentCuckooFilter, CuckooFilter, GrowableCuckooFilter, Key};

use crate::subject::{How, Operation, Subject, count};

macro_rules! subject {
    ($filter:ty, $insert_many:expr) => {
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
                if how == How::Many {
                    let insert_many: fn(&mut Self, &[u64], &mut Vec<u64>) = $insert_many;
                    insert_many(self, keys, refused);
                } else {
                    refused.extend(keys.iter().filter(|key| Self::insert(self, *key).is_err()));
                }
            }

            fn find(&self, how: How, keys: &[u64], found: &mut [bool]) -> u64 {
                #[inline(never)]
                fn call(filter: &$filter, key: u64) -> bool {
                    filter.contains(&key)
                }

                match how {
                    How::Single => keys.iter().map(|key| u64::from(self.contains(key))).sum(),
                    How::Call => keys.iter().map(|&key| u64::from(call(self, key))).sum(),
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

subject!(CuckooFilter, |filter, keys, refused| {
    if let Err(error) = filter.insert_many(keys) {
        refused.extend(error.refused.iter().map(|&position| keys[position]));
    }
});
subject!(ConcurrentCuckooFilter, |filter, keys, refused| {
    if let Err(error) = filter.insert_many(keys) {
        refused.extend(error.refused.iter().map(|&position| keys[position]));
    }
});
subject!(GrowableCuckooFilter, |filter, keys, refused| {
    let before = filter.len();
    if filter.insert_many(keys).is_ok() {
        return;
    }
    // A batch stops at the first refused key; those before it are in.
    let done = usize::try_from(filter.len() - before).unwrap_or(keys.len());
    refused.extend(keys[done..].iter().filter(|key| filter.insert(*key).is_err()));
});
