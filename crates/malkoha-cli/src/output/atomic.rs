//! Output files that appear whole or not at all: written beside their place, then renamed.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use malkoha::tables::Lookup;
use malkoha::{Content, Filter, FilterView, ReadError};

use crate::failure::CANNOT_WRITE;
use crate::input::{is_stdin, name};

/// Bytes of a file that say what it is.
const SIGNATURE_BYTES: u64 = 8;

/// What may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// Only filter files, and files without content.
    Filters,
    /// Any file.
    Anything,
}

/// Writes the filter to `path`, or to standard output for `-`.
///
/// Readers of `path` see the old file or the new one, never a part. The new one has the old one's
/// permissions. A device or pipe is written to as it is.
pub(crate) fn replace<T: Lookup, C: Content>(
    path: &Path,
    overwrite: Overwrite,
    filter: &Filter<T, C>,
) -> Result<()> {
    if is_stdin(path) {
        return write(io::stdout().lock(), filter).context(CANNOT_WRITE);
    }
    let failed = || format!("cannot write {}", name(path));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => bail!("{}: it is a directory", failed()),
        Ok(metadata) if !metadata.is_file() => {
            let device = OpenOptions::new().write(true).open(path).with_context(failed)?;
            write(device, filter).with_context(failed)
        }
        Ok(metadata) => {
            if overwrite == Overwrite::Filters && metadata.len() > 0 && !is_filter(path) {
                bail!(
                    "{} exists and is not a filter: name another file, or overwrite it with --force",
                    name(path)
                );
            }
            // The file that a link leads to is replaced, not the link.
            let target = path.canonicalize().with_context(failed)?;
            write_beside(&target, Some(metadata.permissions()), filter).with_context(failed)
        }
        Err(_) => write_beside(path, None, filter).with_context(failed),
    }
}

fn write_beside<T: Lookup, C: Content>(
    target: &Path,
    permissions: Option<Permissions>,
    filter: &Filter<T, C>,
) -> io::Result<()> {
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".malkoha-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Less the process's umask, as for any new file.
        builder.permissions(Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(&directory).map_err(without_path)?;
    write(file.as_file(), filter)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    // The rename itself must survive a power cut too. Directories cannot be opened everywhere.
    if let Ok(directory) = File::open(directory) {
        directory.sync_all()?;
    }
    Ok(())
}

/// The error without the temporary file's name, which says nothing to anybody.
fn without_path(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

fn write<T: Lookup, C: Content>(out: impl Write, filter: &Filter<T, C>) -> io::Result<()> {
    filter.write_to(BufWriter::new(out))
}

/// Whether the file begins as filters do; it may be damaged or of a newer version otherwise.
fn is_filter(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SIGNATURE_BYTES).read_to_end(&mut start));
    read.is_ok() && !matches!(FilterView::view(&start), Err(ReadError::Signature))
}
