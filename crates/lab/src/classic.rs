//! The structures of `malkoha-classic` as contenders.

use malkoha::{Key, KeyHasher};
use malkoha_classic::{
    BlockedBloomFilter, BloomFilter, CountingBloomFilter, DLeftCountingFilter, Filter,
    QuotientFilter, RemovableFilter,
};

use crate::subject::{Access, Contender, Operation, Subject, count};

/// How keys are removed, one and many.
type Removal<F> = (fn(&mut F, u64) -> bool, fn(&mut F, &[u64]) -> Vec<bool>);

/// A classic filter, and how keys are removed from it if they can be.
pub(crate) struct Classic<F> {
    filter: F,
    removal: Option<Removal<F>>,
}

impl<F: Filter> Classic<F> {
    /// A filter that cannot forget.
    pub(crate) const fn fixed(filter: F) -> Self {
        Self { filter, removal: None }
    }
}

impl<F: RemovableFilter> Classic<F> {
    /// A filter from which keys can be removed.
    pub(crate) fn removable(filter: F) -> Self {
        let one = |filter: &mut F, key| filter.remove(&key);
        Self { filter, removal: Some((one, |filter, keys| filter.remove_many(keys))) }
    }
}

impl<F: Filter> Subject for Classic<F> {
    fn insert(&mut self, key: u64) -> bool {
        Filter::insert(&mut self.filter, &key).is_ok()
    }

    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }

    fn remove(&mut self, key: u64) -> bool {
        self.removal.is_some_and(|(one, _)| one(&mut self.filter, key))
    }

    fn bytes(&self) -> u64 {
        self.filter.size_in_bytes()
    }

    fn can(&self, operation: Operation, access: Access) -> bool {
        let one_or_many = matches!(access, Access::Single | Access::Many);
        match operation {
            Operation::Find => access != Access::Unique,
            Operation::Insert => one_or_many,
            Operation::Remove => one_or_many && self.removal.is_some(),
        }
    }

    fn load(&self) -> Option<f64> {
        Some(self.filter.load_factor())
    }

    fn expected_fpr(&self) -> Option<f64> {
        Some(self.filter.expected_fpr())
    }

    fn hash(&self, keys: &mut [u64]) {
        let hasher = self.filter.hasher();
        for key in keys {
            *key = key.hash_with(hasher);
        }
    }

    fn contains_hash(&self, hash: u64) -> bool {
        self.filter.contains_hash(hash)
    }

    fn insert_batch(&mut self, _: Access, keys: &[u64], refused: &mut Vec<u64>) {
        if let Err(error) = self.filter.insert_many(keys) {
            refused.extend(error.refused.iter().map(|&position| keys[position]));
        }
    }

    fn find_batch(&self, access: Access, keys: &[u64], found: &mut [bool]) -> u64 {
        if access == Access::Many {
            return count(&self.filter.contains_many(keys));
        }
        self.filter.contains_hashes(keys, found);
        count(found)
    }

    fn remove_batch(&mut self, keys: &[u64]) -> u64 {
        self.removal.map_or(0, |(_, many)| count(&many(&mut self.filter, keys)))
    }
}

/// The classic filters, each asked for this false-positive rate. The quotient filter rounds to a
/// power of two.
#[must_use]
pub fn contenders(fpr: f64) -> Vec<Contender> {
    let hasher = KeyHasher::new(0);
    vec![
        Contender::new("classic Bloom", true, move |keys| {
            Ok(Classic::fixed(BloomFilter::with_capacity_and_hasher(keys, fpr, hasher)?))
        }),
        Contender::new("classic blocked Bloom", true, move |keys| {
            Ok(Classic::fixed(BlockedBloomFilter::with_capacity_and_hasher(keys, fpr, hasher)?))
        }),
        Contender::new("classic counting Bloom", true, move |keys| {
            let filter = CountingBloomFilter::with_capacity_and_hasher(keys, fpr, hasher)?;
            Ok(Classic::removable(filter))
        }),
        Contender::new("classic quotient", true, move |keys| {
            Ok(Classic::removable(QuotientFilter::with_capacity_and_hasher(keys, fpr, hasher)?))
        }),
        Contender::new("classic d-left", true, move |keys| {
            let filter = DLeftCountingFilter::with_capacity_and_hasher(keys, fpr, hasher)?;
            Ok(Classic::removable(filter))
        }),
    ]
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
            subject.insert_all(Access::Single, one, &mut refused);
            subject.insert_all(Access::Many, many, &mut refused);
            assert!(refused.is_empty(), "{}", contender.name);
            let mut answers = vec![false; keys.len()];
            for access in [Access::Single, Access::Call, Access::Many] {
                assert_eq!(
                    subject.find_all(access, &keys, &mut answers),
                    2000,
                    "{}",
                    contender.name
                );
            }
            let mut hashes = keys.clone();
            subject.hash(&mut hashes);
            assert_eq!(subject.find_all(Access::Hashes, &hashes, &mut answers), 2000);
            let removes = subject.can(Operation::Remove, Access::Single);
            let removed =
                subject.remove_all(Access::Single, one) + subject.remove_all(Access::Many, many);
            assert_eq!(removed, if removes { 2000 } else { 0 }, "{}", contender.name);
        }
    }
}
