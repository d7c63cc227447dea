//! Output files that appear whole or not at all: written to the same directory, then renamed.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use malkoha::tables::Lookup;
use malkoha::{Content, Filter, FilterView, ReadError};

use super::{Draft, Held, stdout};
use crate::failure::CANNOT_WRITE;
use crate::input::{is_dash, name};

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

/// Writes the whole content of a file.
pub(crate) type Contents<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// Writes a file at `path`, or to standard output for `-`.
///
/// Readers of `path` see the old file or the new one, never a part. The new one has the old one's
/// permissions, and its owner as far as possible. A device or pipe is written to as it is.
pub(crate) fn replace(path: &Path, overwrite: Overwrite, contents: &Contents<'_>) -> Result<()> {
    write_to(path, overwrite, None, contents)
}

/// Replaces a file that is held by a filter, which is then held. Another file that has taken its
/// place stays.
pub(crate) fn replace_held<T: Lookup, C: Content>(
    path: &Path,
    overwrite: Overwrite,
    held: &mut Held,
    filter: &Filter<T, C>,
) -> Result<()> {
    write_to(path, overwrite, Some(held), &|out| filter.write_to(out))
}

fn write_to(
    path: &Path,
    overwrite: Overwrite,
    held: Option<&mut Held>,
    contents: &Contents<'_>,
) -> Result<()> {
    if is_dash(path) {
        stdout::is_open()?;
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
            write_next_to(&target, Some(&metadata), overwrite, held, contents).with_context(failed)
        }
        // A link may lead to a file that does not exist yet.
        Err(_) => {
            let target = destination(path).with_context(failed)?;
            match write_next_to(&target, None, overwrite, held, contents) {
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

fn write_next_to(
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

fn write(out: impl Write, contents: &Contents<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    contents(&mut out)?;
    out.flush()
}

/// Whether the file begins as filters do; it can still be damaged or of a newer version.
pub(crate) fn is_filter(path: &Path) -> bool {
    if is_dash(path) || !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SIGNATURE_BYTES).read_to_end(&mut start));
    read.is_ok() && !matches!(FilterView::view(&start), Err(ReadError::Signature))
}
