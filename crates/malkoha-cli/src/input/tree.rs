//! The files below directories, in the order of their names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{is_stdin, name};
use crate::failure::pass_over;

/// The files of `paths`, and all regular files below those that are directories, as `grep -r` has
/// them: links are followed if they are named, but not below directories. Without any path, the
/// files below the working directory.
pub(crate) fn files_below(paths: &[PathBuf]) -> Vec<PathBuf> {
    walk(paths, Links::Skip)
}

/// The same with links to files, because people keep data sets as directories of links.
pub(crate) fn linked_files_below(paths: &[PathBuf]) -> Vec<PathBuf> {
    walk(paths, Links::ToFiles)
}

/// Which links below directories are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Skip,
    ToFiles,
}

fn walk(paths: &[PathBuf], links: Links) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if paths.is_empty() {
        below(Path::new("."), links, &mut files);
        // It was not named.
        for file in &mut files {
            *file = file.strip_prefix(".").unwrap_or(file).to_path_buf();
        }
    }
    for path in paths {
        if !is_stdin(path) && path.is_dir() {
            below(path, links, &mut files);
        } else {
            files.push(path.clone());
        }
    }
    files
}

fn below(directory: &Path, links: Links, files: &mut Vec<PathBuf>) {
    // Entries that are still to be looked at, the next one last.
    let mut waiting = entries(directory, links);
    while let Some((path, is_directory)) = waiting.pop() {
        if is_directory { waiting.append(&mut entries(&path, links)) } else { files.push(path) }
    }
}

/// The regular files and directories in a directory, with the first name last. One that cannot be
/// read is reported and skipped.
fn entries(directory: &Path, links: Links) -> Vec<(PathBuf, bool)> {
    let mut entries = Vec::new();
    let mut read = || {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let is_linked =
                || links == Links::ToFiles && kind.is_symlink() && entry.path().is_file();
            if kind.is_dir() || kind.is_file() || is_linked() {
                entries.push((entry.path(), kind.is_dir()));
            }
        }
        std::io::Result::Ok(())
    };
    if let Err(error) = read().with_context(|| format!("cannot read {}", name(directory))) {
        pass_over(&error);
    }
    entries.sort_unstable_by(|a, b| b.0.cmp(&a.0));
    entries
}
