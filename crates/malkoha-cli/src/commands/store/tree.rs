//! The content of a directory, for an import.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use malkoha_store::{FileKind, Metadata};
use same_file::Handle;

use super::names::name_of;
use crate::failure::{tell, warn};

/// An entry to be stored under a name.
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) name: Vec<u8>,
    pub(super) kind: FileKind,
    pub(super) metadata: Metadata,
    pub(super) bytes: u64,
}

/// The content of the named paths, in order.
pub(super) struct Tree {
    pub(super) found: Vec<Found>,
    /// Where in `found` a name is.
    names: HashMap<Vec<u8>, usize>,
    /// The directory of the store, if there is one.
    store: Option<Handle>,
    /// Skipped entries, which were reported.
    pub(super) skipped: u64,
    /// Entries that cannot be stored, which were reported.
    pub(super) failed: u64,
}

impl Tree {
    /// Nothing yet. The store's own directory will be skipped.
    pub(super) fn new(store: &Path) -> Self {
        let (found, names) = (Vec::new(), HashMap::new());
        Self { found, names, store: Handle::from_path(store).ok(), skipped: 0, failed: 0 }
    }

    /// Adds a named path: a link is followed.
    pub(super) fn add_named(&mut self, path: &Path) -> Result<()> {
        let metadata = fs::metadata(path).with_context(|| cannot_open(path))?;
        if metadata.is_dir() || metadata.is_file() {
            return self.add(path, &metadata);
        }
        // A pipe or something similar: it has no length, and its mode is not that of a file.
        self.push(Found::new(path, FileKind::File, Metadata::default(), 0))
    }

    fn add(&mut self, path: &Path, metadata: &fs::Metadata) -> Result<()> {
        let kind = metadata.file_type();
        if kind.is_file() {
            self.push(Found::new(path, FileKind::File, kept(metadata), metadata.len()))
        } else if kind.is_dir() {
            self.add_directory(path, metadata)
        } else if kind.is_symlink() {
            match fs::read_link(path) {
                Ok(target) => {
                    let kind = FileKind::Link(target.into_os_string().into_encoded_bytes());
                    self.push(Found::new(path, kind, Metadata::default(), 0))
                }
                Err(error) => {
                    self.fail(path, error);
                    Ok(())
                }
            }
        } else {
            self.skip(path, "it is a socket, a pipe or a device");
            Ok(())
        }
    }

    fn add_directory(&mut self, path: &Path, metadata: &fs::Metadata) -> Result<()> {
        if self.store.is_some() && Handle::from_path(path).ok() == self.store {
            self.skip(path, "it is the store itself");
            return Ok(());
        }
        self.push(Found::new(path, FileKind::Directory, kept(metadata), 0))?;
        let paths = match entries(path) {
            Ok(paths) => paths,
            Err(error) => {
                self.fail(path, error);
                return Ok(());
            }
        };
        for path in paths {
            match fs::symlink_metadata(&path) {
                Ok(metadata) => self.add(&path, &metadata)?,
                Err(error) => self.fail(&path, error),
            }
        }
        Ok(())
    }

    fn push(&mut self, found: Found) -> Result<()> {
        if found.name.is_empty() {
            // `.`, `..` or `/`: only its content has names.
            return Ok(());
        }
        if let Some(&at) = self.names.get(&found.name) {
            let before = &mut self.found[at];
            if !is_same(&before.path, &found.path) {
                bail!(
                    "'{}' and '{}' would have the same name in the store, '{}': rename one of \
                     them, or use two stores",
                    before.path.display(),
                    found.path.display(),
                    String::from_utf8_lossy(&found.name),
                );
            }
            *before = found;
            return Ok(());
        }
        self.names.insert(found.name.clone(), self.found.len());
        self.found.push(found);
        Ok(())
    }

    fn skip(&mut self, path: &Path, why: &str) {
        self.skipped += 1;
        tell(&format!("malkoha: '{}' is skipped: {why}", path.display()));
    }

    fn fail(&mut self, path: &Path, error: io::Error) {
        self.failed += 1;
        warn(&anyhow::Error::new(error).context(cannot_open(path)));
    }
}

impl Found {
    fn new(path: &Path, kind: FileKind, metadata: Metadata, bytes: u64) -> Self {
        Self { path: path.to_owned(), name: name_of(path), kind, metadata, bytes }
    }
}

/// The metadata that a store keeps.
fn kept(metadata: &fs::Metadata) -> Metadata {
    #[cfg(unix)]
    let mode = {
        use std::os::unix::fs::PermissionsExt;
        Some(metadata.permissions().mode() & 0o7777)
    };
    #[cfg(not(unix))]
    let mode = None;
    Metadata { mode, modified: metadata.modified().ok() }
}

/// The content of a directory, by name.
fn entries(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path()));
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_unstable();
    Ok(entries)
}

/// Whether two paths are spellings of the same one.
fn is_same(a: &Path, b: &Path) -> bool {
    fn parts(path: &Path) -> impl Iterator<Item = Component<'_>> {
        path.components().filter(|part| *part != Component::CurDir)
    }
    parts(a).eq(parts(b))
}

/// The beginning of an error about a path.
pub(super) fn cannot_open(path: &Path) -> String {
    format!("cannot open '{}'", path.display())
}
