//! Sets and maps under measurement, ours and other people's, behind one trait.
//!
//! A type says how it handles one key and which batches it has. The loops over slices are provided
//! methods, so that each is compiled with the type and no call per key is dynamic.

use std::fmt;
use std::hint::black_box;

use anyhow::Result;

/// In which way something is done for a slice of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// A plain loop; the compiler may inline the type's method into it.
    Single,
    /// A plain loop over a function that is not inlined, as in a caller that does other work
    /// between two keys.
    Call,
    /// A loop in which each key depends on the answer before, so that no two lookups overlap: the
    /// time from a key to its answer. Section 7.2 of the paper announces such figures, without any.
    Chain,
    /// A plain loop over hashes that the caller has already.
    Hash,
    /// The type's own batch method, on keys.
    Many,
    /// The type's own batch method, on hashes that the caller has already.
    Hashes,
    /// The type's own batch method that inserts the keys that are not in.
    Unique,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Insert keys.
    Insert,
    /// Look keys up.
    Find,
    /// Remove keys that were inserted.
    Remove,
}

/// A set or map under measurement. A map gives each key a value of its own making.
pub trait Subject {
    /// Inserts a key; returns whether it was accepted.
    fn insert(&mut self, key: u64) -> bool;
    /// Looks a key up.
    fn contains(&self, key: u64) -> bool;
    /// Removes a key; returns whether it was found.
    fn remove(&mut self, key: u64) -> bool;
    /// Bytes that the table takes.
    fn bytes(&self) -> u64;

    /// Whether it offers this. The default: everything, one by one.
    fn can(&self, operation: Operation, access: Access) -> bool {
        access == Access::Single
            || operation == Operation::Find && matches!(access, Access::Call | Access::Chain)
    }

    /// Share of the slots that are occupied, if it has slots and says so.
    fn load(&self) -> Option<f64> {
        None
    }

    /// The false-positive rate that it states for its present load, if it does; for a map, the
    /// candidates of an absent key.
    fn expected_fpr(&self) -> Option<f64> {
        None
    }

    /// Replaces keys by their hashes, which [`Access::Hash`] and [`Access::Hashes`] take.
    fn hash(&self, _keys: &mut [u64]) {}

    /// Looks a hash up.
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains(hash)
    }

    /// [`insert_all`](Self::insert_all) by a batch method.
    fn insert_batch(&mut self, _how: Access, keys: &[u64], refused: &mut Vec<u64>) {
        refused.extend(keys.iter().filter(|&&key| !self.insert(key)));
    }

    /// [`find_all`](Self::find_all) by a batch method.
    fn find_batch(&self, _how: Access, keys: &[u64], _found: &mut [bool]) -> u64 {
        keys.iter().map(|&key| u64::from(self.contains(key))).sum()
    }

    /// [`remove_all`](Self::remove_all) by a batch method.
    fn remove_batch(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(self.remove(key))).sum()
    }

    /// Inserts the keys; adds those that it refuses to `refused`.
    fn insert_all(&mut self, access: Access, keys: &[u64], refused: &mut Vec<u64>) {
        if access == Access::Single {
            refused.extend(keys.iter().filter(|&&key| !self.insert(key)));
        } else {
            self.insert_batch(access, keys, refused);
        }
    }

    /// Looks the keys up; returns how many were found. `found` is as long as `keys`, for types that
    /// write their answers into a slice.
    fn find_all(&self, access: Access, keys: &[u64], found: &mut [bool]) -> u64 {
        match access {
            Access::Single => keys.iter().map(|&key| u64::from(self.contains(key))).sum(),
            Access::Call => keys.iter().map(|&key| u64::from(contains_call(self, key))).sum(),
            Access::Chain => chain(keys, |key| self.contains(key)),
            Access::Hash => keys.iter().map(|&hash| u64::from(self.contains_hash(hash))).sum(),
            _ => self.find_batch(access, keys, found),
        }
    }

    /// Removes the keys; returns how many were found.
    fn remove_all(&mut self, access: Access, keys: &[u64]) -> u64 {
        if access == Access::Single {
            return keys.iter().map(|&key| u64::from(self.remove(key))).sum();
        }
        self.remove_batch(keys)
    }

    /// One thread's part of a mix: inserts, with `lookups / inserts` lookups between them. Returns
    /// how many inserts were refused, and how many lookups found something.
    fn mix(&mut self, access: Access, inserts: &[u64], lookups: &[u64]) -> (usize, u64) {
        let (ins, asked) = (inserts.len(), lookups.len());
        // A round has at least one of the rarer kind, so that the mix is the same throughout.
        let (more, fewer) = (ins.max(asked), ins.min(asked).max(1));
        let chunk = if access == Access::Single { more.div_ceil(fewer).min(MIXED) } else { MIXED };
        let rounds = more.div_ceil(chunk).max(1);
        let part = |keys: usize, round: usize| keys * round / rounds..keys * (round + 1) / rounds;
        let (mut refused, mut found, mut answers) = (Vec::new(), 0, vec![false; MIXED]);
        for round in 0..rounds {
            self.insert_all(access, &inserts[part(ins, round)], &mut refused);
            let lookups = &lookups[part(asked, round)];
            found += self.find_all(access, lookups, &mut answers[..lookups.len()]);
        }
        (refused.len(), found)
    }

    /// The batch method where there is one.
    fn fastest(&self, operation: Operation) -> Access {
        if self.can(operation, Access::Many) { Access::Many } else { Access::Single }
    }
}

