//! The hash functions, and the seed or key of a filter.

use core::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::sip;

/// The hash of a filter: a function from bytes to 64 bits, and its seed or key.
///
/// | function | chosen by | bound for keys that strangers choose |
/// | --- | --- | --- |
/// | XXH3-64, a seed of 64 bits | [`Builder::seed`](crate::Builder::seed); seed 0 is the default | none |
/// | SipHash-1-3, a key of 128 bits | [`Builder::random_seed`](crate::Builder::random_seed), [`Builder::with_hasher`](crate::Builder::with_hasher) | below |
///
/// XXH3-64 is faster, and sufficient if nobody gains by a wrong answer. Against attackers it
/// promises nothing. For keys of 8 bytes it is a bijection, and anybody who knows the seed can
/// invert it. There are also pairs of 32 bytes that collide under one seed in 2^18 or fewer.
///
/// # Guarantees of SipHash-1-3
///
/// For anybody who does not know the key, it is a pseudorandom function: no known feasible
/// algorithm distinguishes it from a function drawn at random from all functions. Let `δ` be the
/// advantage of the best one. Then
///
/// * any two different keys of a filter, chosen by anybody who does not know the 128 bits, agree in
///   any `h` given bits of their hashes with a probability of at most `2^-h + δ`;
/// * filters hold their rate, their load and their bounds on work as they do for random keys, up to
///   `δ`, even if the attacker sees each answer before choosing the next key.
///
/// The first follows from the definition of a pseudorandom function: asking for both hashes and
/// comparing them distinguishes it. The second is the same argument for the filter as a whole,
/// and the construction of Naor and Yogev, "Bloom Filters in Adversarial Environments" (CRYPTO
/// 2015). That `δ` is negligible is a conjecture, as it is for every practical function of this
/// kind. Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT 2012), describe
/// the design. Hash tables use the variant with 1 and 3 rounds, among them those of the standard
/// library. The nearest published attack is a bias of single bits after four rounds, which
/// takes 2^36 pairs to see (He and Yu, "Cryptanalysis of Reduced-Round SipHash", 2019), and gives
/// no collisions.
///
/// The promise ends if the key becomes known. The key is in the filter's file, and
/// [`key`](Self::key) returns it. Anybody who can read the file can choose keys against its filter,
/// as easily as under a seed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KeyHasher(pub(super) Keyed);

/// The halves of a SipHash key are in the order of its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyed {
    Xxh3(Seed),
    Sip13([u64; 2]),
}

/// The hash functions that a filter can have. File headers store the number of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum HashFunction {
    /// XXH3-64, with a seed of 64 bits.
    Xxh3 = 1,
    /// SipHash-1-3, with a key of 128 bits.
    Sip13 = 2,
}

impl HashFunction {
    /// Its usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xxh3 => "XXH3-64",
            Self::Sip13 => "SipHash-1-3",
        }
    }
}

impl Default for KeyHasher {
    /// XXH3-64 with seed 0. Everybody knows it, so equal inputs give equal bytes, and filters that
    /// were built separately can be united.
    fn default() -> Self {
        Self::new(0)
    }
}

