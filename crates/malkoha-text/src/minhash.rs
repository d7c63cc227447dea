//! `MinHash` signatures (Broder 1997; Leskovec, Rajaraman and Ullman, "Mining of Massive
//! Datasets", section 3.3).

use malkoha::KeyHasher;

use crate::shingles::mix;

/// Rows of a signature that are computed together, so that their minima stay in registers.
const GROUP: usize = 32;

/// The rows of signatures: each a hash function of 32 bits, of which a set's minimum is taken.
///
/// Two sets agree in a row with the probability of their Jaccard similarity.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// By row: an odd factor, and a mask. Filled up to whole groups.
    factors: Vec<u32>,
    masks: Vec<u32>,
    rows: usize,
}

impl Rows {
    pub(crate) fn new(rows: usize, hasher: KeyHasher) -> Self {
        let all = rows.next_multiple_of(GROUP);
        let start = hasher.hash_bytes(b"malkoha-text rows");
        let number = |row: usize| mix(start.wrapping_add(row as u64));
        #[expect(clippy::cast_possible_truncation, reason = "the halves")]
        let halves = (0..all).map(|row| (number(row) as u32 | 1, (number(row) >> 32) as u32));
        let (factors, masks) = halves.unzip();
        Self { factors, masks, rows }
    }

    /// Replaces `signature` by that of a set of hashes, which has no order; repetitions are
    /// ignored.
    pub(crate) fn sign(&self, hashes: &[u64], signature: &mut Vec<u32>) {
        signature.clear();
        signature.resize(self.factors.len(), u32::MAX);
        minima(&self.factors, &self.masks, hashes, signature);
        signature.truncate(self.rows);
    }
}

/// The minima, by the widest vectors that this processor has.
fn minima(factors: &[u32], masks: &[u32], hashes: &[u64], minima: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512F.
            return unsafe { x86::minima_avx512(factors, masks, hashes, minima) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { x86::minima_avx2(factors, masks, hashes, minima) };
        }
        if is_x86_feature_detected!("sse4.1") {
            // SAFETY: the processor has SSE4.1.
            return unsafe { x86::minima_sse41(factors, masks, hashes, minima) };
        }
    }
    minima_of(factors, masks, hashes, minima);
}

/// One loop, which the compiler makes vector instructions of.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::minima_of;

    #[target_feature(enable = "avx512f")]
    pub(super) fn minima_avx512(factors: &[u32], masks: &[u32], hashes: &[u64], out: &mut [u32]) {
        minima_of(factors, masks, hashes, out);
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn minima_avx2(factors: &[u32], masks: &[u32], hashes: &[u64], out: &mut [u32]) {
        minima_of(factors, masks, hashes, out);
    }

    #[target_feature(enable = "sse4.1")]
    pub(super) fn minima_sse41(factors: &[u32], masks: &[u32], hashes: &[u64], out: &mut [u32]) {
        minima_of(factors, masks, hashes, out);
    }
}

/// For each row the least of `(low ^ mask) * factor + high` over all hashes, whose halves are
/// `low` and `high`.
#[inline(always)]
fn minima_of(factors: &[u32], masks: &[u32], hashes: &[u64], minima: &mut [u32]) {
    let (factors, _) = factors.as_chunks::<GROUP>();
    let (masks, _) = masks.as_chunks::<GROUP>();
    let (groups, _) = minima.as_chunks_mut::<GROUP>();
    for ((factors, masks), minima) in factors.iter().zip(masks).zip(groups) {
        let mut least = *minima;
        for &hash in hashes {
            #[expect(clippy::cast_possible_truncation, reason = "the halves")]
            let (low, high) = (hash as u32, (hash >> 32) as u32);
            for row in 0..GROUP {
                let value = (low ^ masks[row]).wrapping_mul(factors[row]).wrapping_add(high);
                least[row] = least[row].min(value);
            }
        }
        *minima = least;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(rows: usize, hashes: &[u64]) -> Vec<u32> {
        let mut signature = Vec::new();
        Rows::new(rows, KeyHasher::new(1)).sign(hashes, &mut signature);
        signature
    }

    #[test]
    fn all_instruction_sets_agree() {
        let rows = Rows::new(96, KeyHasher::new(3));
        for len in [0, 1, 2, 31, 1000] {
            let hashes: Vec<u64> = (0..len).map(mix).collect();
            let (mut plain, mut fast) = (vec![u32::MAX; 96], Vec::new());
            minima_of(&rows.factors, &rows.masks, &hashes, &mut plain);
            rows.sign(&hashes, &mut fast);
            assert_eq!(plain, fast);
        }
    }

    /// The share of equal rows estimates the similarity without bias: over 400 pairs of sets the
    /// mean error has a standard deviation of sqrt(J (1 - J) / 128 / 400), of which 5 are allowed.
    #[test]
    fn equal_rows_estimate_similarity() {
        for shared in [20_u64, 100, 160, 190] {
            let similarity = shared as f64 / (400 - shared) as f64;
            let mut equal = 0;
            for pair in 0..400_u64 {
                let set = |from: u64| -> Vec<u64> {
                    (from..from + 200).map(|n| mix(pair << 32 | n)).collect()
                };
                let (a, b) = (signature(128, &set(0)), signature(128, &set(200 - shared)));
                equal += a.iter().zip(&b).filter(|(a, b)| a == b).count();
            }
            let found = equal as f64 / (400.0 * 128.0);
            let bound = 5.0 * (similarity * (1.0 - similarity) / (400.0 * 128.0)).sqrt();
            assert!((found - similarity).abs() < bound, "{found} of {similarity}");
        }
    }

    /// Rows are independent enough: the number of equal rows varies as that of coin tosses. Its
    /// variance over 2000 pairs lies within a fifth of the binomial distribution's (its standard
    /// error is a thirtieth).
    #[test]
    fn rows_are_independent() {
        let (mut sum, mut squares, pairs) = (0.0, 0.0, 2000_u64);
        for pair in 0..pairs {
            let set = |from: u64| -> Vec<u64> {
                (from..from + 90).map(|n| mix(pair << 32 | n)).collect()
            };
            let (a, b) = (signature(128, &set(0)), signature(128, &set(10)));
            let equal = a.iter().zip(&b).filter(|(a, b)| a == b).count() as f64;
            sum += equal;
            squares += equal * equal;
        }
        let mean = sum / pairs as f64;
        let variance = squares / pairs as f64 - mean * mean;
        let similarity: f64 = 80.0 / 100.0;
        let binomial = 128.0 * similarity * (1.0 - similarity);
        assert!((0.8..1.2).contains(&(variance / binomial)), "{variance} against {binomial}");
    }
}
