//! The names that files have in a store: paths without a slash in front, and without `.` and `..`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

#[cfg(any(not(unix), test))]
use anyhow::Context;
use anyhow::{Result, ensure};
use malkoha_store::{FileInfo, FileKind, FileStore};

use super::Place;

/// The name of a path, as tar makes it, without everything up to the last `..`, a leading slash,
/// repeated slashes, and `.`. Empty if nothing is left.
pub(super) fn name_of(path: &Path) -> Vec<u8> {
    let mut name = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => {
                if !name.is_empty() {
                    name.push(b'/');
                }
                name.extend_from_slice(part.as_encoded_bytes());
            }
            Component::ParentDir => name.clear(),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    name
}

/// Whether the name of a path omits a part that said where it was.
pub(super) fn is_cut(path: &Path) -> bool {
    path.components().any(|part| matches!(part, Component::RootDir | Component::ParentDir))
}

/// A name of a store as [`name_of`] makes it. Those that programs gave may have parts that this
/// omits.
pub(super) fn normal(name: &[u8]) -> Vec<u8> {
    let mut parts = Vec::new();
    for part in name.split(|&byte| byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => parts.clear(),
            part => parts.push(part),
        }
    }
    parts.join(&b'/')
}

/// A normal name of a store as a path.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems lack some names")]
pub(super) fn path_of(name: &[u8]) -> Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(OsStr::from_bytes(name).into())
}

/// A normal name of a store as a path, if a file of Windows can have it.
#[cfg(not(unix))]
pub(super) fn path_of(name: &[u8]) -> Result<PathBuf> {
    windows_path(name)
}

/// Names of devices on Windows, with any extension. A digit follows the last two.
#[cfg(any(not(unix), test))]
const DEVICES: [&str; 8] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "COM", "LPT"];

#[cfg(any(not(unix), test))]
fn windows_path(name: &[u8]) -> Result<PathBuf> {
    let shown = || String::from_utf8_lossy(name);
    let text = std::str::from_utf8(name).ok().with_context(|| {
        let shown = shown();
        format!("cannot write '{shown}': it is not Unicode; export it to standard output")
    })?;
    ensure!(
        text.split('/').all(is_name_of_windows),
        "cannot write '{}': Windows has no such names; export it to standard output",
        shown()
    );
    Ok(text.into())
}

/// Whether Windows accepts a part of a name for a file, and keeps it unchanged.
#[cfg(any(not(unix), test))]
fn is_name_of_windows(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end_matches(' ').to_uppercase();
    let is_device = DEVICES.iter().any(|device| match stem.strip_prefix(device) {
        Some("") => !matches!(*device, "COM" | "LPT"),
        // Windows treats superscript digits as digits.
        Some(rest) if matches!(*device, "COM" | "LPT") => {
            let mut digits = rest.chars();
            digits.next().is_some_and(|it| "0123456789\u{b9}\u{b2}\u{b3}".contains(it))
                && digits.next().is_none()
        }
        _ => false,
    });
    let is_odd = |it: char| r#"\:*?"<>|"#.contains(it) || it < ' ';
    !is_device && !part.contains(is_odd) && !part.ends_with(['.', ' '])
}

/// Requested files.
#[derive(Default)]
pub(super) struct Selection {
    /// Files by their names in the store.
    pub(super) files: BTreeMap<Vec<u8>, FileInfo>,
    /// Names that do not exist.
    pub(super) missing: Vec<OsString>,
}

/// The files that `names` mean, in any spelling: for a directory, itself and everything below it;
/// without names, all files.
pub(super) fn select(
    place: &Place,
    file_store: FileStore<'_>,
    names: &[OsString],
) -> Result<Selection> {
    let mut selection = Selection::default();
    let mut directories = Vec::new();
    for name in names {
        ensure!(!name.is_empty(), "a name is empty: names are as 'ls' prints them");
        match exact(place, file_store, name)? {
            Some(file) if file.kind != FileKind::Directory => {
                selection.files.insert(file.name.clone(), file);
            }
            _ => directories.push((name_of(Path::new(name)), name, false)),
        }
    }
    if directories.is_empty() && !names.is_empty() {
        return Ok(selection);
    }
    for file in place.named(file_store.files())? {
        let name = normal(&file.name);
        let mut is_meant = names.is_empty();
        for (directory, _, found) in &mut directories {
            if is_at_or_below(&name, directory) {
                (is_meant, *found) = (true, true);
            }
        }
        if is_meant {
            selection.files.insert(file.name.clone(), file);
        }
    }
    let missing = directories.into_iter().filter(|(_, _, found)| !found);
    selection.missing = missing.map(|(_, name, _)| name.clone()).collect();
    Ok(selection)
}

/// The file with exactly this name, or with the name that this is a spelling of.
fn exact(place: &Place, file_store: FileStore<'_>, name: &OsStr) -> Result<Option<FileInfo>> {
    let found = place.named(file_store.info(name.as_encoded_bytes()))?;
    if found.is_some() {
        return Ok(found);
    }
    let name = name_of(Path::new(name));
    if name.is_empty() { Ok(None) } else { place.named(file_store.info(name)) }
}

fn is_at_or_below(name: &[u8], directory: &[u8]) -> bool {
    directory.is_empty()
        || name
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_lacks_are_refused() {
        for name in
            ["a", "a/b.c", ".a", "null", "COM", "com10", "CONS/lpt.txt", "auxiliary", "\u{fc}"]
        {
            assert_eq!(windows_path(name.as_bytes()).unwrap(), Path::new(name));
        }
        for name in [
            "NUL",
            "nul.txt",
            "a/Con",
            "aux .c",
            "COM1",
            "lpt9.log",
            "COM\u{b2}",
            "conin$",
            "a\\b",
            "..\\a",
            "c:a",
            "a/b.",
            "a ",
            "b?",
            "tab\t",
        ] {
            let error = windows_path(name.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("Windows has no such names"), "{name}: {error}");
        }
        for name in [&b"\xff"[..], b"a/\xed\xa0\x80"] {
            assert!(windows_path(name).unwrap_err().to_string().contains("is not Unicode"));
        }
    }
}
