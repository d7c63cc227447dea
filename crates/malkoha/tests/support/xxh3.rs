//! What a stranger does who knows the seed of XXH3-64, or only the code: keys for any hash.

use malkoha::{Key, KeyHasher};

const MULTIPLIER: u64 = 0x9fb2_1c65_1e98_df25;
const KEY_BYTES: u64 = 8;

/// The key of 8 bytes with this hash: XXH3-64 of 8 bytes is a bijection of 64-bit words.
///
/// Its steps are an exclusive-or with a constant of the seed, which the hash of 0 tells, and a
/// mixing of the bits, which [`unmixed`] takes back.
pub fn key_of(hash: u64, seed: u64) -> u64 {
    let constant = unmixed(0_u64.hash_with(KeyHasher::new(seed)));
    (unmixed(hash) ^ constant).rotate_left(32)
}

/// Keys whose hashes under seed 0 are `fixed` but for the lowest `free` bits of the high half and
/// of the low half, and so for bits that choose nothing but the fingerprint: they all belong in the
/// same few places of any table.
#[allow(dead_code, reason = "not every test jams")]
pub fn crowd(fixed: u64, free: u32, keys: u64) -> Vec<u64> {
    let mask = (1_u64 << free) - 1;
    let spread = |n: u64| (n & mask) << 32 | n >> free & mask;
    let free = mask << 32 | mask;
    (0..keys).map(|n| key_of(fixed & !free | spread(n), 0)).collect()
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
