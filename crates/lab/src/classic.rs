//! The structures of `malkoha-classic` as contenders.

use anyhow::Result;
use malkoha::{Key, KeyHasher};
use malkoha_classic::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, Filter,
    QuotientFilter, RemovableFilter,
};

use crate::subject::{Contender, How, Operation, Subject, count};

type Remove<F> = fn(&mut F, How, &[u64]) -> u64;

/// A classic filter, and how keys are removed from it if they can be.
pub struct Classic<F> {
    filter: F,
    remove: Option<Remove<F>>,
}

impl<F: Filter> Classic<F> {
    /// A filter that cannot forget.
    pub const fn fixed(filter: F) -> Self {
        Self { filter, remove: None }
    }
}

impl<F: RemovableFilter> Classic<F> {
    /// A filter from which keys can be removed.
    pub fn removable(filter: F) -> Self {
        Self { filter, remove: Some(remove) }
    }
}

fn remove<F: RemovableFilter>(filter: &mut F, how: How, keys: &[u64]) -> u64 {
    if how == How::Single {
        return keys.iter().map(|key| u64::from(filter.remove(key))).sum();
    }
    count(&filter.remove_many(keys))
}

#[inline(never)]
fn contains_call<F: Filter>(filter: &F, key: u64) -> bool {
    filter.contains(&key)
}

impl<F: Filter> Subject for Classic<F> {
    fn can(&self, operation: Operation, how: How) -> bool {
        let one_or_many = matches!(how, How::Single | How::Many);
        match operation {
            Operation::Find => true,
            Operation::Insert => one_or_many,
            Operation::Remove => one_or_many && self.remove.is_some(),
        }
    }

    fn insert(&mut self, how: How, keys: &[u64], refused: &mut Vec<u64>) {
        if how == How::Single {
            refused
                .extend(keys.iter().filter(|key| Filter::insert(&mut self.filter, *key).is_err()));
        } else if let Err(error) = self.filter.insert_many(keys) {
            refused.extend(error.refused.iter().map(|&position| keys[position]));
        }
    }

    fn find(&self, how: How, keys: &[u64], found: &mut [bool]) -> u64 {
        match how {
            How::Single => keys.iter().map(|key| u64::from(self.filter.contains(key))).sum(),
            How::Call => keys.iter().map(|&key| u64::from(contains_call(&self.filter, key))).sum(),
            How::Hash => keys.iter().map(|&hash| u64::from(self.filter.contains_hash(hash))).sum(),
            How::Many => count(&self.filter.contains_many(keys)),
            How::Hashes => {
                self.filter.contains_hashes(keys, found);
                count(found)
            }
        }
    }

    fn remove(&mut self, how: How, keys: &[u64], _: &mut [bool]) -> u64 {
        self.remove.map_or(0, |remove| remove(&mut self.filter, how, keys))
    }

    fn hash(&self, keys: &mut [u64]) {
        let hasher = self.filter.hasher();
        for key in keys {
            *key = key.hash_with(hasher);
        }
    }

    fn bytes(&self) -> u64 {
        self.filter.size_in_bytes()
    }

    fn load(&self) -> Option<f64> {
        Some(self.filter.load_factor())
    }

    fn expected_fpr(&self) -> Option<f64> {
        Some(self.filter.expected_fpr())
    }
}

/// The classic filters, each asked for this false-positive rate. The quotient filter rounds to a
/// power of two.
#[must_use]
pub fn contenders(fpr: f64) -> Vec<Contender> {
    let hasher = KeyHasher::new(0);
    vec![
        contender("classic Bloom", move |keys| {
            Ok(Classic::fixed(BloomFilter::with_capacity_and_hasher(keys, fpr, hasher)?))
        }),
        contender("classic blocked Bloom", move |keys| {
            Ok(Classic::fixed(BlockedBloomFilter::with_capacity_and_hasher(keys, fpr, hasher)?))
        }),
        contender("classic counting Bloom", move |keys| {
            let filter = CountingBloomFilter::with_capacity_and_hasher(keys, fpr, hasher)?;
            Ok(Classic::removable(filter))
        }),
        contender("classic quotient", move |keys| {
            Ok(Classic::removable(QuotientFilter::with_capacity_and_hasher(keys, fpr, hasher)?))
        }),
        contender("classic d-left", move |keys| {
            let filter = DLeftCountingFilter::with_capacity_and_hasher(keys, fpr, hasher)?;
            Ok(Classic::removable(filter))
        }),
    ]
}

fn contender<F: Filter + 'static>(
    name: &str,
    make: impl Fn(u64) -> Result<Classic<F>> + 'static,
) -> Contender {
    Contender {
        name: name.to_owned(),
        ours: true,
        make: Box::new(move |keys| Ok(Box::new(make(keys)?))),
        build: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_classic_filter_answers_alike_in_every_way() {
        let keys: Vec<u64> = (0..2000).map(|n| n * 0x9e37_79b9).collect();
        for contender in contenders(0.01) {
            let mut subject = (contender.make)(4000).unwrap();
            let (one, many) = keys.split_at(1000);
            let mut refused = Vec::new();
            subject.insert(How::Single, one, &mut refused);
            subject.insert(How::Many, many, &mut refused);
            assert!(refused.is_empty(), "{}", contender.name);
            let mut answers = vec![false; keys.len()];
            for how in [How::Single, How::Call, How::Many] {
                assert_eq!(subject.find(how, &keys, &mut answers), 2000, "{}", contender.name);
            }
            let mut hashes = keys.clone();
            subject.hash(&mut hashes);
            assert_eq!(subject.find(How::Hashes, &hashes, &mut answers), 2000);
            let removes = subject.can(Operation::Remove, How::Single);
            let removed = subject.remove(How::Single, one, &mut answers)
                + subject.remove(How::Many, many, &mut answers);
            assert_eq!(removed, if removes { 2000 } else { 0 }, "{}", contender.name);
        }
    }
}
