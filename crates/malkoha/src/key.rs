//! From a key to a 64-bit hash that is the same on every machine and in every release.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Something that can be hashed stably, that is, by its bytes alone.
///
/// `std::hash::Hash` is not enough for data that is written to files: it promises no fixed byte
/// order and no stability between releases. A `Key` does:
///
/// * byte strings and text are hashed as their bytes, so `"abc"`, `b"abc"` and
///   `String::from("abc")` are one and the same key;
/// * integers are hashed as their little-endian bytes at their own width, so `5u32` and `5u64` are
///   two different keys.
///
/// Implement it for your own types by handing canonical bytes to [`KeyHasher::hash_bytes`]:
///
/// ```
/// use malkoha::{CuckooFilter, Key, KeyHasher};
///
/// struct Address([u8; 4], u16);
///
/// impl Key for Address {
///     fn hash_with(&self, hasher: KeyHasher) -> u64 {
///         let [a, b, c, d] = self.0;
///         let [low, high] = self.1.to_le_bytes();
///         hasher.hash_bytes(&[a, b, c, d, low, high])
///     }
/// }
///
/// let mut seen = CuckooFilter::with_capacity(1_000, 0.001)?;
/// seen.insert(&Address([127, 0, 0, 1], 80))?;
/// assert!(seen.contains(&Address([127, 0, 0, 1], 80)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Key {
    /// The 64-bit hash of this key under `hasher`'s seed. All 64 bits must be well mixed.
    fn hash_with(&self, hasher: KeyHasher) -> u64;
}

/// The keyed hash of a filter: XXH3-64 over bytes, with the filter's seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHasher {
    seed: u64,
}

impl KeyHasher {
    /// The hash's number in file headers. Another hash function would get another number.
    pub const ID: u8 = 1;

    /// A hasher with this seed. Two filters agree on a key's hash when their seeds agree.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// A hasher with a seed that an attacker cannot know, from the operating system's randomness.
    #[must_use]
    pub fn random() -> Self {
        Self::new(random_seed())
    }

    /// The seed.
    #[must_use]
    pub const fn seed(self) -> u64 {
        self.seed
    }

    /// XXH3-64 of `bytes` under this seed.
    #[inline]
    #[must_use]
    pub fn hash_bytes(self, bytes: &[u8]) -> u64 {
        xxh3_64_with_seed(bytes, self.seed)
    }
}

/// A seed from the operating system's randomness, by way of the standard library's own keyed hash.
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0x6d61_6c6b_6f68_6121_u64)
}

impl Key for [u8] {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        hasher.hash_bytes(self)
    }
}

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        hasher.hash_bytes(self)
    }
}

macro_rules! key_as_bytes {
    ($($type:ty => $bytes:ident),*) => {$(
        impl Key for $type {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                hasher.hash_bytes(self.$bytes())
            }
        }
    )*};
}
key_as_bytes!(str => as_bytes, String => as_bytes, Vec<u8> => as_slice);

macro_rules! key_little_endian {
    ($($type:ty),*) => {$(
        impl Key for $type {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                hasher.hash_bytes(&self.to_le_bytes())
            }
        }
    )*};
}
key_little_endian!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl<K: Key + ?Sized> Key for &K {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        (**self).hash_with(hasher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pinned: a change here would make every saved filter answer wrongly.
    #[test]
    fn known_answers() {
        let zero = KeyHasher::new(0);
        // All from the reference implementation.
        assert_eq!(zero.hash_bytes(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!("malkoha".hash_with(zero), 0x24e1_985d_179b_5f0a);
        assert_eq!("malkoha".hash_with(KeyHasher::new(42)), 0xa7c4_bdfe_b588_7069);
        assert_eq!(0x0123_4567_89ab_cdef_u64.hash_with(zero), 0xb78d_f414_2842_77a6);
        let long: Vec<u8> = (0..=255).cycle().take(1000).collect();
        assert_eq!(long.hash_with(KeyHasher::new(7)), 0xfb6e_8de2_c753_ce8b);
    }

    #[test]
    fn text_bytes_and_references_are_one_key() {
        let hasher = KeyHasher::new(3);
        let expected = hasher.hash_bytes(b"abc");
        assert_eq!("abc".hash_with(hasher), expected);
        assert_eq!(String::from("abc").hash_with(hasher), expected);
        assert_eq!(b"abc".hash_with(hasher), expected);
        assert_eq!((&&"abc").hash_with(hasher), expected);
        assert_eq!(0x0063_6261_u32.hash_with(hasher), hasher.hash_bytes(b"abc\0"));
    }
}
