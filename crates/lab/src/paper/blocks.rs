//! How a blocked Bloom filter's false-positive rate depends on where a key's bits lie in its block:
//! nine bits per key in blocks of 64 bytes, 13 bits per item, as in the paper's table 3.

use malkoha_classic::blocked_bloom_fpr;

use super::values::Value;
use super::{Scale, median_of_runs};
use crate::keys::{Keys, scale as scaled};

const BLOCK_BITS: u64 = 512;
const HASHES: usize = 9;
const BITS_AN_ITEM: f64 = 13.0;
const BLOCKS: u64 = 1 << 14;
/// Absent keys looked up: at 0.3 % a standard deviation is 0.9 % of the rate.
const QUERIES: u64 = 1 << 22;
/// The paper's table 3.
const PAPER: f64 = 0.43;

/// Hashes of a key, and which of its bits, to a position in the block.
type Position = fn(&[u64; HASHES], usize) -> u64;

/// Ways to choose a key's bits. Each hash has 64 bits; the block comes from the last one.
const WAYS: [(&str, Position); 4] = [
    ("independent bits", |hashes, i| hashes[i] % BLOCK_BITS),
    ("double hashing, h2 odd", |hashes, i| double(hashes[0], hashes[1] | 1, i)),
    ("double hashing", |hashes, i| double(hashes[0], hashes[1], i)),
    // The block's index determines where the bits of its keys begin.
    ("double hashing, block from h1", |hashes, i| double(block(hashes), hashes[1], i)),
];

/// The rates that were measured, beside the theory of independent bits and the paper's.
pub(super) fn rates(scale: &Scale) -> Vec<Value> {
    let runs = (1..=u64::from(scale.runs)).map(|seed| {
        let cell = |&(name, way)| Value::cell("fpr, %", name, rate(way, seed) * 100.0, Some(PAPER));
        WAYS.iter().map(cell).collect()
    });
    let mut values = median_of_runs(runs.collect());
    let keys_per_block = BLOCK_BITS as f64 / BITS_AN_ITEM;
    let theory = blocked_bloom_fpr(keys_per_block, 9) * 100.0;
    values.push(Value::cell("by theory, %", WAYS[0].0, theory, None));
    values
}

fn double(first: u64, second: u64, i: usize) -> u64 {
    first.wrapping_add(second.wrapping_mul(i as u64)) % BLOCK_BITS
}

fn block(hashes: &[u64; HASHES]) -> u64 {
    scaled(hashes[HASHES - 1], BLOCKS)
}

fn index(small: u64) -> usize {
    usize::try_from(small).unwrap_or(0)
}

fn rate(position: Position, seed: u64) -> f64 {
    let mut bits = vec![0_u64; index(BLOCKS * BLOCK_BITS / 64)];
    let keys = Keys::new(seed);
    let places = |key: u64| {
        let hashes = std::array::from_fn(|which| Keys::new(key).key(which as u64));
        let start = block(&hashes) * BLOCK_BITS;
        (0..HASHES).map(move |i| start + position(&hashes, i)).map(|at| (index(at / 64), at % 64))
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let items = ((BLOCKS * BLOCK_BITS) as f64 / BITS_AN_ITEM) as u64;
    for item in 0..items {
        places(keys.key(item)).for_each(|(word, bit)| bits[word] |= 1 << bit);
    }
    let is_in = |key| places(key).all(|(word, bit)| bits[word] >> bit & 1 != 0);
    let found = (0..QUERIES).filter(|query| is_in(keys.key(1 << 40 | query))).count();
    found as f64 / QUERIES as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A standard deviation of the rate is 0.9 %, and of the ratio to theory too.
    #[test]
    fn independent_bits_reach_the_rate_of_theory_and_double_hashing_does_not() {
        let rates: Vec<f64> = WAYS.iter().map(|&(_, way)| rate(way, 1)).collect();
        let ratio = rates[0] / blocked_bloom_fpr(BLOCK_BITS as f64 / BITS_AN_ITEM, 9);
        assert!((0.95..1.05).contains(&ratio), "{ratio}");
        assert!(rates.is_sorted(), "{rates:?}");
    }
}
