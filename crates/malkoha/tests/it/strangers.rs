//! Keys that a stranger chooses, who knows the code: what they do under XXH3-64, whose seed can be
//! known or does not matter, and that they are like any others under a key that is not known.

use std::fmt::Debug;

use crate::support::xxh3::{crowd, in_one_segment, key_of};
use malkoha::{
    Builder, CuckooFilter, GrowableConcurrentCuckooFilter, GrowableCuckooFilter, Key, KeyHasher,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn every_hash_of_xxh3_has_a_key(hash: u64, seed: u64) {
        prop_assert_eq!(key_of(hash, seed).hash_with(KeyHasher::new(seed)), hash);
    }
}

/// The key of 8 bytes that XXH3-64 with seed 0 cannot tell from an item.
fn twin(item: &str) -> u64 {
    key_of(item.hash_with(KeyHasher::new(0)), 0)
}

#[test]
fn a_twin_stands_for_its_victim_unless_there_is_a_key() {
    let builder = || CuckooFilter::builder().capacity(100).fpr(1e-8);
    let mut known = builder().build().unwrap();
    let victim = "the victim of an attack";
    known.insert(twin(victim)).unwrap();
    assert!(known.contains(victim), "never inserted");
    known.insert(victim).unwrap();
    assert!(known.remove(twin(victim)) && known.remove(twin(victim)));
    assert!(!known.contains(victim), "inserted, and never removed");

    let mut keyed = builder().random_seed().build().unwrap();
    keyed.insert(twin(victim)).unwrap();
    assert!(!keyed.contains(victim));
    keyed.insert(victim).unwrap();
    assert!(keyed.remove(twin(victim)) && !keyed.remove(twin(victim)));
    assert!(keyed.contains(victim));
}

/// Two strings of 32 bytes that XXH3-64 cannot tell apart under one seed in 2^18, whatever it is.
///
/// Of the second 16 bytes XXH3-64 multiplies two words: the first one exclusive-or *t*, and the
/// second one exclusive-or the complement of *t* - C, where *t* depends on the seed and C does not.
/// Where *t* exclusive-or *t* - C is `DIFFERENCE`, its most frequent value, both strings give the
/// same two factors, in another order.
fn unlucky_pair() -> [[u8; 32]; 2] {
    const DIFFERENCE: u64 = 0x0501_4444_9212_1551;
    let mut other = [0; 32];
    other[16..24].copy_from_slice(&(!DIFFERENCE).to_le_bytes());
    other[24..].copy_from_slice(&(!DIFFERENCE).to_le_bytes());
    [[0; 32], other]
}

/// How many of `trials` hashers give two keys the same bits: the highest 16, 32, all, and of the
/// eight bytes the one where most do.
#[derive(Debug)]
struct Agreement {
    trials: u32,
    bits_8: u32,
    bits_16: u32,
    bits_32: u32,
    bits_64: u32,
}

impl Agreement {
    fn of(keys: &[impl Key; 2], trials: u32, mut hasher: impl FnMut() -> KeyHasher) -> Self {
        let mut bytes = [0_u32; 8];
        let (mut bits_16, mut bits_32, mut bits_64) = (0, 0, 0);
        for _ in 0..trials {
            let hasher = hasher();
            let differing = keys[0].hash_with(hasher) ^ keys[1].hash_with(hasher);
            for (count, byte) in bytes.iter_mut().zip(differing.to_le_bytes()) {
                *count += u32::from(byte == 0);
            }
            bits_16 += u32::from(differing >> 48 == 0);
            bits_32 += u32::from(differing >> 32 == 0);
            bits_64 += u32::from(differing == 0);
        }
        let bits_8 = bytes.into_iter().max().unwrap_or(0);
        Self { trials, bits_8, bits_16, bits_32, bits_64 }
    }

    /// Whether h bits agree with a probability of 2^-h. With 2^20 trials, a function that keeps to
    /// it fails once in 10^12 runs, by Chernoff's bound: a byte agrees 4096 times, with a standard
    /// deviation of 64; 16 bits 16 times, 32 bits 2^-12 times, all 2^-44.
    fn keeps_the_bound(&self) -> bool {
        assert_eq!(self.trials, 1 << 20);
        self.bits_8 <= 4096 + 9 * 64 && self.bits_16 <= 60 && self.bits_32 <= 3 && self.bits_64 == 0
    }
}

const TRIALS: u32 = 1 << 20;

/// Fast enough for a key in each trial; what it draws depends on the system's randomness alone.
fn random_keys() -> impl FnMut() -> KeyHasher {
    let (source, mut drawn) = (KeyHasher::random(), 0_u64);
    move || {
        drawn += 2;
        let half = |n: u64| u128::from(n.hash_with(source));
        KeyHasher::sip13(half(drawn) << 64 | half(drawn + 1))
    }
}

