//! The description of a file in a store.

use super::Metadata;
use super::manifest::{Content, Manifest};

/// The kinds of files in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file with content.
    File,
    /// A directory. Its entries have names of their own.
    Directory,
    /// A symbolic link, and its target.
    Link(Vec<u8>),
}

/// A file in a store; a directory or a link too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// Its name.
    pub name: Vec<u8>,
    /// Its kind.
    pub kind: FileKind,
    /// Its mode and time.
    pub metadata: Metadata,
    /// Its bytes; 0 unless it is a file.
    pub bytes: u64,
    /// Its chunks; a number.
    pub chunks: u64,
    /// The hash of all of it; empty unless it is a file.
    pub digest: Vec<u8>,
}

impl FileInfo {
    pub(super) fn new(name: &[u8], manifest: Manifest) -> Self {
        let (kind, bytes, chunks, digest) = match manifest.content {
            Content::File(found) => {
                (FileKind::File, found.bytes, found.iter().count() as u64, found.whole)
            }
            Content::Directory => (FileKind::Directory, 0, 0, Vec::new()),
            Content::Link(target) => (FileKind::Link(target), 0, 0, Vec::new()),
        };
        Self { name: name.to_vec(), kind, metadata: manifest.metadata, bytes, chunks, digest }
    }
}
