//! Files cut into chunks, each of which is stored once, under its hash.
//!
//! A chunk has the key `c`, digest number, digest; a file has the key `f`, name. The record of a
//! file is specified in `docs/STORE.md`.

mod digest;
mod manifest;

use std::collections::HashSet;
use std::io::{Read, Write};

use fastcdc::v2020::{self, StreamCDC};

use crate::error::{Error, Result};
use crate::store::{Batch, Store};
pub use digest::Digest;
use manifest::Manifest;

/// Where files are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunking {
    /// Where the content says so (FastCDC, 2020), into chunks of about this many bytes, 1 KiB to
    /// 1 MiB: what is inserted or removed changes the chunks around it only.
    Content(u32),
    /// After every so many bytes, 1 to 1 GiB.
    Fixed(u32),
}

impl Default for Chunking {
    fn default() -> Self {
        Self::Content(16 << 10)
    }
}

/// What an import found.
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

/// A file in a library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// Its name.
    pub name: String,
    /// Its bytes.
    pub bytes: u64,
    /// Its chunks; a number.
    pub chunks: u64,
    /// The hash of all of it.
    pub digest: Vec<u8>,
}

/// What [`Library::collect`] removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// Chunks; a number.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Files in a store.
///
/// ```
/// use malkoha_store::{Chunking, Digest, Library, Options, Store};
///
/// # let directory = tempfile::tempdir()?;
/// let store = Store::open(directory.path(), &Options::new())?;
/// let library = Library::new(&store);
/// let text = b"a cuckoo in a clock";
/// library.import("clock.txt", &text[..], Chunking::default(), Digest::Sha1)?;
/// let mut restored = Vec::new();
/// library.export("clock.txt", &mut restored)?;
/// assert_eq!(restored, text);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Library<'s> {
    store: &'s Store,
}

/// Bytes of chunks that are written together.
const TOGETHER: usize = 1 << 20;
const FILE: u8 = b'f';
const CHUNK: u8 = b'c';

fn file_key(name: &str) -> Vec<u8> {
    [&[FILE], name.as_bytes()].concat()
}

fn chunk_key(digest: Digest, hash: &[u8]) -> Vec<u8> {
    [&[CHUNK, digest.id()], hash].concat()
}

/// Whether a pair is a chunk, and not another user's: its key says so, and is the hash of its value.
fn is_chunk(key: &[u8], value: &[u8]) -> bool {
    let [CHUNK, id, hash @ ..] = key else { return false };
    let digest = Digest::from_id(*id).filter(|digest| digest.len() == hash.len());
    digest.is_some_and(|digest| digest.of(value) == hash)
}

impl<'s> Library<'s> {
    /// The files of a store.
    #[must_use]
    pub const fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Stores what `input` has under a name, in place of a file that has it. The file is recorded
    /// after all of its chunks are, so it is there whole or as it was before.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, the sizes of chunks are out of range, or a write fails.
    pub fn import(
        &self,
        name: &str,
        input: impl Read,
        chunking: Chunking,
        digest: Digest,
    ) -> Result<Import> {
        let mut import = Import::default();
        let mut whole = digest.hasher();
        let mut hashes = Vec::new();
        let mut batch = Batch::new();
        let mut fresh = HashSet::new();
        each_chunk(input, chunking, name, |chunk| {
            whole.update(chunk);
            import.bytes += chunk.len() as u64;
            import.chunks += 1;
            let hash = digest.of(chunk);
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
        })?;
        let manifest = Manifest { digest, bytes: import.bytes, whole: whole.finish(), hashes };
        batch.put(&file_key(name), &manifest.to_bytes())?;
        self.store.apply(&batch)?;
        Ok(import)
    }

