//! Replacing a file as a whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Writes a new file beside the one at `path`, syncs it and renames it over that one, so that after
/// a crash either of them is there, whole.
pub(crate) fn replace_file(
    path: &Path,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    // What a link leads to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{}", std::process::id()));
    let temporary = path.with_file_name(temporary);
    let file = File::create(&temporary)?;
    let written = write(&file).and_then(|()| {
        if let Ok(old) = fs::metadata(&path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&temporary, &path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    // The rename itself is durable only when the directory is.
    #[cfg(unix)]
    if written.is_ok() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    }
    written
}
