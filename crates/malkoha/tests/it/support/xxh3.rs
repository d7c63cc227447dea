//! How a stranger who knows the seed of XXH3-64, or only the code, makes keys for any hash.

use malkoha::{Geometry, Key, KeyHasher, Layout};

const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;
const KEY_BYTES: u64 = 8;
/// The multiplier between a hash and its fingerprint.
#[allow(dead_code, reason = "not every test jams")]
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of 8 bytes with this hash: XXH3-64 of 8 bytes is a bijection of 64-bit words.
///
/// Its steps are an exclusive-or with a constant of the seed, which the hash of 0 tells, and a
/// mixing of the bits, which [`unmixed`] takes back.
pub(crate) fn key_of(hash: u64, seed: u64) -> u64 {
    let constant = unmixed(0_u64.hash_with(KeyHasher::new(seed)));
    (unmixed(hash) ^ constant).rotate_left(32)
}

/// Keys that under seed 0 crowd the first eighth of a set of fixed size in buckets, in one segment:
/// both their places are there. They need no more than docs/FORMAT.md to be found.
#[allow(dead_code, reason = "not every test jams")]
pub(crate) fn crowd(geometry: &Geometry) -> impl Iterator<Item = u64> + use<> {
    let (places, fingerprints) = (geometry.places, (1_u64 << geometry.fingerprint_bits) - 1);
    let in_buckets = matches!(geometry.layout, Layout::Bucketed { .. } | Layout::Words);
    assert!(geometry.segments == 1 && in_buckets);
    let scale = |word: u32, to: u64| (u64::from(word) * to) >> 32;
    let is_there = move |&hash: &u64| {
        #[expect(clippy::cast_possible_truncation, reason = "the low halves")]
        let half = |word: u64| word as u32;
        let place = scale(half(hash), places.into());
        let fingerprint = scale(half(hash.wrapping_mul(GOLDEN) >> 32), fingerprints) + 1;
        let sum = scale(half(fingerprint.wrapping_mul(0x9e37_79b1)), places.into());
        let other = (sum + u64::from(places) - place) % u64::from(places);
        place.max(other) < u64::from(places / 8)
    };
    // Any sequence of hashes does.
    (1..).map(|n: u64| n.hash_with(KeyHasher::new(0))).filter(is_there).map(|hash| key_of(hash, 0))
}

/// Keys that under seed 0 belong in one segment of a growable set, however often that splits: the
/// string that says where is the same in its first 40 bits.
#[allow(dead_code, reason = "not every test jams")]
pub(crate) fn in_one_segment(keys: u64) -> Vec<u64> {
    let inverse = inverse_of(GOLDEN);
    (0..keys).map(|n| key_of(inverse.wrapping_mul(0x1234_5678_9a00_0000 | n), 0)).collect()
}

fn unmixed(hash: u64) -> u64 {
    let inverse = inverse_of(MULTIPLIER);
    let mut word = hash ^ hash >> 28 ^ hash >> 56;
    word = word.wrapping_mul(inverse);
    // The sum reaches the lower half alone, so the bits that it was made of are still there.
    word ^= (word >> 35) + KEY_BYTES;
    word = word.wrapping_mul(inverse);
    // As a polynomial over GF(2) modulo x^64 - 1, a power of two of x^0 + x^49 + x^24 is the sum of
    // the powers; the 64th is 1, so the 63rd is the inverse.
    (0..63).fold(word, |word, _| word ^ word.rotate_left(49) ^ word.rotate_left(24))
}

/// Modulo 2^64, by Newton's iteration: each step doubles the bits that are right.
fn inverse_of(odd: u64) -> u64 {
    (0..6).fold(odd, |inverse: u64, _| {
        inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)))
    })
}
