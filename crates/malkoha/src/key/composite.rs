//! Keys made of several keys: how the hashes of the parts become one.

use core::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

use super::{Key, KeyHasher};

/// The last byte of what is hashed for a composite key. Pinned: files depend on it.
pub(super) mod kind {
    pub(crate) const TUPLE: u8 = 1;
    pub(crate) const NONE: u8 = 2;
    pub(crate) const SOME: u8 = 3;
    pub(crate) const SLICE: u8 = 4;
    pub(crate) const HASHED: u8 = 5;
    /// Plus the width of the integers in bytes.
    pub(crate) const INTEGERS: u8 = 16;
}

const MAX_PARTS: usize = 8;
const PART_BYTES: usize = size_of::<u64>();

/// One hash from those of the parts.
///
/// At least one part is needed. Parts depend on the seed, so no simple key has the same bytes
/// under every seed; the kind alone would be the bytes of some integer.
#[inline]
fn combine<const PARTS: usize>(hasher: KeyHasher, parts: [u64; PARTS], kind: u8) -> u64 {
    const { assert!(1 <= PARTS && PARTS <= MAX_PARTS) };
    let mut bytes = [0; MAX_PARTS * PART_BYTES + 1];
    for (bytes, part) in bytes.chunks_exact_mut(PART_BYTES).zip(parts) {
        bytes.copy_from_slice(&part.to_le_bytes());
    }
    bytes[PARTS * PART_BYTES] = kind;
    hasher.hash_bytes(&bytes[..=PARTS * PART_BYTES])
}

const BLOCK_BYTES: usize = 128;

/// Hashes bytes that come piece by piece, without allocating: a full block is replaced by its
/// hash.
pub(super) struct Blocks {
    hasher: KeyHasher,
    block: [u8; BLOCK_BYTES],
    len: usize,
}

impl Blocks {
    #[inline]
    pub(super) const fn new(hasher: KeyHasher) -> Self {
        Self { hasher, block: [0; BLOCK_BYTES], len: 0 }
    }

    #[inline]
    pub(super) fn write(&mut self, mut bytes: &[u8]) {
        while let Some((fits, rest)) = bytes.split_at_checked(BLOCK_BYTES - self.len)
            && !rest.is_empty()
        {
            self.block[self.len..].copy_from_slice(fits);
            let hash = self.hasher.hash_bytes(&self.block);
            self.block[..PART_BYTES].copy_from_slice(&hash.to_le_bytes());
            self.len = PART_BYTES;
            bytes = rest;
        }
        self.block[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// The hash of a composite key of this kind whose one part is what was written.
    #[inline]
    pub(super) fn finish(&self, kind: u8) -> u64 {
        combine(self.hasher, [self.hasher.hash_bytes(&self.block[..self.len])], kind)
    }
}

#[inline]
pub(super) fn hash_items<K: Key>(keys: &[K], hasher: KeyHasher) -> u64 {
    let mut blocks = Blocks::new(hasher);
    for key in keys {
        blocks.write(&key.hash_with(hasher).to_le_bytes());
    }
    blocks.finish(kind::SLICE)
}

/// The hash of a slice of integers, given the little-endian bytes of each.
#[inline]
pub(super) fn hash_integers<const WIDTH: usize>(
    integers: impl Iterator<Item = [u8; WIDTH]>,
    hasher: KeyHasher,
) -> u64 {
    const { assert!(WIDTH <= 16) };
    let mut blocks = Blocks::new(hasher);
    integers.for_each(|bytes| blocks.write(&bytes));
    #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
    blocks.finish(kind::INTEGERS + WIDTH as u8)
}

impl<K: Key> Key for Option<K> {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        match self {
            None => combine(hasher, [hasher.hash_bytes(b"")], kind::NONE),
            Some(key) => combine(hasher, [key.hash_with(hasher)], kind::SOME),
        }
    }
}

macro_rules! key_tuples {
    ($($($name:ident),+;)*) => {$(
        impl<$($name: Key),+> Key for ($($name,)+) {
            #[inline]
            fn hash_with(&self, hasher: KeyHasher) -> u64 {
                #[expect(non_snake_case, reason = "each variable is named as its type")]
                let ($($name,)+) = self;
                combine(hasher, [$($name.hash_with(hasher)),+], kind::TUPLE)
            }
        }
    )*};
}
key_tuples! {
    A;
    A, B;
    A, B, C;
    A, B, C, D;
    A, B, C, D, E;
    A, B, C, D, E, F;
    A, B, C, D, E, F, G;
    A, B, C, D, E, F, G, H;
}

impl Key for SocketAddrV4 {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        (self.ip(), self.port()).hash_with(hasher)
    }
}

impl Key for SocketAddrV6 {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        (self.ip(), self.port(), self.flowinfo(), self.scope_id()).hash_with(hasher)
    }
}

impl Key for SocketAddr {
    #[inline]
    fn hash_with(&self, hasher: KeyHasher) -> u64 {
        match self {
            Self::V4(address) => address.hash_with(hasher),
            Self::V6(address) => address.hash_with(hasher),
        }
    }
}