/// Keys in a batch of the more frequent operation of a mix.
pub(crate) const MIXED: usize = 4096;

#[inline(never)]
fn contains_call<T: Subject + ?Sized>(subject: &T, key: u64) -> bool {
    subject.contains(key)
}

/// As many lookups as there are keys: of each pair of keys the first or the second, as the answer
/// before decides. The dependency is an addition, not a branch: branch prediction would let the
/// next lookup start early.
fn chain(keys: &[u64], contains: impl Fn(u64) -> bool) -> u64 {
    let (mut found, mut before) = (0, 0);
    for at in 0..keys.len() & !1 {
        before = usize::from(black_box(contains(keys[at & !1 | (at + before) & 1])));
        found += before as u64;
    }
    found
}

/// How many of the answers are yes.
pub(crate) fn count(answers: &[bool]) -> u64 {
    answers.iter().map(|&answer| u64::from(answer)).sum()
}

/// Makes an empty subject for this many keys.
pub type Make = Box<dyn Fn(u64) -> Result<Box<dyn Subject>>>;
/// Builds a subject from all its keys at once, on this many threads.
pub type Build = Box<dyn Fn(&[u64], usize) -> Result<Box<dyn Subject>>>;

/// A set or map with its settings, which can be made again for every run.
pub struct Contender {
    /// Its name in every table.
    pub name: String,
    /// Whether it is ours: then a wrong answer ends the run, otherwise it is counted and shown.
    pub ours: bool,
    /// Makes it empty.
    pub make: Make,
    /// Builds it from a slice, if it can.
    pub build: Option<Build>,
}

impl Contender {
    /// One that is made empty and filled.
    pub fn new<T: Subject + 'static>(
        name: &str,
        ours: bool,
        make: impl Fn(u64) -> Result<T> + 'static,
    ) -> Self {
        let make: Make = Box::new(move |keys| Ok(Box::new(make(keys)?)));
        Self { name: name.to_owned(), ours, make, build: None }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn in_a_chain_answers_decide_what_is_asked() {
        let asked = |answer: bool| {
            let seen = RefCell::new(Vec::new());
            chain(&[1, 2, 3, 4, 5], |key| {
                seen.borrow_mut().push(key);
                answer
            });
            seen.into_inner()
        };
        assert_eq!(asked(false), [1, 2, 3, 4]);
        assert_eq!(asked(true), [1, 1, 4, 3]);
    }
}
