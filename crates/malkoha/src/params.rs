//! The arithmetic of sizing: the memory for a number of keys at a false-positive rate.
//!
//! Every function is pure and names the equation it implements. "Paper" is Fan, Andersen,
//! Kaminsky and Mitzenmacher, *Cuckoo Filter: Practically Better Than Bloom* (CoNEXT 2014);
//! "thesis" is the chapter on Bloom and cuckoo filters whose equations are numbered 1.1 to 1.24.
//!
//! ```
//! use malkoha::params;
//!
//! // Bits per key of each structure, if one absent key in a thousand can be reported as present:
//! let fpr = 0.001;
//! assert!((params::information_bound(fpr) - 9.97).abs() < 0.01);
//! assert!((params::bloom_bits_per_key(fpr) - 14.38).abs() < 0.01);
//! assert!((params::cuckoo_bits_bound(fpr, 4, 0.95) - 13.65).abs() < 0.01);
//! ```

use core::f64::consts::LN_2;

// The functions of `f64` that `core` does not have: those of `std`, or of `libm` without it.
#[cfg(feature = "std")]
pub(crate) use core::primitive::f64 as math;
#[cfg(not(feature = "std"))]
pub(crate) mod math {
    pub(crate) use libm::{ceil, exp, exp2, floor, log2, log10};
    pub(crate) use libm::{expm1 as exp_m1, log as ln, log1p as ln_1p, pow as powf};
}

/// The fewest bits per key any filter with this false-positive rate can use: log2(1/fpr) (thesis,
/// eq. 1.17).
#[must_use]
pub fn information_bound(fpr: f64) -> f64 {
    -math::log2(fpr)
}

/// The false-positive rate of a Bloom filter of `bits` bits that holds `keys` keys, with `hashes`
/// hash functions: (1 - (1 - 1/m)^(kn))^k (thesis, eq. 1.5).
#[must_use]
pub fn bloom_fpr(bits: u64, keys: u64, hashes: u32) -> f64 {
    let (m, n, k) = (float(bits), float(keys), f64::from(hashes));
    // ln(1 - 1/m) by ln_1p: 1 - 1/m is rounded to 1 for very large m.
    let still_zero = math::exp(k * n * math::ln_1p(-1.0 / m));
    math::powf(1.0 - still_zero, k)
}

/// The number of hash functions that minimises the false-positive rate at this many bits per key: k
/// = ln 2 * m/n (thesis, eq. 1.11). Round it to a whole number to use it.
#[must_use]
pub fn bloom_optimal_hashes(bits_per_key: f64) -> f64 {
    LN_2 * bits_per_key
}

/// Bits per key of a Bloom filter with the best number of hash functions: log2(1/fpr) / ln 2, which
/// is 1.44 times the information bound (thesis, eq. 1.18).
#[must_use]
pub fn bloom_bits_per_key(fpr: f64) -> f64 {
    information_bound(fpr) / LN_2
}

/// A count as a float. Exact up to 2^53; beyond that, relative error 2^-53, far below the
/// precision of the formulas.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) const fn float(count: u64) -> f64 {
    count as f64
}

/// Bits per key of a table of `slot_bits`-bit slots at this load factor: C = f / load (paper, eq.
/// 4).
#[must_use]
pub fn cuckoo_bits_per_key(slot_bits: f64, load: f64) -> f64 {
    slot_bits / load
}

/// The false-positive rate of a lookup that compares `probed_slots` slots, each occupied with
/// probability `load`, with a fingerprint of `fingerprint_bits` bits:
/// 1 - (1 - 2^-f)^(probed * load) (paper, eq. 5).
///
/// The paper's 2^f values are 2^f - 1 here, because the fingerprint 0 marks an empty slot; that is
/// 7 % more at 4 bits and negligible at 12.
#[must_use]
pub fn cuckoo_fpr(fingerprint_bits: u32, probed_slots: u32, load: f64) -> f64 {
    let values = math::exp2(fingerprint_bits.into()) - 1.0;
    -math::exp_m1(f64::from(probed_slots) * load * math::ln_1p(-1.0 / values))
}

/// The least fingerprint size for a false-positive rate with buckets of `bucket_size` slots, all
/// of them taken as full: f >= log2(1/fpr) + log2(2b) (paper, eq. 6).
#[must_use]
pub fn cuckoo_fingerprint_bits(fpr: f64, bucket_size: u32) -> f64 {
    information_bound(fpr) + math::log2(2.0 * f64::from(bucket_size))
}

/// Upper bound on the bits per key of a cuckoo filter: (log2(1/fpr) + log2(2b)) / load (paper, eq.
/// 7).
#[must_use]
pub fn cuckoo_bits_bound(fpr: f64, bucket_size: u32, load: f64) -> f64 {
    cuckoo_fingerprint_bits(fpr, bucket_size) / load
}

/// Bits per key of a cuckoo filter with semi-sorted buckets of four: (log2(1/fpr) + 2) / load
/// (paper, section 5.2 and table 2).
#[must_use]
pub fn semi_sorted_bits_bound(fpr: f64, load: f64) -> f64 {
    (information_bound(fpr) + 2.0) / load
}

