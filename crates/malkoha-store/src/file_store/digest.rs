//! The hashes that chunks are known by.

use sha2::{Digest as _, Sha256};

/// Bytes of a hash of any kind.
pub(super) const HASH: usize = 32;

/// A cryptographic hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digest {
    /// SHA-256, 32 bytes.
    Sha256,
    /// BLAKE3, 32 bytes: several times as fast.
    #[default]
    Blake3,
}

/// A hash that is being computed.
pub(super) enum Hasher {
    Sha256(Sha256),
    Blake3(Box<blake3::Hasher>),
}

impl Digest {
    pub(super) const fn id(self) -> u8 {
        match self {
            Self::Sha256 => 1,
            Self::Blake3 => 2,
        }
    }

    pub(super) const fn from_id(id: u8) -> Option<Self> {
        match id {
            1 => Some(Self::Sha256),
            2 => Some(Self::Blake3),
            _ => None,
        }
    }

    pub(super) fn hasher(self) -> Hasher {
        match self {
            Self::Sha256 => Hasher::Sha256(Sha256::new()),
            Self::Blake3 => Hasher::Blake3(Box::new(blake3::Hasher::new())),
        }
    }

    pub(super) fn of(self, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = self.hasher();
        hasher.update(bytes);
        hasher.finish()
    }
}

impl Hasher {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Blake3(hasher) => drop(hasher.update(bytes)),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha256(hasher) => hasher.finalize().to_vec(),
            Self::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
        }
    }
}