fn random_seeds() -> impl FnMut() -> KeyHasher {
    let mut keys = random_keys();
    move || KeyHasher::new(0_u64.hash_with(keys()))
}

/// Pairs that were chosen without the key, and with XXH3-64 or SipHash at hand.
#[test]
fn pairs_agree_in_h_bits_with_a_probability_of_2_to_the_minus_h() {
    fn check(name: &str, keys: &[impl Key + Debug; 2]) {
        let agreement = Agreement::of(keys, TRIALS, random_keys());
        assert!(agreement.keeps_the_bound(), "{name}: {keys:?}: {agreement:?}");
    }
    check("unlucky under XXH3-64", &unlucky_pair());
    let victim = "the victim of an attack".as_bytes();
    check("twins under XXH3-64", &[victim, &twin("the victim of an attack").to_le_bytes()]);
    check("lowest bit", &[0_u64, 1]);
    check("highest bit", &[0_u64, 1 << 63]);
    check("halves swapped", &[1_u64, 1 << 32]);
    check("one zero more", &[&[0_u8; 8][..], &[0; 9]]);
    check("nothing and a zero", &[&b""[..], b"\0"]);
    // The length of a string counts modulo 256 in SipHash.
    check("256 zeros more", &[&[0_u8; 8][..], &[0; 264]]);
    check("first of many words", &[[0_u64; 16], core::array::from_fn(|n| u64::from(n == 0))]);
}

/// That the count above would see a broken bound: it does so with XXH3-64.
#[test]
fn the_bound_is_seen_to_be_broken_by_xxh3() {
    // Four hits are expected in 2^20 trials, so none in four runs happens once in 8 million times.
    let mut runs = (0..4).map(|_| Agreement::of(&unlucky_pair(), TRIALS, random_seeds()));
    assert!(runs.any(|agreement| !agreement.keeps_the_bound()), "none of 2^22 seeds");
    let victim = "the victim of an attack".as_bytes();
    let twins = [victim, &twin("the victim of an attack").to_le_bytes()];
    let agreement = Agreement::of(&twins, TRIALS, || KeyHasher::new(0));
    assert!(!agreement.keeps_the_bound());
    // And by keys of only 8 bits: two of 256 are the same.
    let mut known = (0..=255).cycle().map(KeyHasher::sip13);
    let unlucky = (0_u64..).find(|&key| {
        let mut hashers = (0..=255).map(KeyHasher::sip13);
        hashers.any(|hasher| (key.hash_with(hasher) ^ (!key).hash_with(hasher)) >> 48 == 0)
    });
    let pair = [unlucky.unwrap(), !unlucky.unwrap()];
    assert!(!Agreement::of(&pair, TRIALS, || known.next().unwrap()).keeps_the_bound());
}

/// Keys that crowd an eighth of a table, and the like under a key that is not known.
#[test]
fn a_crowd_is_no_crowd_under_a_key() {
    let builder = || CuckooFilter::builder().capacity(10_000).fpr(0.001).bucket_size(4);
    let mut known = builder().build().unwrap();
    let mut crowd: Vec<u64> = crowd(known.geometry()).take(110_000).collect();
    let others = crowd.split_off(10_000);
    let inserted = crowd.iter().take_while(|&key| known.insert(key).is_ok()).count();
    assert!(inserted < 1_500, "{inserted} of 10,000");

    let mut keyed = builder().random_seed().build().unwrap();
    keyed.insert_many(&crowd).unwrap();
    holds(&crowd, &others, |keys| keyed.contains_many(keys));
    let shared: GrowableConcurrentCuckooFilter =
        Builder::new().capacity(1_000).fpr(0.001).random_seed().build().unwrap();
    shared.insert_many(&crowd).unwrap();
    holds(&crowd, &others, |keys| shared.contains_many(keys));
}

#[test]
fn a_crowd_in_one_segment_is_none_under_a_key() {
    let mut keys = in_one_segment(110_000);
    let others = keys.split_off(10_000);
    let mut grown = GrowableCuckooFilter::builder().fpr(0.001).random_seed().build().unwrap();
    grown.insert_many(&keys).unwrap();
    holds(&keys, &others, |keys| grown.contains_many(keys));
}

/// All keys are in, and of others no more than the rate says: of 100,000 at most 100 on average, so
/// more than 200 once in 10^16 runs.
fn holds(keys: &[u64], others: &[u64], contains: impl Fn(&[u64]) -> Vec<bool>) {
    assert!(contains(keys).into_iter().all(|found| found));
    let wrong = contains(others).into_iter().filter(|&found| found).count();
    assert!(wrong <= 200, "{wrong} of {}", others.len());
}
