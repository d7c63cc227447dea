//! Files that get their names when they are complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that gets its name when it is complete.
pub(crate) struct Draft {
    directory: PathBuf,
    file: Unnamed,
}

enum Unnamed {
    /// Nothing of it remains if the process is killed.
    Nameless(File),
    Temporary(NamedTempFile),
}

impl Draft {
    /// In the directory of `target`.
    pub(crate) fn of(target: &Path) -> io::Result<Self> {
        let directory = match target.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let file = match nameless(&directory) {
            Some(file) => Unnamed::Nameless(file),
            None => {
                let file = Self::builder().tempfile_in(&directory).map_err(without_path)?;
                Unnamed::Temporary(file)
            }
        };
        Ok(Self { directory, file })
    }

    fn builder() -> tempfile::Builder<'static, 'static> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).rand_bytes(RANDOM);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Less the process's umask, as for any new file.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder
    }

    pub(crate) fn file(&self) -> &File {
        match &self.file {
            Unnamed::Nameless(file) => file,
            Unnamed::Temporary(file) => file.as_file(),
        }
    }

    /// Gives the file its name, in place of one that has it if `overwrite` says so. Its content and
    /// its name then survive a power cut.
    pub(crate) fn publish(self, target: &Path, overwrite: bool) -> io::Result<()> {
        self.file().sync_all()?;
        let path = match self.file {
            Unnamed::Nameless(file) => {
                // At once where there is no other file of that name.
                match link(&file, target) {
                    Err(error) if overwrite && error.kind() == io::ErrorKind::AlreadyExists => {}
                    named => return named.and_then(|()| sync_names(&self.directory)),
                }
                // If the process is killed before the next call, the complete file keeps this name.
                let named = Self::builder().make_in(&self.directory, |path| link(&file, path));
                named.map_err(without_path)?.into_temp_path()
            }
            Unnamed::Temporary(file) => file.into_temp_path(),
        };
        let published =
            if overwrite { path.persist(target) } else { path.persist_noclobber(target) };
        published.map_err(|error| error.error)?;
        sync_names(&self.directory)
    }

    /// Removes drafts that killed processes left in a directory. An error is ignored.
    pub(crate) fn sweep(directory: &Path) {
        let Ok(entries) = fs::read_dir(directory) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().map(|name| name.to_string_lossy());
            let random = name.as_ref().and_then(|name| name.strip_prefix(PREFIX));
            let is_draft = |random: &str| {
                random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            if random.is_some_and(is_draft) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Names of drafts: this, and this many random letters and digits.
const PREFIX: &str = ".malkoha-";
const RANDOM: usize = 6;

/// Lets the names in a directory survive a power cut. Directories cannot be opened everywhere.
fn sync_names(directory: &Path) -> io::Result<()> {
    File::open(directory).map_or(Ok(()), |directory| directory.sync_all())
}

/// A file without a name, of which nothing remains if the process is killed before it gets one; if
/// the file system has such files.
#[cfg(target_os = "linux")]
fn nameless(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(directory, flags, Mode::from_raw_mode(0o666)).ok()?);
    // Without /proc it could not get a name.
    Path::new(&open_path(&file)).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};

    rustix::fs::linkat(CWD, open_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn open_path(file: &File) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The error without the temporary file's name, which would help nobody.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}
