//! Output files that appear whole or not at all: written to the same directory, then renamed.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use malkoha::tables::Lookup;
use malkoha::{Content, Filter, FilterView, ReadError};
use tempfile::NamedTempFile;

use super::{Held, stdout};
use crate::failure::CANNOT_WRITE;
use crate::input::{is_stdin, name};

/// The first bytes of a file that identify it.
const SIGNATURE_BYTES: u64 = 8;

/// Which existing files can be replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Overwrite {
    /// No file: one that exists, or is created meanwhile, stays.
    Nothing,
    /// Only filter files, and files without content.
    Filters,
    /// Only files of which this is true, and files without content.
    Only(fn(&Path) -> bool),
    /// Any file.
    Anything,
}

/// Writes the filter to `path`, or to standard output for `-`.
///
/// Readers of `path` see the old file or the new one, never a part. The new one has the old one's
/// permissions, and its owner as far as possible. A device or pipe is written to as it is.
pub(crate) fn replace<T: Lookup, C: Content>(
    path: &Path,
    overwrite: Overwrite,
    filter: &Filter<T, C>,
) -> Result<()> {
    replace_with(path, overwrite, &|out| filter.write_to(out))
}

/// The same for a file that is held, as the new one then is. Another one that has taken its place
/// stays.
pub(crate) fn replace_held<T: Lookup, C: Content>(
    path: &Path,
    overwrite: Overwrite,
    held: &mut Held,
    filter: &Filter<T, C>,
) -> Result<()> {
    write_to(path, overwrite, Some(held), &|out| filter.write_to(out))
}

/// Writes the whole content of a file.
pub(crate) type Contents<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// [`replace`] for any content.
pub(crate) fn replace_with(
    path: &Path,
    overwrite: Overwrite,
    contents: &Contents<'_>,
) -> Result<()> {
    write_to(path, overwrite, None, contents)
}

fn write_to(
    path: &Path,
    overwrite: Overwrite,
    held: Option<&mut Held>,
    contents: &Contents<'_>,
) -> Result<()> {
    if is_stdin(path) {
        stdout::is_open().context(CANNOT_WRITE)?;
        if io::stdout().is_terminal() && matches!(overwrite, Overwrite::Filters) {
            bail!("a filter is no text for a terminal: name a file, or send it there with --force");
        }
        return write(io::stdout().lock(), contents).context(CANNOT_WRITE);
    }
    let failed = || format!("cannot write {}", name(path));
    match fs::metadata(path) {
        Ok(_) if matches!(overwrite, Overwrite::Nothing) => Ok(()),
        Ok(metadata) if metadata.is_dir() => bail!("{}: it is a directory", failed()),
        Ok(metadata) if !metadata.is_file() => {
            let device = OpenOptions::new().write(true).open(path).with_context(failed)?;
            write(device, contents).with_context(failed)
        }
        Ok(metadata) => {
            match overwrite {
                Overwrite::Filters if metadata.len() > 0 && !is_filter(path) => bail!(
                    "{} exists and is not a filter: name another file, or overwrite it with --force",
                    name(path)
                ),
                Overwrite::Only(is_one) if metadata.len() > 0 && !is_one(path) => {
                    bail!("{} exists and is of another kind: move it elsewhere", name(path));
                }
                _ => {}
            }
            // The file that a link leads to is replaced, not the link.
            let target = path.canonicalize().with_context(failed)?;
            // That its folder can be changed is no reason to replace what may not be written to.
            OpenOptions::new().write(true).open(&target).with_context(failed)?;
            write_beside(&target, Some(&metadata), overwrite, held, contents).with_context(failed)
        }
        // A link may lead to a file that does not exist yet.
        Err(_) => {
            let target = destination(path).with_context(failed)?;
            match write_beside(&target, None, overwrite, held, contents) {
                Err(error)
                    if matches!(overwrite, Overwrite::Nothing)
                        && error.kind() == io::ErrorKind::AlreadyExists =>
                {
                    Ok(())
                }
                written => written.with_context(failed),
            }
        }
    }
}

fn write_beside(
    target: &Path,
    old: Option<&Metadata>,
    overwrite: Overwrite,
    held: Option<&mut Held>,
    contents: &Contents<'_>,
) -> io::Result<()> {
    let draft = Draft::of(target)?;
    // Before others could read what they may not.
    old.map_or(Ok(()), |old| malkoha::take_after(draft.file(), old))?;
    write(draft.file(), contents)?;
    let replaces = !matches!(overwrite, Overwrite::Nothing);
    let Some(held) = held else { return draft.publish(target, replaces) };
    // Before it has the name by which others find it.
    let written = Held::written(draft.file())?;
    // Takes a while, in which the other file may come.
    draft.file().sync_all()?;
    if !held.is_at(target)? {
        return Err(io::Error::other("another file has taken its place meanwhile, and stays"));
    }
    draft.publish(target, replaces && held.is_some())?;
    *held = written;
    Ok(())
}

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

/// Names of drafts: this, and so many random letters and digits.
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

/// The most links that are followed; the system has the same limit.
const MOST_LINKS: u32 = 40;

/// The target of the links at `path`, even if there is no file.
fn destination(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead on from it"))
}

/// The error without the temporary file's name, which would help nobody.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

fn write(out: impl Write, contents: &Contents<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    contents(&mut out)?;
    out.flush()
}

/// Whether the file begins as filters do; it can still be damaged or of a newer version.
pub(crate) fn is_filter(path: &Path) -> bool {
    if is_stdin(path) || !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SIGNATURE_BYTES).read_to_end(&mut start));
    read.is_ok() && !matches!(FilterView::view(&start), Err(ReadError::Signature))
}
