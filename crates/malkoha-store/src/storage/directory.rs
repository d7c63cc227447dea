//! Directories that are durable once they are created.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a directory and its missing parents. A directory is durable only when its parent is
/// synced, so each directory with a new entry is synced.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    let changed = changed_by_making(path);
    fs::create_dir_all(path)?;
    changed.into_iter().try_for_each(sync_directory)
}

/// Directories that get something new when one is made, the outermost first.
fn changed_by_making(path: &Path) -> Vec<&Path> {
    let new: Vec<&Path> = path.ancestors().take_while(|it| is_missing(it)).collect();
    new.into_iter().rev().filter_map(Path::parent).collect()
}

fn is_missing(path: &Path) -> bool {
    path != Path::new("") && !path.exists()
}

/// Makes the entries of a directory durable: the names of its files, not their bytes.
#[cfg(unix)]
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    // A name without a slash lies in the working directory.
    let path = if path == Path::new("") { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}

/// Windows cannot sync a directory: NTFS keeps names in its journal, in order, and later syncs of
/// files write that too.
#[cfg(windows)]
pub(crate) fn sync_directory(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// A new file at `to` that has the same bytes; durable when it returns.
pub(super) fn copy(from: &mut File, to: &Path) -> io::Result<()> {
    let mut copy = OpenOptions::new().write(true).create_new(true).open(to)?;
    let copied = from.metadata().and_then(|metadata| {
        copy.set_permissions(metadata.permissions())?;
        io::copy(from, &mut copy)?;
        copy.sync_all()
    });
    copied.inspect_err(|_| {
        // Removes the incomplete copy, and reports the first error.
        let _ = fs::remove_file(to);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A power cut once removed a whole store in a new directory, with writes that `Always` had
    /// acknowledged, because nothing had synced the parent directory.
    #[test]
    fn what_gets_a_directory_is_synced() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("a/b"));
        let c = b.join("c");
        assert_eq!(changed_by_making(&c), [dir.path(), &a, &b]);
        make_directories(&b).unwrap();
        assert_eq!(changed_by_making(&c), [&b]);
        make_directories(&c).unwrap();
        assert!(changed_by_making(&c).is_empty());
        assert_eq!(changed_by_making(Path::new("not there")), [Path::new("")]);
    }
}
