//! The files below directories, in the order of their names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::{is_dash, name};
use crate::failure::pass_over;

/// The files of `paths`, and all regular files below those that are directories, as `grep -r` has
/// them: links are followed if they are named, but not below directories. Without any path, the
/// files below the working directory.
pub(crate) fn files_below(paths: &[PathBuf]) -> Vec<PathBuf> {
    walk(paths, false)
}

/// The same with links, which are followed, and everything else that is no directory, because
/// people keep data sets as directories of links. Links to directories that are read in any case,
/// or that have this one in them, are among the files. The caller says which ones it does not read.
pub(crate) fn all_below(paths: &[PathBuf]) -> Vec<PathBuf> {
    walk(paths, true)
}

fn walk(paths: &[PathBuf], all: bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if paths.is_empty() {
        below(Path::new("."), all, &mut files);
        // It was not named.
        for file in &mut files {
            *file = file.strip_prefix(".").unwrap_or(file).to_path_buf();
        }
    }
    for path in paths {
        if !is_dash(path) && path.is_dir() {
            below(path, all, &mut files);
        } else {
            files.push(path.clone());
        }
    }
    files
}

fn below(directory: &Path, all: bool, files: &mut Vec<PathBuf>) {
    // Entries that are still to be looked at, the next one last.
    let mut waiting = vec![(directory.to_path_buf(), true)];
    let (root, mut linked) = (fs::canonicalize(directory).unwrap_or_default(), HashSet::new());
    while let Some((path, is_directory)) = waiting.pop() {
        let is_elsewhere = |to: &PathBuf| !to.starts_with(&root) && !root.starts_with(to);
        let target = || fs::canonicalize(&path).ok().filter(is_elsewhere);
        let is_link = all && !is_directory && path.is_dir();
        if is_directory || is_link && target().is_some_and(|to| linked.insert(to)) {
            waiting.append(&mut entries(&path, all));
        } else {
            files.push(path);
        }
    }
}

/// The regular files and directories in a directory, or all in it, with the first name last. One
/// that cannot be read is reported and skipped.
fn entries(directory: &Path, all: bool) -> Vec<(PathBuf, bool)> {
    let mut entries = Vec::new();
    let mut read = || {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() || kind.is_file() || all {
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
