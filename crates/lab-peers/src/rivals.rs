//! Filters of other crates, each at the setting that suits it best and with a fast hasher.

use std::hash::BuildHasher;

use anyhow::{Result, anyhow};
use foldhash::fast::FixedState;
use growable_bloom_filter::GrowableBloom;
use lab::subject::Contender;
use rustc_hash::FxHasher;
use scalable_cuckoo_filter::{DefaultRng, ScalableCuckooFilter, ScalableCuckooFilterBuilder};

use crate::counted::contender;

/// The false-positive rate of the paper's filter, that the speeds are measured at. A little more
/// than 0.19 %, so that those who round to whole bits upwards take as many as the others.
pub(crate) const FPR: f64 = 0.002;

pub(crate) type Cuckoo = cuckoofilter::CuckooFilter<FxHasher>;
pub(crate) type Atomic = atomic_cuckoo_filter::CuckooFilter<FxHasher>;
type Scalable = ScalableCuckooFilter<u64, FxHasher, DefaultRng>;

/// All of them, made for a number of keys and asked for this rate where they can be asked.
pub(crate) fn fixed(fpr: f64) -> Vec<Contender> {
    let mut all = vec![
        contender(
            "cuckoofilter",
            |n| Ok(Cuckoo::with_capacity(n)),
            |it, key| it.add(&key).is_ok(),
            |it, key| it.contains(&key),
            Some(|it: &mut Cuckoo, key| it.delete(&key)),
        ),
        contender(
            "atomic-cuckoo",
            move |n| atomic(n, fpr),
            |it, key| it.insert(&key).is_ok(),
            |it, key| it.contains(&key),
            Some(|it: &mut Atomic, key| it.remove(&key)),
        ),
        contender(
            "fastbloom",
            move |n| {
                let builder = fastbloom::BloomFilter::with_false_pos(fpr);
                Ok(builder.hasher(FixedState::default()).expected_items(n))
            },
            |it, key| {
                it.insert(&key);
                true
            },
            |it, key| it.contains(&key),
            None,
        ),
        contender(
            "sbbf-blocked-bloom",
            move |n| Ok(blocked_bloom(n, fpr)),
            |it, key| {
                it.insert_hash(FixedState::default().hash_one(key));
                true
            },
            |it, key| it.contains_hash(FixedState::default().hash_one(key)),
            None,
        ),
        quotient(move |n| qfilter::Filter::new(n, fpr)),
    ];
    all.extend(both(fpr));
    all
}

/// Those that grow. The quotient filter must know its greatest size.
pub(crate) fn growing(fpr: f64, most: u64) -> Vec<Contender> {
    let mut all = vec![quotient(move |n| qfilter::Filter::new_resizeable(n, most, fpr))];
    all.extend(both(fpr));
    all
}

/// Those that grow, whether they need to or not.
fn both(fpr: f64) -> [Contender; 2] {
    [
        contender(
            "scalable-cuckoo",
            move |n| -> Result<Scalable> {
                let builder = ScalableCuckooFilterBuilder::new().initial_capacity(n);
                let builder = builder.false_positive_probability(fpr);
                Ok(builder.hasher(FxHasher::default()).finish())
            },
            |it, key| {
                it.insert(&key);
                true
            },
            |it, key| it.contains(&key),
            // Its `remove` asserts in debug builds, and miscounts, where a fingerprint is 0.
            None,
        ),
        contender(
            "growable-bloom",
            move |n| Ok(GrowableBloom::new(fpr, n)),
            // It returns `false` for a key that it takes for known already, which is no refusal.
            |it, key| {
                it.insert(key);
                true
            },
            |it, key| it.contains(key),
            None,
        ),
    ]
}

fn quotient(make: impl Fn(u64) -> Result<qfilter::Filter, qfilter::Error> + 'static) -> Contender {
    contender(
        "qfilter",
        move |n| make(n as u64).map_err(|error| anyhow!("{error:?}")),
        // Not its `insert`, which drops a key that it takes for known: a removal loses another.
        |it, key| it.insert_duplicated(key).is_ok(),
        |it, key| it.contains(key),
        Some(|it: &mut qfilter::Filter, key| it.remove(key)),
    )
}

/// It has fingerprints of 8, 16 and 32 bits and nothing between.
pub(crate) fn atomic(keys: usize, fpr: f64) -> Result<Atomic> {
    let builder = atomic_cuckoo_filter::CuckooFilterBuilder::<FxHasher>::default();
    // Paper, eq. 6, at the load that such a table is filled to.
    let reaches = |bits: &usize| 8.0 * 0.95 / f64::from(1 << bits) <= fpr;
    let bits = [8, 16].into_iter().find(reaches).unwrap_or(32);
    builder.capacity(keys).fingerprint_size(bits).build().map_err(|error| anyhow!("{error}"))
}

/// Takes whole bits per key and no rate. These bits were measured to reach the rates next to them;
/// for the rate that speeds are measured at, as many bits as our 12-bit fingerprints take.
fn blocked_bloom(keys: usize, fpr: f64) -> sbbf_rs_safe::Filter {
    let known = [(0.03, 9), (0.01, 11), (FPR, 13), (0.001, 17)];
    let bits = known.iter().find(|(rate, _)| *rate <= fpr).map_or(27, |(_, bits)| *bits);
    sbbf_rs_safe::Filter::new(bits, keys)
}