impl KeyHasher {
    /// XXH3-64 with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(Keyed::Xxh3(Seed::new(seed)))
    }

    /// SipHash-1-3 with this key, lowest byte first. It protects as long as nobody can guess the
    /// key: take it from a source of randomness.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the halves")]
    pub const fn sip13(key: u128) -> Self {
        Self(Keyed::Sip13([key as u64, (key >> 64) as u64]))
    }

    /// SipHash-1-3 with a key from the operating system's randomness. On
    /// `wasm32-unknown-unknown`, which has no operating system, use [`sip13`](Self::sip13) instead.
    ///
    /// # Panics
    ///
    /// If the system has no randomness, as the standard library's hash maps do.
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    #[must_use]
    pub fn random() -> Self {
        let mut key = [0; 16];
        getrandom::fill(&mut key).expect("the operating system gives randomness");
        Self::sip13(u128::from_le_bytes(key))
    }

    /// The hasher, if its function is XXH3, in a form that the compiler knows to be XXH3.
    #[inline(always)]
    pub(crate) const fn xxh3(self) -> Option<Self> {
        match self.0 {
            Keyed::Xxh3(seed) => Some(Self(Keyed::Xxh3(seed))),
            Keyed::Sip13(_) => None,
        }
    }

    /// The function.
    #[must_use]
    pub const fn function(self) -> HashFunction {
        match self.0 {
            Keyed::Xxh3(_) => HashFunction::Xxh3,
            Keyed::Sip13(_) => HashFunction::Sip13,
        }
    }

    /// The seed of XXH3-64.
    #[must_use]
    pub const fn seed(self) -> Option<u64> {
        match self.0 {
            Keyed::Xxh3(seed) => Some(seed.seed),
            Keyed::Sip13(_) => None,
        }
    }

    /// The key of SipHash-1-3, or the seed of XXH3-64.
    #[must_use]
    pub const fn key(self) -> u128 {
        match self.0 {
            Keyed::Xxh3(seed) => seed.seed as u128,
            Keyed::Sip13([low, high]) => (high as u128) << 64 | low as u128,
        }
    }

    /// The hasher of a function's number and a key, as file headers have them: `None` if there is
    /// no such function, or its seed has fewer bits.
    #[must_use]
    pub const fn from_parts(function: u8, key: u128) -> Option<Self> {
        const XXH3: u8 = HashFunction::Xxh3 as u8;
        const SIP13: u8 = HashFunction::Sip13 as u8;
        match function {
            #[expect(clippy::cast_possible_truncation, reason = "compared")]
            XXH3 if key <= u64::MAX as u128 => Some(Self::new(key as u64)),
            SIP13 => Some(Self::sip13(key)),
            _ => None,
        }
    }

    /// The hash of `bytes`.
    #[inline]
    #[must_use]
    pub fn hash_bytes(self, bytes: &[u8]) -> u64 {
        match self.0 {
            Keyed::Xxh3(seed) => seed.hash_bytes(bytes),
            Keyed::Sip13(key) => sip::hash_bytes(key, bytes),
        }
    }

    /// The hashes of byte strings, equal to those of [`hash_bytes`](Self::hash_bytes). SipHash-1-3
    /// hashes eight at a time, if these have the same number of whole words of eight bytes.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub fn hash_strings<S: AsRef<[u8]>>(self, strings: &[S], hashes: &mut [u64]) {
        assert_eq!(strings.len(), hashes.len(), "one hash for each string");
        match self.0 {
            Keyed::Xxh3(seed) => {
                for (hash, string) in hashes.iter_mut().zip(strings) {
                    *hash = seed.hash_bytes(string.as_ref());
                }
            }
            Keyed::Sip13(key) => sip::hash_strings(key, strings, hashes),
        }
    }

    /// [`hash_bytes`](Self::hash_bytes) for a length that the compiler knows.
    #[inline(always)]
    pub(super) fn hash_array<const N: usize>(self, bytes: [u8; N]) -> u64 {
        match self.0 {
            Keyed::Xxh3(seed) => seed.hash_array(bytes),
            Keyed::Sip13(key) => sip::hash_one(key, &bytes),
        }
    }
}

/// A seed, and the values that it combines with integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Seed {
    seed: u64,
    flip: u64,
}

/// XXH3: bytes 8 to 15 of the function's secret, with bytes 16 to 23.
const SECRET: u64 = 0x1cad_21f7_2c81_017c ^ 0xdb97_9083_e96d_d4de;
const FACTOR: u64 = 0x9fb2_1c65_1e98_df25;

impl Seed {
    const fn new(seed: u64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let swapped = (seed as u32).swap_bytes() as u64;
        Self { seed, flip: SECRET.wrapping_sub(seed ^ (swapped << 32)) }
    }

    #[inline(always)]
    fn hash_bytes(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.seed)
    }

    /// [`hash_bytes`](Self::hash_bytes) for a length that the compiler knows.
    #[inline(always)]
    fn hash_array<const N: usize>(self, bytes: [u8; N]) -> u64 {
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

impl fmt::Debug for KeyHasher {
    /// A key is secret, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Keyed::Xxh3(seed) => f.debug_tuple("Xxh3").field(&seed.seed).finish(),
            Keyed::Sip13(_) => f.debug_struct("Sip13").finish_non_exhaustive(),
        }
    }
}
