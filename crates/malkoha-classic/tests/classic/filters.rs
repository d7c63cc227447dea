//! Every filter against a naive model: no false negative, whatever the order of operations.

use std::collections::{HashMap, HashSet};

use malkoha::{Key, KeyHasher};
use malkoha_classic::{
    BlockedBloomFilter, BloomFilter, BuildError, CountingBloomFilter, DLeftCountingFilter, Filter,
    Full, QuotientFilter, RemovableFilter,
};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support::{Sample, key, keys};

for_all_filters!(
    holds_what_was_inserted,
    batches_answer_as_single_calls,
    counts_bytes_and_keys_and_clears,
    serves_extreme_targets,
);

for_removable_filters!(follows_a_multiset, removes_down_to_nothing, batches_remove);

fn holds_what_was_inserted<F: Sample>() {
    let inserts = proptest::collection::vec(0_u64..400, 0..500);
    run(&inserts, |inserts| {
        let mut filter = F::tiny();
        let mut model = HashSet::new();
        for &n in inserts {
            let before = filter.clone();
            match filter.insert(&n) {
                Ok(()) => {
                    model.insert(n);
                }
                Err(full) => {
                    prop_assert_eq!(full.len, before.len());
                    prop_assert_eq!(&filter, &before, "a refusal changes nothing");
                }
            }
        }
        for n in &model {
            prop_assert!(filter.contains(n));
        }
        Ok(())
    });
}

/// Inserts, and removals of what is in. Whatever happens, no key that is in is denied.
fn follows_a_multiset<F: Sample + RemovableFilter>() {
    let operations = proptest::collection::vec((0_u64..60, 0_u8..5), 0..800);
    run(&operations, |operations| {
        let mut filter = F::tiny();
        let mut model = HashMap::<u64, u64>::new();
        for &(n, operation) in operations {
            let copies = model.entry(n).or_default();
            if operation < 3 {
                *copies += u64::from(filter.insert(&n).is_ok());
            } else if *copies > 0 {
                prop_assert!(filter.remove(&n));
                *copies -= 1;
            }
        }
        for (n, &copies) in &model {
            prop_assert!(filter.count(n) >= copies.min(15));
            prop_assert!(copies == 0 || filter.contains(n));
        }
        prop_assert_eq!(filter.len(), model.values().sum::<u64>());
        Ok(())
    });
}

fn removes_down_to_nothing<F: Sample + RemovableFilter>() {
    let mut filter = F::with_capacity(5_000, 0.001).unwrap();
    let empty = filter.clone();
    let mut present = keys(1, 5_000);
    for key in &present {
        filter.insert(key).unwrap();
    }
    present.reverse();
    for (removed, key) in present.iter().enumerate() {
        assert!(filter.remove(key));
        if removed % 1000 == 0 {
            assert!(present[removed + 1..].iter().all(|key| filter.contains(key)));
        }
    }
    assert!(filter == empty, "nothing is left of keys that were removed");
    assert!(!filter.remove(&present[0]));
}

fn batches_answer_as_single_calls<F: Sample>() {
    let mut one_by_one = F::with_capacity(3_000, 0.05).unwrap();
    let mut batched = one_by_one.clone();
    let present = keys(1, 3_000);
    for key in &present {
        one_by_one.insert(key).unwrap();
    }
    batched.insert_many(&present).unwrap();
    assert!(one_by_one == batched);
    let mixed = [keys(2, 2_000), present].concat();
    let single: Vec<bool> = mixed.iter().map(|key| one_by_one.contains(key)).collect();
    assert_eq!(batched.contains_many(&mixed), single);
    assert!(single[2_000..].iter().all(|&found| found));
}

fn batches_remove<F: Sample + RemovableFilter>() {
    let mut filter = F::with_capacity(3_000, 0.001).unwrap();
    let present = keys(1, 3_000);
    filter.insert_many(&present).unwrap();
    assert!(filter.remove_many(&present[..2_000]).iter().all(|&removed| removed));
    assert_eq!(filter.len(), 1_000);
    assert!(filter.contains_many(&present[2_000..]).iter().all(|&found| found));
}

