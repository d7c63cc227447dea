//! How large filters must be for a number of keys and a false-positive rate.

use malkoha::MAX_CAPACITY;
use malkoha::params::{bloom_bits_per_key, bloom_fpr, bloom_optimal_hashes};

use crate::error::BuildError;
use crate::words::{ceil, float};

/// The most hash functions: they serve a false-positive rate of 2^-64.
const MAX_HASHES: u32 = 64;
/// The most bits or counters.
pub(crate) const MAX_POSITIONS: u64 = 1 << 43;

/// The least number of bits (or counters), and the number of hash functions, with which `capacity`
/// keys stay at or below `fpr`.
pub(crate) fn positions_for(
    structure: &'static str,
    capacity: u64,
    fpr: f64,
) -> Result<(u64, u32), BuildError> {
    check_target(capacity, fpr)?;
    let per_key = bloom_bits_per_key(fpr);
    // The best k is seldom a whole number: of its two neighbours, take the one with fewer bits.
    let best = bloom_optimal_hashes(per_key);
    let too_small = BuildError::FprTooSmall { structure, capacity, asked: fpr };
    [best.floor(), best.ceil()]
        .into_iter()
        .filter_map(|hashes| u32::try_from(ceil(hashes.max(1.0))).ok())
        .filter(|&hashes| hashes <= MAX_HASHES)
        .filter_map(|hashes| Some((least_bits(capacity, fpr, hashes)?, hashes)))
        .min()
        .ok_or(too_small)
}

/// Refuses capacities and rates out of range. Written so that a NaN is refused too.
pub(crate) fn check_target(capacity: u64, fpr: f64) -> Result<(), BuildError> {
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(BuildError::Capacity(capacity));
    }
    if fpr > 0.0 && fpr < 1.0 { Ok(()) } else { Err(BuildError::Fpr(fpr)) }
}

pub(crate) fn check_hashes(hashes: u32) -> Result<(), BuildError> {
    BuildError::check_range("number of hash functions", hashes.into(), 1..=MAX_HASHES.into())
}

/// The number of keys for which k is the best: n = ln 2 * m / k (thesis, eq. 1.11).
pub(crate) fn best_capacity(positions: u64, hashes: u32) -> u64 {
    ceil(std::f64::consts::LN_2 * float(positions) / f64::from(hashes))
}

/// The least m with (1 - (1 - 1/m)^(kn))^k <= fpr, found by bisection.
fn least_bits(capacity: u64, fpr: f64, hashes: u32) -> Option<u64> {
    let enough = |bits| bloom_fpr(bits, capacity, hashes) <= fpr;
    let (mut low, mut high) = (1, MAX_POSITIONS);
    if !enough(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}
