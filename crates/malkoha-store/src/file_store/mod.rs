//! Files cut into chunks. Each chunk is stored once, under its hash.
//!
//! A chunk has the key `c`, digest number, digest; a file has the key `f`, name. The record of a
//! file is specified in `docs/STORE.md`.

mod chunking;
mod digest;
mod manifest;
mod metadata;

use std::collections::HashSet;
use std::io::{Read, Write};

use crate::error::{Error, Result};
use crate::log::MAX_VALUE;
use crate::store::{Batch, Store};
pub use chunking::Chunking;
use chunking::each_chunk;
pub use digest::Digest;
use digest::HASH;
use manifest::Manifest;
pub use metadata::{FileInfo, FileKind, Metadata};

/// The result of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Import {
    /// Bytes of the file.
    pub bytes: u64,
    /// Its chunks; a number.
    pub chunks: u64,
    /// Bytes of chunks that were not there before.
    pub new_bytes: u64,
}

/// The chunks that [`FileStore::collect`] removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// Chunks; a number.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Files in a store. Names are bytes. Two spellings of a path are two names, so choose one spelling
/// for trees.
///
/// ```
/// use malkoha_store::{Chunking, Digest, FileStore, Metadata, Options, Store};
///
/// # let directory = tempfile::tempdir()?;
/// let store = Store::open(directory.path(), &Options::new())?;
/// let file_store = FileStore::new(&store);
/// let text = b"a cuckoo in a clock";
/// let metadata = Metadata { mode: Some(0o644), ..Metadata::default() };
/// file_store.import("clock.txt", &text[..], metadata, Chunking::default(), Digest::default())?;
/// let mut restored = Vec::new();
/// file_store.export("clock.txt", &mut restored)?;
/// assert_eq!(restored, text);
/// assert_eq!(file_store.files()?[0].metadata, metadata);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct FileStore<'s> {
    store: &'s Store,
}

/// Bytes of chunks that are written together.
const TOGETHER: usize = 1 << 20;
const FILE: u8 = b'f';
const CHUNK: u8 = b'c';
/// A record without the hashes of chunks has fewer bytes than this.
const RECORD_HEAD: usize = 256;