fn counts_bytes_and_keys_and_clears<F: Sample>() {
    let mut filter = F::with_capacity(10_000, 0.01).unwrap();
    let empty = filter.clone();
    assert!(filter.is_empty() && filter.bits_per_key().is_infinite());
    assert_eq!(filter.expected_fpr(), 0.0);
    filter.insert_many(&keys(1, 10_000)).unwrap();
    assert_eq!((filter.len(), filter.capacity()), (10_000, 10_000));
    assert!(filter.load_factor() > 0.4 && filter.load_factor() <= 1.0);
    assert!(filter.expected_fpr() <= 0.01 && filter.expected_fpr() > 0.002);
    let bits = filter.size_in_bytes() as f64 * 8.0;
    assert!((filter.bits_per_key() - bits / 1e4).abs() < 1e-9);
    assert!((9.0..40.0).contains(&filter.bits_per_key()));
    filter.clear();
    assert!(filter == empty);
}

fn serves_extreme_targets<F: Sample>() {
    for (capacity, fpr) in [(1, 0.999), (1, 1e-6), (63, 0.5), (3, 1e-8)] {
        let mut filter = F::with_capacity(capacity, fpr).unwrap();
        let present = keys(1, capacity);
        filter.insert_many(&present).unwrap();
        assert!(filter.contains_many(&present).iter().all(|&found| found));
        assert!(filter.expected_fpr() <= fpr, "{capacity} keys at {fpr}");
    }
}

#[test]
fn impossible_targets_are_errors() {
    macro_rules! check {
        ($($type:ty),*) => {$(
            assert_eq!(<$type>::with_capacity(0, 0.1).unwrap_err(), BuildError::Capacity(0));
            let beyond = (1 << 36) + 1;
            assert_eq!(<$type>::with_capacity(beyond, 0.1).unwrap_err(), BuildError::Capacity(beyond));
            for fpr in [0.0, 1.0, -1.0, f64::INFINITY] {
                assert_eq!(<$type>::with_capacity(1, fpr).unwrap_err(), BuildError::Fpr(fpr));
            }
            assert!(matches!(<$type>::with_capacity(1, f64::NAN), Err(BuildError::Fpr(_))));
            let too_small = <$type>::with_capacity(1000, 1e-300);
            assert!(matches!(too_small, Err(BuildError::FprTooSmall { .. })));
        )*};
    }
    check!(
        BloomFilter,
        BlockedBloomFilter,
        CountingBloomFilter,
        QuotientFilter,
        DLeftCountingFilter
    );
    let hasher = KeyHasher::new(0);
    assert!(BloomFilter::with_geometry(0, 1, hasher).is_err());
    assert!(BloomFilter::with_geometry(1, 65, hasher).is_err());
    assert!(BlockedBloomFilter::with_geometry(1, 0, hasher).is_err());
    assert!(CountingBloomFilter::with_geometry(u64::MAX, 1, hasher).is_err());
    assert!(QuotientFilter::with_geometry(5, 8, hasher).is_err());
    assert!(QuotientFilter::with_geometry(30, 35, hasher).is_err());
    assert!(DLeftCountingFilter::with_geometry(1, 30, 3, hasher).is_err());
    let message = DLeftCountingFilter::with_geometry(0, 8, 2, hasher).unwrap_err().to_string();
    assert!(message.contains("choose 1 to"), "{message}");
}

