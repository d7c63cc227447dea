//! The record of a file, a directory or a link, byte by byte in `docs/STORE.md`.

use super::digest::HASH;
use super::metadata;
use super::{Digest, Metadata};
use crate::error::{Error, Result};

const SIGNATURE: [u8; 4] = *b"\0MLF";
const VERSION: u16 = 1;

const FILE: u8 = 1;
const DIRECTORY: u8 = 2;
const LINK: u8 = 3;

pub(super) struct Manifest {
    pub(super) metadata: Metadata,
    pub(super) content: Content,
}

pub(super) enum Content {
    File(Chunks),
    Directory,
    /// Its target.
    Link(Vec<u8>),
}

pub(super) struct Chunks {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) whole: Vec<u8>,
    /// One behind the other.
    pub(super) hashes: Vec<u8>,
}

/// Whether a record says that it is one of these, in any version.
pub(super) fn is_signed(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

impl Manifest {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (kind, digest) = match &self.content {
            Content::File(chunks) => (FILE, chunks.digest.id()),
            Content::Directory => (DIRECTORY, 0),
            Content::Link(_) => (LINK, 0),
        };
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[kind, digest]);
        bytes.extend_from_slice(&self.metadata.to_bytes());
        match &self.content {
            Content::File(Chunks { bytes: length, whole, hashes, .. }) => {
                bytes.extend_from_slice(&length.to_le_bytes());
                bytes.extend_from_slice(whole);
                bytes.extend_from_slice(hashes);
            }
            Content::Directory => {}
            Content::Link(target) => bytes.extend_from_slice(target),
        }
        bytes
    }

    pub(super) fn from_bytes(name: &[u8], bytes: &[u8]) -> Result<Self> {
        let text = || String::from_utf8_lossy(name).into_owned();
        let broken = || Error::Broken { name: text(), what: "its record is no file's" };
        let rest = bytes.strip_prefix(&SIGNATURE).ok_or_else(broken)?;
        let (version, rest) = rest.split_first_chunk().ok_or_else(broken)?;
        let found = u16::from_le_bytes(*version);
        if found != VERSION {
            return Err(Error::Version { file: text(), found, supported: VERSION });
        }
        Self::from_rest(rest).ok_or_else(broken)
    }

    /// From the bytes behind the version.
    fn from_rest(bytes: &[u8]) -> Option<Self> {
        let (&[kind, digest], rest) = bytes.split_first_chunk()?;
        let (metadata, rest) = rest.split_first_chunk::<{ metadata::BYTES }>()?;
        let metadata = Metadata::from_bytes(metadata)?;
        let content = match (kind, digest) {
            (FILE, _) => Content::File(Chunks::from_bytes(digest, rest)?),
            (DIRECTORY, 0) if rest.is_empty() => Content::Directory,
            (LINK, 0) if is_target(rest) => Content::Link(rest.to_vec()),
            _ => return None,
        };
        Some(Self { metadata, content })
    }
}

/// Whether a link may have this target.
pub(super) fn is_target(target: &[u8]) -> bool {
    !target.is_empty() && !target.contains(&0)
}

impl Chunks {
    fn from_bytes(digest: u8, bytes: &[u8]) -> Option<Self> {
        let digest = Digest::from_id(digest)?;
        let (length, rest) = bytes.split_first_chunk()?;
        let (whole, hashes) = rest.split_at_checked(HASH)?;
        let (whole, hashes) = (whole.to_vec(), hashes.to_vec());
        let whole_hashes = hashes.len() % HASH == 0;
        whole_hashes.then(|| Self { digest, bytes: u64::from_le_bytes(*length), whole, hashes })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.hashes.chunks_exact(HASH)
    }
}
