//! The record of a file, a directory or a link, byte by byte in `docs/STORE.md`.

use super::digest::HASH;
use super::metadata;
use super::{Digest, FileInfo, FileKind, Metadata};
use crate::error::{Error, Result};

const SIGNATURE: [u8; 4] = *b"\0MLF";
const VERSION: u16 = 1;

const FILE: u8 = 1;
const DIRECTORY: u8 = 2;
const LINK: u8 = 3;

pub(super) struct Manifest {
    pub(super) info: FileInfo,
    /// The kind of the hashes; without a meaning unless it is a file.
    pub(super) digest: Digest,
    /// The hashes of the chunks, one behind the other.
    pub(super) hashes: Vec<u8>,
}

/// Whether a record says that it is one of these, in any version.
pub(super) fn is_signed(bytes: &[u8]) -> bool {
    bytes.starts_with(&SIGNATURE)
}

impl Manifest {
    /// The record of something without content.
    pub(super) fn without_bytes(name: &[u8], kind: FileKind, metadata: Metadata) -> Self {
        let (name, digest) = (name.to_vec(), Vec::new());
        let info = FileInfo { name, kind, metadata, bytes: 0, chunks: 0, digest };
        Self { info, digest: Digest::default(), hashes: Vec::new() }
    }

    /// The hashes of the chunks, in order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.hashes.chunks_exact(HASH)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let (kind, digest) = match &self.info.kind {
            FileKind::File => (FILE, self.digest.id()),
            FileKind::Directory => (DIRECTORY, 0),
            FileKind::Link(_) => (LINK, 0),
        };
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[kind, digest]);
        bytes.extend_from_slice(&self.info.metadata.to_bytes());
        match &self.info.kind {
            FileKind::File => {
                bytes.extend_from_slice(&self.info.bytes.to_le_bytes());
                bytes.extend_from_slice(&self.info.digest);
                bytes.extend_from_slice(&self.hashes);
            }
            FileKind::Directory => {}
            FileKind::Link(target) => bytes.extend_from_slice(target),
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
        Self::from_rest(name, rest).ok_or_else(broken)
    }

    /// From the bytes behind the version.
    fn from_rest(name: &[u8], bytes: &[u8]) -> Option<Self> {
        let (&[kind, digest], rest) = bytes.split_first_chunk()?;
        let (metadata, rest) = rest.split_first_chunk::<{ metadata::BYTES }>()?;
        let metadata = Metadata::from_bytes(metadata)?;
        let kind = match (kind, digest) {
            (FILE, _) => FileKind::File,
            (DIRECTORY, 0) if rest.is_empty() => FileKind::Directory,
            (LINK, 0) if is_target(rest) => FileKind::Link(rest.to_vec()),
            _ => return None,
        };
        let mut manifest = Self::without_bytes(name, kind, metadata);
        if manifest.info.kind == FileKind::File {
            let (bytes, rest) = rest.split_first_chunk()?;
            let (whole, hashes) = rest.split_at_checked(HASH)?;
            manifest.digest = Digest::from_id(digest)?;
            manifest.info.bytes = u64::from_le_bytes(*bytes);
            manifest.info.chunks = (hashes.len() / HASH) as u64;
            (manifest.info.digest, manifest.hashes) = (whole.to_vec(), hashes.to_vec());
        }
        manifest.hashes.len().is_multiple_of(HASH).then_some(manifest)
    }
}

/// Whether a link may have this target.
pub(super) fn is_target(target: &[u8]) -> bool {
    !target.is_empty() && !target.contains(&0)
}