/// A quotient filter is exact about fingerprints, of every width, at any load and over the
/// wrap-around.
#[test]
fn quotient_filter_counts_fingerprints_exactly() {
    let operations = proptest::collection::vec((any::<u64>(), 0_u8..5), 0..600);
    // Remainders that fit into a word are compared at once, all others slot by slot.
    for remainder_bits in [1, 2, 3, 5, 7, 8, 9, 13, 16, 21, 31, 32, 33, 48] {
        let quotient_bits = 6 + remainder_bits % 3;
        run(&operations, |operations| {
            let hasher = KeyHasher::new(0);
            let geometry =
                || QuotientFilter::with_geometry(quotient_bits, remainder_bits, hasher).unwrap();
            let mut filter = geometry();
            let mut model = HashMap::<u64, u64>::new();
            let mut fingerprints = Vec::new();
            for &(random, operation) in operations {
                if operation < 4 {
                    // Quotients at the end of the table, for long runs, and clusters that wrap
                    // around.
                    let hash = if operation < 2 { random | 0x3f << 58 } else { random };
                    if filter.insert_hash(hash).is_ok() {
                        let fingerprint = hash >> (64 - quotient_bits - remainder_bits);
                        *model.entry(fingerprint).or_default() += 1;
                        fingerprints.push(hash);
                    }
                } else if !fingerprints.is_empty() {
                    let at = usize::try_from(random % fingerprints.len() as u64).unwrap();
                    let hash = fingerprints.swap_remove(at);
                    prop_assert!(filter.remove_hash(hash));
                    *model.get_mut(&(hash >> (64 - quotient_bits - remainder_bits))).unwrap() -= 1;
                }
            }
            for fingerprint in model.keys().flat_map(|&it| [it, it ^ 1]) {
                let hash = fingerprint << (64 - quotient_bits - remainder_bits);
                let copies = model.get(&fingerprint).copied().unwrap_or(0);
                prop_assert_eq!(filter.count_hash(hash), copies);
                prop_assert_eq!(filter.contains_hash(hash), copies > 0);
            }
            prop_assert_eq!(filter.len(), model.values().sum::<u64>());
            // Equal contents are equal tables, whatever the history: runs are sorted.
            let mut fresh = geometry();
            for &hash in &fingerprints {
                fresh.insert_hash(hash).unwrap();
            }
            prop_assert_eq!(fresh, filter);
            Ok(())
        });
    }
}

/// One item inserted 15 times. What happens then is documented with each type.
#[test]
fn fifteen_inserts_of_one_item() {
    let mut bloom = BloomFilter::with_capacity(1_000, 0.01).unwrap();
    let mut blocked = BlockedBloomFilter::with_capacity(1_000, 0.01).unwrap();
    let mut counting = CountingBloomFilter::with_capacity(1_000, 0.01).unwrap();
    let mut quotient = QuotientFilter::with_capacity(1_000, 0.01).unwrap();
    let mut d_left = DLeftCountingFilter::with_capacity(1_000, 0.01).unwrap();
    for n in 0..15 {
        assert_eq!(bloom.insert("geeky ogre"), n == 0);
        assert_eq!(blocked.insert("geeky ogre"), n == 0);
        assert_eq!(counting.insert("geeky ogre"), n == 0);
        quotient.insert("geeky ogre").unwrap();
        d_left.insert("geeky ogre").unwrap();
    }
    assert_eq!(bloom.ones(), u64::from(bloom.hashes()), "copies change nothing");
    assert_eq!(quotient.count("geeky ogre"), 15);
    assert_eq!(d_left.count("geeky ogre"), 15);
    assert_eq!(d_left.occupied(), 5, "five slots with counters of 2 bits, 3 copies each");
    assert_eq!(counting.count("geeky ogre"), 15, "15 or more");
    for _ in 0..15 {
        assert!(quotient.remove("geeky ogre") && d_left.remove("geeky ogre"));
        assert!(counting.remove("geeky ogre"));
    }
    assert!(!quotient.contains("geeky ogre") && !d_left.contains("geeky ogre"));
    assert!(counting.contains("geeky ogre"), "its counters are stuck");
    assert_eq!(counting.stuck_counters(), u64::from(counting.hashes()));
}

