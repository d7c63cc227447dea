//! Replacing a file as a whole.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Writes a new file into the folder of `path`, syncs it, and renames it over the file there. After
/// a crash one of the two is there, whole. A device or a pipe is written to as it is, except on
/// Windows, and is not synced.
///
/// # Errors
///
/// If the file cannot be written. An earlier file at `path` is then unchanged.
pub fn replace_file(path: &Path, write: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    // The target of a link is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file() && !old.is_dir()) {
        let file = OpenOptions::new().write(true).open(&path)?;
        if file.metadata()?.is_file() {
            return Err(io::Error::other("it has become a file meanwhile, which is left as it is"));
        }
        return write(&file);
    }
    if old.as_ref().is_some_and(Metadata::is_file) {
        // That the folder can be changed is no reason to replace what may not be written to.
        OpenOptions::new().write(true).open(&path)?;
    }
    let (file, temporary) = new_file_near(&path, old.as_ref())?;
    let written = write(&file).and_then(|()| {
        if let Some(old) = &old {
            take_after(&file, old)?;
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

/// Gives a file the permissions of an old one, and its group and owner if the process may.
///
/// # Errors
///
/// If permissions cannot be set.
pub fn take_after(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};

        let new = file.metadata()?;
        if new.gid() != old.gid() {
            let _ = fchown(file, None, Some(old.gid()));
        }
        if new.uid() != old.uid() {
            let _ = fchown(file, Some(old.uid()), None);
        }
    }
    // Last, because a new owner takes some of them away.
    file.set_permissions(old.permissions())
}

/// A file that nobody else uses, whatever other threads and processes save at the same time. Its
/// name is short, since that of `path` can be as long as names can be. Nobody can read it who could
/// not read a file with these permissions, because it may hold the key of a hash.
fn new_file_near(path: &Path, old: Option<&Metadata>) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    if let Some(old) = old {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        options.mode(old.mode() & 0o777);
    }
    #[cfg(not(unix))]
    let _ = old;
    loop {
        let number = NUMBER.fetch_add(1, Relaxed);
        let temporary = path.with_file_name(format!(".malkoha.{}.{number}", std::process::id()));
        match options.open(&temporary) {
            // Left by an earlier process with this id that was killed, or put there as a trap.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((file?, temporary)),
        }
    }
}

#[cfg(all(test, unix, not(any(loom, shuttle))))]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_only_its_owner_may_read_stays_so_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.mlk");
        fs::write(&path, "old").unwrap();
        let mode = |of: Metadata| of.permissions().mode() & 0o777;
        for wanted in [0o600, 0o620, 0o640] {
            fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
            replace_file(&path, |file| {
                assert_eq!(mode(file.metadata()?) & !wanted, 0);
                Ok(())
            })
            .unwrap();
            assert_eq!(mode(fs::metadata(&path).unwrap()), wanted);
        }
    }
}