/// How full a table of buckets of `bucket_size` slots can get before inserts start to fail, with
/// long enough fingerprints: 50, 84, 95 and 98 % for 1, 2, 4 and 8 slots (paper, section 5.1).
/// For other sizes, the value of the next smaller of these.
#[must_use]
pub const fn cuckoo_load_threshold(bucket_size: u32) -> f64 {
    match bucket_size {
        0 | 1 => 0.50,
        2 | 3 => 0.84,
        4..=7 => 0.95,
        _ => 0.98,
    }
}

/// The expected number of groups of 2b + 1 keys that share both buckets and the fingerprint, so
/// that one of them has no place:
/// C(n, 2b+1) * (2 / (2^f * m))^(2b) for n keys in m buckets of b slots (paper, eq. 3).
///
/// A lower bound on the expected number of failures. Well below 1, such failures are rare.
#[must_use]
pub fn expected_overfull_groups(
    keys: u64,
    buckets: u64,
    bucket_size: u32,
    fingerprint_bits: u32,
) -> f64 {
    let others = 2 * u64::from(bucket_size);
    if keys <= others {
        return 0.0;
    }
    let binomial: f64 = (0..=others).map(|i| math::ln(float(keys - i) / float(i + 1))).sum();
    let same_places = math::ln(2.0 / (math::exp2(fingerprint_bits.into()) * float(buckets)));
    math::exp(binomial + float(others) * same_places)
}

/// The least fingerprint size at which a table for `keys` keys, filled to `load`, is expected to
/// hold fewer than `tolerance` groups that cannot be placed (paper, eq. 3; it grows as
/// log(n) / b). `None` where 32 bits are not enough.
#[must_use]
pub fn min_fingerprint_bits(keys: u64, bucket_size: u32, load: f64, tolerance: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive number of buckets, at most 2^64"
    )]
    let buckets = math::ceil(float(keys) / load / f64::from(bucket_size)) as u64;
    (1..=32)
        .find(|&bits| expected_overfull_groups(keys, buckets.max(1), bucket_size, bits) < tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thesis works the example: 9.6 bits at 1 %, 4.8 bits more for each factor of ten.
    #[test]
    fn the_thesis_example() {
        assert!((bloom_bits_per_key(0.01) - 9.585).abs() < 0.001);
        let step = bloom_bits_per_key(0.001) - bloom_bits_per_key(0.01);
        assert!((step - 4.793).abs() < 0.001);
    }

    /// Paper, section 7: 13 bits per item are best used with nine hash functions, at 0.19 %.
    #[test]
    fn the_papers_bloom_filter() {
        assert!((bloom_optimal_hashes(13.0) - 9.0).abs() < 0.05);
        let fpr = bloom_fpr(13_000_000, 1_000_000, 9);
        assert!((fpr - 0.0019).abs() < 0.0001, "{fpr}");
    }

    #[test]
    fn a_filter_at_its_optimum_meets_the_rate_it_was_sized_for() {
        for fpr in [0.1, 0.01, 0.001, 0.0001] {
            let bits_per_key = bloom_bits_per_key(fpr);
            let keys = 1_000_000;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
            let (bits, hashes) =
                ((bits_per_key * 1e6) as u64, bloom_optimal_hashes(bits_per_key).round() as u32);
            let measured = bloom_fpr(bits, keys, hashes);
            assert!((measured / fpr - 1.0).abs() < 0.05, "{fpr}: {measured}");
        }
    }

    /// Paper, table 3: 12-bit fingerprints at 95 % of 2^27 slots: 12.6 bits per item, 0.19 %.
    #[test]
    fn the_papers_own_filter() {
        assert!((cuckoo_bits_per_key(12.0, 0.952) - 12.60).abs() < 0.01);
        assert!((cuckoo_fpr(12, 8, 0.952) - 0.00186).abs() < 0.00001);
    }

    /// Paper, section 1 and figure 4: below 3 % a (semi-sorted) cuckoo filter beats Bloom. By the
    /// formulas of table 2 the curves cross at 2.6 %.
    #[test]
    fn the_crossing_with_bloom_is_near_three_percent() {
        let bloom = bloom_bits_per_key;
        assert!(semi_sorted_bits_bound(0.025, 0.955) < bloom(0.025));
        assert!(semi_sorted_bits_bound(0.03, 0.955) > bloom(0.03));
    }

    /// Paper, section 4: six bits are enough for four billion keys in buckets of four.
    #[test]
    fn six_bits_are_enough_for_four_billion_keys() {
        assert!(min_fingerprint_bits(4_000_000_000, 4, 0.95, 1.0).unwrap() <= 6);
        let of_one = min_fingerprint_bits(4_000_000_000, 1, 0.5, 1.0).unwrap();
        assert!(of_one > 12, "buckets of one need long fingerprints: {of_one}");
    }

    #[test]
    fn a_group_needs_its_number_of_keys() {
        assert_eq!(expected_overfull_groups(8, 1, 4, 4), 0.0);
        assert!(expected_overfull_groups(9, 1, 4, 4) > 0.0);
        assert_eq!(expected_overfull_groups(u64::from(u32::MAX), 1, u32::MAX, 4), 0.0);
    }
}
