//! How the hashes of parts become one hash.

use super::hasher::KeyHasher;

/// The last word of a composite key's input to the hash. Pinned: files depend on it.
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
pub(super) fn combine<const PARTS: usize>(hasher: KeyHasher, parts: [u64; PARTS], kind: u8) -> u64 {
    const { assert!(1 <= PARTS && PARTS <= MAX_PARTS) };
    let mut bytes = [0; (MAX_PARTS + 1) * PART_BYTES];
    let words = parts.into_iter().chain([u64::from(kind)]);
    for (bytes, word) in bytes.chunks_exact_mut(PART_BYTES).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    hasher.hash_bytes(&bytes[..(PARTS + 1) * PART_BYTES])
}

const BLOCK_BYTES: usize = 128;

/// Hashes bytes that arrive piece by piece, without allocating: a full block is replaced by its
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
    pub(super) fn write(&mut self, bytes: &[u8]) {
        if bytes.len() <= BLOCK_BYTES - self.len {
            self.block[self.len..][..bytes.len()].copy_from_slice(bytes);
            self.len += bytes.len();
        } else {
            self.write_over_the_end(bytes);
        }
    }

    /// Apart, so that the usual case is small enough to be inlined.
    #[cold]
    fn write_over_the_end(&mut self, bytes: &[u8]) {
        let (fits, mut rest) = bytes.split_at(BLOCK_BYTES - self.len);
        self.block[self.len..].copy_from_slice(fits);
        loop {
            let hash = self.hasher.hash_bytes(&self.block);
            self.block[..PART_BYTES].copy_from_slice(&hash.to_le_bytes());
            let (next, after) = rest.split_at(rest.len().min(BLOCK_BYTES - PART_BYTES));
            self.len = PART_BYTES + next.len();
            self.block[PART_BYTES..self.len].copy_from_slice(next);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
    }

    /// The hash of a composite key of this kind. Its only part is the bytes written.
    #[inline]
    pub(super) fn finish(&self, kind: u8) -> u64 {
        combine(self.hasher, [self.hasher.hash_bytes(&self.block[..self.len])], kind)
    }
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
