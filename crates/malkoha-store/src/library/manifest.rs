//! The record of a file: digest number, length, hash of the whole, hashes of its chunks.

use super::Digest;
use crate::error::{Error, Result};

pub(super) struct Manifest {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) whole: Vec<u8>,
    /// One behind the other.
    pub(super) hashes: Vec<u8>,
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        [&[self.digest.id()], &self.bytes.to_le_bytes()[..], &self.whole, &self.hashes].concat()
    }

    pub(super) fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let broken = || Error::Broken { name: name.to_owned(), what: "its record is no file's" };
        let (id, rest) = bytes.split_first().ok_or_else(broken)?;
        let digest = Digest::from_id(*id).ok_or_else(broken)?;
        let (length, rest) = rest.split_first_chunk().ok_or_else(broken)?;
        let (whole, hashes) = rest.split_at_checked(digest.len()).ok_or_else(broken)?;
        if hashes.len() % digest.len() != 0 {
            return Err(broken());
        }
        let (whole, hashes) = (whole.to_vec(), hashes.to_vec());
        Ok(Self { digest, bytes: u64::from_le_bytes(*length), whole, hashes })
    }

    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.hashes.chunks_exact(self.digest.len())
    }
}