fn file_key(name: &[u8]) -> Vec<u8> {
    [&[FILE], name].concat()
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn chunk_key(digest: Digest, hash: &[u8]) -> Vec<u8> {
    [&[CHUNK, digest.id()], hash].concat()
}

/// Whether a pair is a chunk, and not another user's pair: its key has the form of a chunk's, with
/// the hash of its value.
fn is_chunk(key: &[u8], value: &[u8]) -> bool {
    let [CHUNK, id, hash @ ..] = key else { return false };
    let digest = Digest::from_id(*id).filter(|_| hash.len() == HASH);
    digest.is_some_and(|digest| digest.of(value) == hash)
}

impl<'s> FileStore<'s> {
    /// The files of a store.
    #[must_use]
    pub const fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Stores the bytes of `input` under a name, in place of an earlier file of that name. The file
    /// is recorded after all of its chunks, so it is there whole or as it was before.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, the sizes of chunks are out of range or too small for so long
    /// a file, the key of the record has a value that is no file's, or a write fails.
    pub fn import(
        &self,
        name: impl AsRef<[u8]>,
        input: impl Read,
        metadata: Metadata,
        chunking: Chunking,
        digest: Digest,
    ) -> Result<Import> {
        let name = name.as_ref();
        let file = self.free_key(name)?;
        let mut import = Import::default();
        let mut manifest = Manifest::without_bytes(name, FileKind::File, metadata);
        let mut whole = digest.hasher();
        let mut hashes = Vec::new();
        let mut batch = Batch::new();
        let mut fresh = HashSet::new();
        each_chunk(
            input,
            chunking,
            || text(name),
            |chunk| {
                whole.update(chunk);
                import.bytes += chunk.len() as u64;
                import.chunks += 1;
                let hash = digest.of(chunk);
                if hashes.len() + hash.len() > MAX_VALUE - RECORD_HEAD {
                    return Err(Error::Option("the file has too many chunks: make them longer"));
                }
                let key = chunk_key(digest, &hash);
                if !fresh.contains(&key) && !self.store.contains(&key)? {
                    import.new_bytes += chunk.len() as u64;
                    batch.put(&key, chunk)?;
                    fresh.insert(key);
                }
                hashes.extend_from_slice(&hash);
                if batch.bytes() >= TOGETHER {
                    self.store.apply(&batch)?;
                    batch.clear();
                    fresh.clear();
                }
                Ok(())
            },
        )?;
        (manifest.digest, manifest.hashes) = (digest, hashes);
        (manifest.info.bytes, manifest.info.digest) = (import.bytes, whole.finish());
        batch.put(&file, &manifest.to_bytes())?;
        self.store.apply(&batch)?;
        Ok(import)
    }

    /// Stores a directory without its files under a name, in place of an earlier file of that name.
    ///
    /// # Errors
    ///
    /// If the key of the record has a value that is no file's, or a write fails.
    pub fn import_directory(&self, name: impl AsRef<[u8]>, metadata: Metadata) -> Result<()> {
        self.import_without_bytes(name.as_ref(), FileKind::Directory, metadata)
    }

    /// Stores a symbolic link under a name, in place of an earlier file of that name.
    ///
    /// # Errors
    ///
    /// If no link can lead there, as the target is empty or has a NUL byte, the key of the record
    /// has a value that is no file's, or a write fails.
    pub fn import_link(&self, name: impl AsRef<[u8]>, target: &[u8]) -> Result<()> {
        if !manifest::is_target(target) {
            return Err(Error::Option("a link leads to a path, not empty and without NUL bytes"));
        }
        let kind = FileKind::Link(target.to_vec());
        self.import_without_bytes(name.as_ref(), kind, Metadata::default())
    }

    fn import_without_bytes(&self, name: &[u8], kind: FileKind, metadata: Metadata) -> Result<()> {
        let manifest = Manifest::without_bytes(name, kind, metadata);
        self.store.put(&self.free_key(name)?, &manifest.to_bytes())
    }

    /// The key for a name, unless another user has it.
    fn free_key(&self, name: &[u8]) -> Result<Vec<u8>> {
        let key = file_key(name);
        let others = |record: &[u8]| matches!(manifest_in(name, record), Ok(None));
        match self.store.get_with(&key, others)? {
            Some(true) => Err(Error::Taken(text(name))),
            _ => Ok(key),
        }
    }

    /// Writes a file byte for byte. Each chunk and the whole are compared with their hashes.
    ///
    /// # Errors
    ///
    /// If there is no such file, a chunk is missing or damaged, or `output` fails.
    pub fn export(&self, name: impl AsRef<[u8]>, mut output: impl Write) -> Result<u64> {
        let name = name.as_ref();
        let manifest = self.manifest(name)?.ok_or_else(|| Error::NoFile(text(name)))?;
        let broken = |what| Error::Broken { name: text(name), what };
        if manifest.info.kind != FileKind::File {
            return Err(broken("it is no file, so it has no bytes"));
        }
        let mut whole = manifest.digest.hasher();
        for hash in manifest.chunks() {
            let key = chunk_key(manifest.digest, hash);
            let written = self.store.get_with(&key, |chunk| {
                if manifest.digest.of(chunk) != hash {
                    return Err(broken("a chunk does not have its hash"));
                }
                whole.update(chunk);
                output.write_all(chunk).map_err(Error::io("write", text(name)))
            })?;
            written.ok_or_else(|| broken("a chunk is missing"))??;
        }
        if whole.finish() != manifest.info.digest {
            return Err(broken("it does not have its hash"));
        }
        output.flush().map_err(Error::io("write", text(name)))?;
        Ok(manifest.info.bytes)
    }

    /// The description of the file of a name, if there is one.
    ///
    /// # Errors
    ///
    /// If the record is damaged, or of another version.
    pub fn info(&self, name: impl AsRef<[u8]>) -> Result<Option<FileInfo>> {
        Ok(self.manifest(name.as_ref())?.map(|manifest| manifest.info))
    }

    fn manifest(&self, name: &[u8]) -> Result<Option<Manifest>> {
        let record = self.store.get(&file_key(name))?;
        record.map_or(Ok(None), |record| manifest_in(name, &record))
    }

    /// All files, by name.
    ///
    /// # Errors
    ///
    /// If a record is damaged, or of another version.
    pub fn files(&self) -> Result<Vec<FileInfo>> {
        let mut files = Vec::new();
        self.each_manifest(|manifest| files.push(manifest.info))?;
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    fn each_manifest(&self, mut each: impl FnMut(Manifest)) -> Result<()> {
        let snapshot = self.store.snapshot();
        for entry in snapshot.iter() {
            let entry = entry?;
            if let Some(name) = entry.key.strip_prefix(&[FILE])
                && let Some(manifest) = manifest_in(name, &entry.value)?
            {
                each(manifest);
            }
        }
        Ok(())
    }

    /// Removes the file of a name; returns whether there was one. Its chunks stay until they are
    /// [collected](Self::collect).
    ///
    /// # Errors
    ///
    /// As [`Store::delete`], and if the record is of another version.
    pub fn remove(&self, name: impl AsRef<[u8]>) -> Result<bool> {
        let name = name.as_ref();
        // Another user's key is not ours.
        match self.manifest(name)? {
            Some(_) => self.store.delete(&file_key(name)),
            None => Ok(false),
        }
    }

    /// Removes the chunks that no file has. Do not import meanwhile. [`Store::compact`] gives their
    /// space back.
    ///
    /// # Errors
    ///
    /// If a record is damaged, or of another version, or a write fails.
    pub fn collect(&self) -> Result<Collected> {
        let mut used = HashSet::new();
        self.each_manifest(|manifest| {
            used.extend(manifest.chunks().map(|hash| chunk_key(manifest.digest, hash)));
        })?;
        let mut collected = Collected::default();
        let mut batch = Batch::new();
        let snapshot = self.store.snapshot();
        for entry in snapshot.iter() {
            let entry = entry?;
            if !used.contains(&*entry.key) && is_chunk(&entry.key, &entry.value) {
                collected.chunks += 1;
                collected.bytes += entry.value.len() as u64;
                batch.delete(&entry.key)?;
            }
            if batch.bytes() >= TOGETHER {
                self.store.apply(&batch)?;
                batch.clear();
            }
        }
        self.store.apply(&batch)?;
        Ok(collected)
    }
}

/// The record of a file; `None` if the pair is another user's.
fn manifest_in(name: &[u8], record: &[u8]) -> Result<Option<Manifest>> {
    match Manifest::from_bytes(name, record) {
        // The store checks records, so a record that is not marked as ours belongs to somebody
        // else.
        Err(Error::Broken { .. }) if !manifest::is_signed(record) => Ok(None),
        found => found.map(Some),
    }
}
