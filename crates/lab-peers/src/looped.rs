//! Filters that know single keys become subjects: the loops around them, and the memory that they
//! hold, which few of them tell.

use anyhow::Result;
use cap::Cap;
use lab::subject::{Contender, How, Operation, Subject};
use std::alloc::System;

/// Counts what is on the heap. Rivals allocate when they are made and when they grow, nothing else
/// does meanwhile, and no lookup allocates.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// A rival.
pub(crate) trait Rival {
    /// Whether keys can be removed.
    const REMOVES: bool = true;
    /// Inserts a key; answers whether it was accepted.
    fn insert(&mut self, key: u64) -> bool;
    /// Looks a key up.
    fn contains(&self, key: u64) -> bool;
    /// Removes a key; answers whether it was found. Called only if it [removes](Self::REMOVES).
    fn remove(&mut self, key: u64) -> bool;
    /// The rival's own batched lookup into `found`, if it has one; otherwise it does nothing and
    /// answers `false`.
    fn contains_many(&self, _keys: &[u64], _found: &mut [bool]) -> bool {
        false
    }
    /// Share of the slots that are occupied, where there are slots.
    fn load(&self) -> Option<f64>;
}

/// A rival under this name, that `make` makes for a number of keys.
pub(crate) fn contender<T: Rival + 'static>(
    name: &str,
    make: impl Fn(usize) -> Result<T> + 'static,
) -> Contender {
    let make = move |keys| {
        let before = HEAP.allocated();
        let rival = make(usize::try_from(keys)?)?;
        Ok(Box::new(Looped { rival, bytes: HEAP.allocated() - before }) as Box<dyn Subject>)
    };
    Contender { name: name.to_owned(), ours: false, make: Box::new(make), build: None }
}

struct Looped<T> {
    rival: T,
    bytes: usize,
}

impl<T: Rival> Subject for Looped<T> {
    fn can(&self, operation: Operation, how: How) -> bool {
        match (operation, how) {
            (Operation::Insert, How::Single) | (Operation::Find, How::Single | How::Call) => true,
            (Operation::Remove, How::Single) => T::REMOVES,
            (Operation::Find, How::Many) => self.rival.contains_many(&[], &mut []),
            _ => false,
        }
    }

    fn insert(&mut self, _: How, keys: &[u64], refused: &mut Vec<u64>) {
        // Made beforehand, so that what the rival allocates is all that is counted.
        refused.reserve(keys.len());
        let before = HEAP.allocated();
        refused.extend(keys.iter().filter(|key| !self.rival.insert(**key)));
        self.bytes = self.bytes + HEAP.allocated() - before;
    }

    fn find(&self, how: How, keys: &[u64], found: &mut [bool]) -> u64 {
        match how {
            // Rivals hash themselves.
            How::Single | How::Hash => {
                keys.iter().map(|&key| u64::from(self.rival.contains(key))).sum()
            }
            How::Call => keys.iter().map(|&key| u64::from(contains_call(&self.rival, key))).sum(),
            How::Many | How::Hashes => {
                self.rival.contains_many(keys, found);
                found.iter().map(|&found| u64::from(found)).sum()
            }
        }
    }

    fn remove(&mut self, _: How, keys: &[u64], _: &mut [bool]) -> u64 {
        keys.iter().map(|&key| u64::from(self.rival.remove(key))).sum()
    }

    fn hash(&self, _: &mut [u64]) {}

    fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn load(&self) -> Option<f64> {
        self.rival.load()
    }

    fn expected_fpr(&self) -> Option<f64> {
        None
    }
}

#[inline(never)]
fn contains_call<T: Rival>(rival: &T, key: u64) -> bool {
    rival.contains(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Grows with its keys, and refuses odd ones.
    struct Even(Vec<u64>);

    impl Rival for Even {
        fn insert(&mut self, key: u64) -> bool {
            let accepted = key.is_multiple_of(2);
            if accepted {
                self.0.push(key);
            }
            accepted
        }
        fn contains(&self, key: u64) -> bool {
            self.0.contains(&key)
        }
        fn remove(&mut self, key: u64) -> bool {
            let place = self.0.iter().position(|&there| there == key);
            place.map(|place| self.0.swap_remove(place)).is_some()
        }
        fn load(&self) -> Option<f64> {
            None
        }
    }

    #[test]
    fn loops_count_answers_and_memory() {
        let contender = contender("even", |keys| Ok(Even(Vec::with_capacity(keys))));
        let mut subject = (contender.make)(2).unwrap();
        assert_eq!(subject.bytes(), 16);
        let mut refused = Vec::new();
        subject.insert(How::Single, &[1, 2, 4, 6, 8], &mut refused);
        assert_eq!(refused, [1]);
        assert_eq!(subject.bytes(), 32);
        assert_eq!(subject.find(How::Call, &[1, 2, 3, 4], &mut [false; 4]), 2);
        assert!(!subject.can(Operation::Find, How::Many));
        assert_eq!(subject.remove(How::Single, &[2, 2], &mut [false; 2]), 1);
    }
}
