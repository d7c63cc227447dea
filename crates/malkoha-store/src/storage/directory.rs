//! Directories that are durable once they are made.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a directory, and those above it that are not there. A directory is durable only when the
/// one above it is synced: all that got something new are.
pub(crate) fn make_directories(path: &Path) -> io::Result<()> {
    let new: Vec<&Path> = path.ancestors().take_while(|it| is_missing(it)).collect();
    fs::create_dir_all(path)?;
    new.into_iter().rev().filter_map(Path::parent).try_for_each(sync_directory)
}

fn is_missing(path: &Path) -> bool {
    path != Path::new("") && !path.exists()
}

/// Makes what a directory has durable: the names of its files, not their bytes.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    // A name without a slash lies in the working directory.
    let path = if path == Path::new("") { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}
