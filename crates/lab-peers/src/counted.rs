//! The memory that rivals hold, which few of them state: it is counted on the heap.

use std::alloc::System;

use anyhow::Result;
use cap::Cap;
use lab::subject::{Access, Contender, Operation, Subject};

/// Counts the bytes on the heap. Rivals allocate when they are made and when they grow,
/// nothing else does meanwhile, and no lookup allocates.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// How a rival removes a key.
pub(crate) type Remove<T> = fn(&mut T, u64) -> bool;

/// A rival, its operations on one key, and the bytes that it has allocated.
pub(crate) struct Rival<T, I, C> {
    rival: T,
    insert: I,
    contains: C,
    remove: Option<Remove<T>>,
    bytes: usize,
}

impl<T, I: Fn(&mut T, u64) -> bool, C: Fn(&T, u64) -> bool> Rival<T, I, C> {
    pub(crate) fn new(
        make: impl FnOnce() -> Result<T>,
        insert: I,
        contains: C,
        remove: Option<Remove<T>>,
    ) -> Result<Self> {
        let before = HEAP.allocated();
        let rival = make()?;
        Ok(Self { rival, insert, contains, remove, bytes: HEAP.allocated() - before })
    }
}

/// A rival under this name, that `make` makes for a number of keys.
pub(crate) fn contender<T: 'static>(
    name: &str,
    make: impl Fn(usize) -> Result<T> + 'static,
    insert: impl Fn(&mut T, u64) -> bool + Copy + 'static,
    contains: impl Fn(&T, u64) -> bool + Copy + 'static,
    remove: Option<Remove<T>>,
) -> Contender {
    Contender::new(name, false, move |keys| {
        let keys = usize::try_from(keys)?;
        Rival::new(|| make(keys), insert, contains, remove)
    })
}

impl<T, I: Fn(&mut T, u64) -> bool, C: Fn(&T, u64) -> bool> Subject for Rival<T, I, C> {
    fn insert(&mut self, key: u64) -> bool {
        (self.insert)(&mut self.rival, key)
    }

    fn contains(&self, key: u64) -> bool {
        (self.contains)(&self.rival, key)
    }

    fn remove(&mut self, key: u64) -> bool {
        self.remove.is_some_and(|remove| remove(&mut self.rival, key))
    }

    fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    fn can(&self, operation: Operation, access: Access) -> bool {
        let is_known = operation != Operation::Remove || self.remove.is_some();
        is_known
            && (access == Access::Single || (operation, access) == (Operation::Find, Access::Call))
    }

    fn insert_all(&mut self, _: Access, keys: &[u64], refused: &mut Vec<u64>) {
        // Made beforehand, so that nothing but the rival's allocations is counted.
        refused.reserve(keys.len());
        let before = HEAP.allocated();
        refused.extend(keys.iter().filter(|&&key| !self.insert(key)));
        self.bytes = self.bytes + HEAP.allocated() - before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_count_answers_and_memory() {
        // Grows with its keys, and refuses odd ones.
        let contender = contender(
            "even",
            |keys| Ok(Vec::with_capacity(keys)),
            |even: &mut Vec<u64>, key| {
                even.extend(Some(key).filter(|key| key % 2 == 0));
                key % 2 == 0
            },
            |even, key| even.contains(&key),
            Some(|even: &mut Vec<u64>, key| {
                let place = even.iter().position(|&there| there == key);
                place.map(|place| even.swap_remove(place)).is_some()
            }),
        );
        let mut subject = (contender.make)(2).unwrap();
        assert_eq!(subject.bytes(), 16);
        let mut refused = Vec::new();
        subject.insert_all(Access::Single, &[1, 2, 4, 6, 8], &mut refused);
        assert_eq!(refused, [1]);
        assert_eq!(subject.bytes(), 32);
        assert_eq!(subject.find_all(Access::Call, &[1, 2, 3, 4], &mut [false; 4]), 2);
        assert!(!subject.can(Operation::Find, Access::Many));
        assert_eq!(subject.remove_all(Access::Single, &[2, 2]), 1);
    }
}