    /// Writes a file byte for byte. Each chunk and the whole are compared with their hashes.
    ///
    /// # Errors
    ///
    /// If there is no such file, a chunk is missing or not what it was, or `output` fails.
    pub fn export(&self, name: &str, mut output: impl Write) -> Result<u64> {
        let manifest = self.manifest(name)?;
        let broken = |what| Error::Broken { name: name.to_owned(), what };
        let mut whole = manifest.digest.hasher();
        for hash in manifest.chunks() {
            let key = chunk_key(manifest.digest, hash);
            let written = self.store.get_with(&key, |chunk| {
                if manifest.digest.of(chunk) != hash {
                    return Err(broken("a chunk does not have its hash"));
                }
                whole.update(chunk);
                output.write_all(chunk).map_err(Error::io("write", name))
            })?;
            written.ok_or_else(|| broken("a chunk is missing"))??;
        }
        if whole.finish() != manifest.whole {
            return Err(broken("it does not have its hash"));
        }
        output.flush().map_err(Error::io("write", name))?;
        Ok(manifest.bytes)
    }

    fn manifest(&self, name: &str) -> Result<Manifest> {
        let bytes = self.store.get(&file_key(name))?;
        let bytes = bytes.ok_or_else(|| Error::NoFile(name.to_owned()))?;
        Manifest::from_bytes(name, &bytes)
    }

    /// All files, by name.
    ///
    /// # Errors
    ///
    /// If a record is damaged.
    pub fn files(&self) -> Result<Vec<FileInfo>> {
        let mut files = Vec::new();
        self.each_manifest(|name, manifest| {
            let chunks = manifest.chunks().count() as u64;
            let (name, bytes) = (name.to_owned(), manifest.bytes);
            files.push(FileInfo { name, bytes, chunks, digest: manifest.whole });
        })?;
        files.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(files)
    }

    fn each_manifest(&self, mut each: impl FnMut(&str, Manifest)) -> Result<()> {
        let snapshot = self.store.snapshot();
        for entry in snapshot.iter() {
            let entry = entry?;
            if let Some(name) = entry.key.strip_prefix(&[FILE])
                && let Ok(name) = std::str::from_utf8(name)
            {
                // Records are checked by the store: what is no manifest is somebody else's.
                if let Ok(manifest) = Manifest::from_bytes(name, entry.value) {
                    each(name, manifest);
                }
            }
        }
        Ok(())
    }

    /// Forgets a file; answers whether it was there. Its chunks stay until they are
    /// [collected](Self::collect).
    ///
    /// # Errors
    ///
    /// As [`Store::delete`].
    pub fn remove(&self, name: &str) -> Result<bool> {
        self.store.delete(&file_key(name))
    }

    /// Removes the chunks that no file has. Nothing may be imported meanwhile. Their space is given
    /// back by [`Store::compact`].
    ///
    /// # Errors
    ///
    /// If a record is damaged, or a write fails.
    pub fn collect(&self) -> Result<Collected> {
        let mut used = HashSet::new();
        self.each_manifest(|_, manifest| {
            used.extend(manifest.chunks().map(|hash| chunk_key(manifest.digest, hash)));
        })?;
        let mut collected = Collected::default();
        let mut batch = Batch::new();
        let snapshot = self.store.snapshot();
        for entry in snapshot.iter() {
            let entry = entry?;
            if !used.contains(entry.key) && is_chunk(entry.key, entry.value) {
                collected.chunks += 1;
                collected.bytes += entry.value.len() as u64;
                batch.delete(entry.key)?;
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

/// Calls `each` for every chunk, in order.
fn each_chunk(
    mut input: impl Read,
    chunking: Chunking,
    name: &str,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    match chunking {
        Chunking::Content(bytes) => {
            if !(1 << 10..=1 << 20).contains(&bytes) {
                return Err(Error::Option("content-defined chunks have about 1 KiB to 1 MiB"));
            }
            for chunk in StreamCDC::new(input, bytes / 4, bytes, bytes * 4) {
                let chunk = chunk.map_err(|error| match error {
                    v2020::Error::IoError(error) => Error::io("read", name)(error),
                    other => Error::io("read", name)(std::io::Error::other(other)),
                })?;
                each(&chunk.data)?;
            }
        }
        Chunking::Fixed(bytes) => {
            if !(1..=1 << 30).contains(&bytes) {
                return Err(Error::Option("chunks of one size have 1 byte to 1 GiB"));
            }
            let mut chunk = Vec::new();
            loop {
                chunk.clear();
                let part = input.by_ref().take(u64::from(bytes)).read_to_end(&mut chunk);
                if part.map_err(Error::io("read", name))? == 0 {
                    break;
                }
                each(&chunk)?;
            }
        }
    }
    Ok(())
}
