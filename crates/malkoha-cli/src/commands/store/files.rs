//! Whole files, cut into chunks that are stored once.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::HumanBytes;
use malkoha_store::{Chunking, Digest, Library};
use serde_json::json;

use super::Place;
use crate::failure::Outcome;
use crate::output::tell;
use crate::progress::Progress;
use crate::screen::print_record;

/// Store files and whole directories; equal parts take space once
#[derive(Args, Debug)]
pub(super) struct Import {
    #[command(flatten)]
    place: Place,

    /// Files and directories
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Cut after every so many bytes, not where the content says so
    #[arg(long, value_name = "BYTES")]
    fixed: Option<u32>,

    /// Know chunks by their SHA-256, not by their SHA-1
    #[arg(long)]
    sha256: bool,

    /// Print the result as a JSON record
    #[arg(long)]
    json: bool,

    /// Show no progress bar and no summary
    #[arg(short, long)]
    quiet: bool,
}

/// Restore files byte for byte, and compare them with their hashes
#[derive(Args, Debug)]
pub(super) struct Export {
    #[command(flatten)]
    place: Place,

    /// Names as 'ls' prints them; none is all
    names: Vec<String>,

    /// Directory to restore into; without it one file goes to standard output
    #[arg(long, value_name = "DIRECTORY")]
    into: Option<PathBuf>,
}

/// List the files in a store
#[derive(Args, Debug)]
pub(super) struct Ls {
    #[command(flatten)]
    place: Place,

    /// Print a JSON record for each file
    #[arg(long)]
    json: bool,
}

/// Forget files; 'gc' removes what only they had
#[derive(Args, Debug)]
pub(super) struct Rm {
    #[command(flatten)]
    place: Place,

    /// Names as 'ls' prints them
    #[arg(required = true)]
    names: Vec<String>,
}

/// Remove chunks that no file has, and give their space back
#[derive(Args, Debug)]
pub(super) struct Gc {
    #[command(flatten)]
    place: Place,
}

impl Import {
    pub(super) fn run(&self) -> Result<Outcome> {
        let mut files = Vec::new();
        for path in &self.files {
            list(path, &mut files)?;
        }
        let total = files.iter().map(|(_, bytes)| bytes).sum();
        let store = self.place.writing(true)?;
        let library = Library::new(&store);
        let chunking = self.fixed.map_or_else(Chunking::default, Chunking::Fixed);
        let digest = if self.sha256 { Digest::Sha256 } else { Digest::Sha1 };
        let progress = Progress::new("Importing", Some(total), self.quiet);
        let (mut bytes, mut chunks, mut new_bytes) = (0, 0, 0);
        for (path, _) in &files {
            let Some(name) = path.to_str() else {
                bail!("'{}' cannot be stored: its name is no text", path.display());
            };
            let file = File::open(path).with_context(|| format!("cannot open '{name}'"))?;
            let input = Counted { file, progress: &progress };
            let import = self.place.named(library.import(name, input, chunking, digest))?;
            bytes += import.bytes;
            chunks += import.chunks;
            new_bytes += import.new_bytes;
        }
        self.place.named(store.close())?;
        drop(progress);
        let count = files.len();
        if self.json {
            print_record(&json!({
                "files": count, "bytes": bytes, "chunks": chunks, "new_bytes": new_bytes,
            }))?;
        } else if !self.quiet {
            let (bytes, new) = (HumanBytes(bytes), HumanBytes(new_bytes));
            tell(&format!("{count} files of {bytes} in {chunks} chunks, {new} of them new"));
        }
        Ok(Outcome::found_if(count > 0))
    }
}

/// All files at a path, with their bytes, by name.
fn list(path: &Path, files: &mut Vec<(PathBuf, u64)>) -> Result<()> {
    let failed = || format!("cannot open '{}'", path.display());
    let metadata = fs::metadata(path).with_context(failed)?;
    if !metadata.is_dir() {
        files.push((path.to_owned(), metadata.len()));
        return Ok(());
    }
    let entries = fs::read_dir(path).with_context(failed)?;
    let mut entries = entries.collect::<io::Result<Vec<_>>>().with_context(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        // Links inside a directory may lead anywhere, in circles too; devices never end.
        let kind = entry.file_type().with_context(failed)?;
        if kind.is_dir() || kind.is_file() {
            list(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// A file whose reading shows.
struct Counted<'a> {
    file: File,
    progress: &'a Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.progress.advance(bytes);
        Ok(bytes)
    }
}

impl Export {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading()?;
        let library = Library::new(&store);
        let Some(directory) = &self.into else {
            let [name] = &self.names[..] else {
                bail!("standard output takes one file: name one, or a directory with --into");
            };
            self.place.named(library.export(name, io::stdout().lock()))?;
            return Ok(Outcome::Found);
        };
        let mut names = self.names.clone();
        if names.is_empty() {
            names.extend(self.place.named(library.files())?.into_iter().map(|file| file.name));
        }
        for name in &names {
            let path = directory.join(inside(name)?);
            let failed = || format!("cannot write '{}'", path.display());
            let parent = path.parent().unwrap_or(directory);
            fs::create_dir_all(parent).with_context(failed)?;
            // Whole or not at all: what is there under the name stays until the new file is whole.
            let mut new = tempfile::NamedTempFile::new_in(parent).with_context(failed)?;
            self.place.named(library.export(name, BufWriter::new(&mut new)))?;
            new.persist(&path).map_err(|error| error.error).with_context(failed)?;
        }
        Ok(Outcome::found_if(!names.is_empty()))
    }
}

/// The path of a file below the directory that it is restored into.
fn inside(name: &str) -> Result<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::ParentDir => bail!(
                "'{name}' would be restored outside of the directory: export it to standard output"
            ),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Ok(path)
}

impl Ls {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading()?;
        let files = self.place.named(Library::new(&store).files())?;
        for file in &files {
            let hash: String = file.digest.iter().map(|byte| format!("{byte:02x}")).collect();
            if self.json {
                print_record(&json!({
                    "name": file.name, "bytes": file.bytes, "chunks": file.chunks, "hash": hash,
                }))?;
            } else {
                super::print_line(&format!("{hash} {:>12} {}", file.bytes, file.name))?;
            }
        }
        Ok(Outcome::found_if(!files.is_empty()))
    }
}

impl Rm {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing(false)?;
        let mut found = false;
        for name in &self.names {
            found |= self.place.named(Library::new(&store).remove(name))?;
        }
        self.place.named(store.close())?;
        Ok(Outcome::found_if(found))
    }
}

impl Gc {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing(false)?;
        let collected = self.place.named(Library::new(&store).collect())?;
        self.place.named(store.compact())?;
        self.place.named(store.close())?;
        let bytes = HumanBytes(collected.bytes);
        tell(&format!("{} chunks of {bytes} removed", collected.chunks));
        Ok(Outcome::found_if(collected.chunks > 0))
    }
}
