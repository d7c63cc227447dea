//! Replacing a file as a whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Writes a new file beside the one at `path`, syncs it and renames it over that one, so that after
/// a crash either of them is there, whole.
pub(crate) fn replace_file(
    path: &Path,
    write: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    // What a link leads to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let (file, temporary) = new_file_beside(&path)?;
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

/// A file that nobody else has, whatever other threads and processes save at the same time. Its
/// name is short, since that of `path` may be as long as names can be.
fn new_file_beside(path: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Relaxed);
        let temporary = path.with_file_name(format!(".malkoha.{}.{number}", std::process::id()));
        match File::create_new(&temporary) {
            // Left by a process with this id that was ended, or put there as a trap.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((file?, temporary)),
        }
    }
}
