//! XXH3-64 (Collet, xxHash 0.8) with a seed. Integers of 4 to 8 bytes are hashed here, with the
//! terms that depend only on the seed computed once per filter. A crate hashes all other keys.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A seed, and the values that it combines with integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seed {
    pub(super) seed: u64,
    flip: u64,
}

/// Bytes 8 to 15 of the function's secret, with bytes 16 to 23.
const SECRET: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;
const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

impl Seed {
    pub(super) const fn new(seed: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let swapped = (seed as u32).swap_bytes() as u64;
        Self { seed, flip: SECRET.wrapping_sub(seed ^ (swapped << 32)) }
    }

    #[inline(always)]
    pub(super) fn hash_bytes(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.seed)
    }

    /// [`hash_bytes`](Self::hash_bytes) for a length that the compiler knows.
    #[inline(always)]
    pub(super) fn hash_array<const N: usize>(self, bytes: [u8; N]) -> u64 {
        let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) else {
            return self.hash_bytes(&bytes);
        };
        if N > 8 {
            return self.hash_bytes(&bytes);
        }
        let [first, last] = [first, last].map(|half| u64::from(u32::from_le_bytes(*half)));
        let mut hash = (last | first << 32) ^ self.flip;
        hash ^= hash.rotate_left(49) ^ hash.rotate_left(24);
        hash = hash.wrapping_mul(FACTOR);
        hash ^= (hash >> 35).wrapping_add(N as u64);
        hash = hash.wrapping_mul(FACTOR);
        hash ^ hash >> 28
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The crate's hash, which equals the function's.
        #[test]
        fn integers_are_hashed_as_their_bytes(seed: u64, integer: u64) {
            fn agrees<const N: usize>(seed: u64, integer: u64) -> bool {
                let bytes = *integer.to_le_bytes().first_chunk::<N>().unwrap();
                Seed::new(seed).hash_array(bytes) == xxh3_64_with_seed(&bytes, seed)
            }
            prop_assert!(agrees::<1>(seed, integer) && agrees::<2>(seed, integer));
            prop_assert!(agrees::<4>(seed, integer) && agrees::<5>(seed, integer));
            prop_assert!(agrees::<7>(seed, integer) && agrees::<8>(seed, integer));
            let wide = (u128::from(integer) * u128::from(seed)).to_le_bytes();
            prop_assert_eq!(Seed::new(seed).hash_array(wide), xxh3_64_with_seed(&wide, seed));
        }
    }
}
