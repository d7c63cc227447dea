//! Files out of a store.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use malkoha_store::{Error, FileInfo, FileKind, FileStore};
use serde::Serialize;
use serde_json::json;

use super::Place;
use super::bytes::escaped;
use super::names::{Selection, name_of, normal, path_of, select};
use super::restore::Target;
use crate::failure::{Outcome, tell};
use crate::output::print_record;

/// Restore files byte for byte, and check their hashes
#[derive(Args, Debug)]
#[command(after_help = AFTER_EXPORT)]
pub(super) struct Export {
    #[command(flatten)]
    place: Place,

    /// Names as 'ls' prints them, in any spelling; a directory includes everything below it.
    /// Default: everything
    names: Vec<OsString>,

    /// Directory to restore into; without it, one file goes to standard output
    #[arg(long, value_name = "DIRECTORY")]
    into: Option<PathBuf>,

    /// Print what was restored as a JSON record
    #[arg(long, requires = "into")]
    json: bool,
}

const AFTER_EXPORT: &str = "\
Permissions are restored as they were, whatever the umask, except set-user-ID,
set-group-ID and sticky bits, because owners are not restored. Times are
restored, except those of links. Existing files are replaced, each when the new
one is whole. Links are restored as they were, wherever they point, but nothing
is ever written through a link below the directory.";

/// Counts of restored entries.
#[derive(Default, Serialize)]
struct Sums {
    files: u64,
    directories: u64,
    links: u64,
    bytes: u64,
}

impl Export {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading()?;
        let file_store = FileStore::new(&store);
        match &self.into {
            Some(directory) => self.restore(file_store, directory),
            None => self.print(file_store),
        }
    }

    fn print(&self, file_store: FileStore<'_>) -> Result<Outcome> {
        let [name] = &self.names[..] else {
            bail!("standard output takes one file: name one, or a directory with --into");
        };
        let found = self.select(file_store)?.into_values().next();
        match found.filter(|file| normal(&file.name) == name_of(Path::new(name))) {
            Some(FileInfo { kind: FileKind::File, name, .. }) => {
                self.place.named(file_store.export(name, io::stdout().lock()))?;
                Ok(Outcome::Found)
            }
            _ => bail!(
                "'{}' is not one file: name a directory to restore into with --into",
                name.display()
            ),
        }
    }

    fn restore(&self, file_store: FileStore<'_>, directory: &Path) -> Result<Outcome> {
        let files = by_name(self.select(file_store)?)?;
        let mut sums = Sums::default();
        if !files.is_empty() {
            // All of them, before anything is written.
            let files = files.iter().map(|(name, file)| Ok((path_of(name)?, file)));
            let files: Vec<_> = files.collect::<Result<_>>()?;
            let target = Target::open(directory)?;
            for (name, file) in &files {
                self.restore_one(file_store, &target, name, file, &mut sums)?;
            }
            // The content of a directory comes after it, and so is finished before it.
            for (name, file) in files.iter().rev() {
                if file.kind == FileKind::Directory {
                    target.finish_directory(name, file.metadata)?;
                }
            }
        }
        if self.json {
            print_record(&json!(sums))?;
        }
        Ok(Outcome::found_if(!files.is_empty()))
    }

    fn restore_one(
        &self,
        file_store: FileStore<'_>,
        target: &Target,
        name: &Path,
        file: &FileInfo,
        sums: &mut Sums,
    ) -> Result<()> {
        match &file.kind {
            FileKind::File => {
                sums.files += 1;
                sums.bytes += file.bytes;
                target.file(name, file.metadata, |output| {
                    let output = BufWriter::new(output);
                    self.place.named(file_store.export(&file.name, output)).map(|_| ())
                })
            }
            FileKind::Directory => {
                sums.directories += 1;
                target.directory(name, file.metadata)
            }
            FileKind::Link(leads_to) => {
                sums.links += 1;
                target.link(name, leads_to)
            }
        }
    }

    /// The requested files; all of them must exist.
    fn select(&self, file_store: FileStore<'_>) -> Result<BTreeMap<Vec<u8>, FileInfo>> {
        let Selection { files, missing } = select(&self.place, file_store, &self.names)?;
        match missing.first() {
            Some(name) => self.place.named(Err(Error::NoFile(name.display().to_string()))),
            None => Ok(files),
        }
    }
}

/// Files by the names under which they are restored, a directory before its content. If a name has
/// several spellings, the normal one counts: the others are from programs that gave them.
fn by_name(files: BTreeMap<Vec<u8>, FileInfo>) -> Result<BTreeMap<Vec<u8>, FileInfo>> {
    let mut named: BTreeMap<Vec<u8>, FileInfo> = BTreeMap::new();
    let mut left_out = 0_u64;
    for (name, file) in files {
        let place = normal(&name);
        let Some(other) = named.get(&place) else {
            named.insert(place, file);
            continue;
        };
        if name == place {
            named.insert(place, file);
        } else if other.name != place {
            bail!(
                "'{}' and '{}' would be restored to the same place: name one of them",
                escaped(&other.name),
                escaped(&name)
            );
        }
        left_out += 1;
    }
    if named.contains_key(&b""[..]) {
        bail!(
            "'..' and the like are no names below a directory: export what has such a name to \
             standard output, and the others by their names"
        );
    }
    if left_out > 0 {
        tell(&format!(
            "malkoha: {left_out} left out, as there is another file at its name without '.' or '..'"
        ));
    }
    Ok(named)
}