/// A counter that is stuck must not make another key disappear, and fourteen copies are no problem.
#[test]
fn stuck_counters_cost_false_positives_only() {
    let mut filter = CountingBloomFilter::with_geometry(64, 2, KeyHasher::new(0)).unwrap();
    let others = keys(1, 8);
    for _ in 0..20 {
        filter.insert("often");
    }
    for key in &others {
        filter.insert(key);
    }
    for _ in 0..20 {
        assert!(filter.remove("often"));
    }
    assert!(others.iter().all(|key| filter.contains(key)));
    filter.clear();
    for _ in 0..14 {
        filter.insert("less often");
    }
    assert_eq!(filter.stuck_counters(), 0);
    for _ in 0..14 {
        assert!(filter.remove("less often"));
    }
    assert!(!filter.contains("less often"));
}

/// The naive d-left filter's false delete: two keys with one fingerprint, one common bucket. Here
/// keys with one fingerprint share all buckets or none, so a removal never takes another key's.
#[test]
fn d_left_removals_never_take_another_key() {
    // Fingerprints of 4 bits: among 200 keys, very many pairs with equal fingerprints.
    let mut filter = DLeftCountingFilter::with_geometry(20, 4, 2, KeyHasher::new(3)).unwrap();
    let present: Vec<u64> =
        keys(1, 200).into_iter().filter(|key| filter.insert(key).is_ok()).collect();
    assert!(present.len() > 190);
    for (i, key) in present.iter().enumerate() {
        assert!(filter.remove(key));
        assert!(present[i + 1..].iter().all(|key| filter.contains(key)));
    }
    assert!(filter.is_empty() && filter.occupied() == 0);
}

#[test]
fn d_left_refuses_when_all_four_buckets_are_full() {
    let mut filter = DLeftCountingFilter::with_geometry(100, 8, 2, KeyHasher::new(0)).unwrap();
    for _ in 0..48 {
        filter.insert("geeky ogre").unwrap();
    }
    let before = filter.clone();
    let full: Full = filter.insert("geeky ogre").unwrap_err();
    assert_eq!(full.len, 48);
    assert!(full.to_string().contains("too often"), "{full}");
    assert!(filter == before);
    assert!(filter.remove("geeky ogre"));
    filter.insert("geeky ogre").unwrap();
}

#[test]
fn a_refused_batch_names_the_refused() {
    let mut filter = QuotientFilter::with_geometry(6, 8, KeyHasher::new(0)).unwrap();
    let batch = filter.insert_many(&keys(1, 70)).unwrap_err();
    assert_eq!(batch.refused, (63..70).collect::<Vec<_>>());
    assert_eq!(batch.full.len, 63);
    assert!(batch.to_string().starts_with("7 of the batch's keys"), "{batch}");
}

#[test]
fn unions_hold_the_keys_of_both() {
    let mut left = BloomFilter::with_capacity(1_000, 0.01).unwrap();
    let mut right = left.clone();
    left.insert_many(&keys(1, 500)).unwrap();
    right.insert_many(&keys(2, 500)).unwrap();
    assert!(left.union(&right));
    assert!(keys(1, 500).iter().chain(&keys(2, 500)).all(|key| left.contains(key)));
    assert_eq!(left.len(), 1_000);
    assert!(!left.union(&BloomFilter::with_capacity(1_000, 0.02).unwrap()));
}

/// A hash of one's own is as good as the filter's, and the filter's is reachable.
#[test]
fn hash_forms_agree_with_key_forms() {
    let mut filter = BloomFilter::with_capacity_and_hasher(100, 0.01, KeyHasher::new(77)).unwrap();
    filter.insert("cuckoo");
    assert!(filter.contains_hash("cuckoo".hash_with(filter.hasher())));
    assert!(!filter.contains_hash("cuckoo".hash_with(KeyHasher::new(0))));
    assert!(filter.insert_hash(key(5, 5)));
    assert!(filter.contains_hash(key(5, 5)));
}

/// Runs a property 64 times; more would take long with so many filters.
fn run<S: Strategy>(strategy: &S, test: impl Fn(&S::Value) -> Result<(), TestCaseError>)
where
    S::Value: Clone,
{
    let config = ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() };
    TestRunner::new(config).run(strategy, |value| test(&value)).unwrap();
}
