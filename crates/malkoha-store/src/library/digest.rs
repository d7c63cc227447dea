//! The hashes that chunks are known by.

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

/// A cryptographic hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Digest {
    /// SHA-1, 20 bytes, which stores of earlier versions have. Somebody who chooses files can make
    /// two chunks with one hash, so each chunk is compared with the stored one of the same hash.
    /// This is slow.
    Sha1,
    /// SHA-256, 32 bytes.
    Sha256,
    /// BLAKE3, 32 bytes: several times as fast as the others.
    #[default]
    Blake3,
}

/// A hash that is being computed.
pub(super) enum Hasher {
    Sha1(Sha1),
    Sha256(Sha256),
    Blake3(Box<blake3::Hasher>),
}

impl Digest {
    pub(super) const fn id(self) -> u8 {
        match self {
            Self::Sha1 => 1,
            Self::Sha256 => 2,
            Self::Blake3 => 3,
        }
    }

    pub(super) const fn from_id(id: u8) -> Option<Self> {
        match id {
            1 => Some(Self::Sha1),
            2 => Some(Self::Sha256),
            3 => Some(Self::Blake3),
            _ => None,
        }
    }

    /// Bytes of a hash.
    pub(super) const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 | Self::Blake3 => 32,
        }
    }

    pub(super) fn hasher(self) -> Hasher {
        match self {
            Self::Sha1 => Hasher::Sha1(Sha1::new()),
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
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Blake3(hasher) => drop(hasher.update(bytes)),
        }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha1(hasher) => hasher.finalize().to_vec(),
            Self::Sha256(hasher) => hasher.finalize().to_vec(),
            Self::Blake3(hasher) => hasher.finalize().as_bytes().to_vec(),
        }
    }
}
