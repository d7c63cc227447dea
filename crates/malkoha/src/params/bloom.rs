//! Bloom filters (thesis, section 1.1).

use core::f64::consts::LN_2;

use super::math;

/// The false-positive rate of a Bloom filter of `bits` bits that holds `keys` keys, with `hashes`
/// hash functions: (1 - (1 - 1/m)^(kn))^k (thesis, eq. 1.5).
#[must_use]
pub fn bloom_fpr(bits: u64, keys: u64, hashes: u32) -> f64 {
    let (m, n, k) = (super::cuckoo::float(bits), super::cuckoo::float(keys), f64::from(hashes));
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
    super::information_bound(fpr) / LN_2
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
}
