//! Directories that are durable once they are made.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a directory, and those above it that are not there. A directory is durable only when the
/// one above it is synced: all that got something new are.
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

/// Makes what a directory has durable: the names of its files, not their bytes.
#[cfg(unix)]
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    // A name without a slash lies in the working directory.
    let path = if path == Path::new("") { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}

/// Windows cannot sync a directory: NTFS keeps names by its journal, in their order, and later
/// syncs of files write that too.
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
        // What is half a copy goes; the first error is the one to tell.
        let _ = fs::remove_file(to);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store that was made in a new directory, and what `Always` had told of it, went away whole in a
    /// power cut: nothing had synced the directory above.
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
