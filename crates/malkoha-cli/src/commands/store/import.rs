//! Whole files and trees of them, cut into chunks that are stored once.

use std::fs::File;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::HumanBytes;
use malkoha_store::{Chunking, Digest, FileKind, FileStore};
use serde::Serialize;
use serde_json::json;

use super::names::is_cut;
use super::tree::{Found, Tree, cannot_open};
use super::{Packing, Place};
use crate::failure::{Outcome, tell_summary, warn};
use crate::output::print_record;
use crate::progress::Progress;

/// Store files and whole directories; equal parts take space only once
#[derive(Args, Debug)]
#[command(after_help = include_str!("import.txt"))]
pub(super) struct Import {
    #[command(flatten)]
    place: Place,

    /// Files and directories
    #[arg(required = true)]
    files: Vec<PathBuf>,

    /// Cut into chunks of this size, 1 byte to 1 GiB, instead of by content
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    fixed: Option<u32>,

    /// Identify chunks by SHA-256 instead of BLAKE3
    #[arg(long)]
    sha256: bool,

    #[command(flatten)]
    packing: Packing,

    /// Print the result as a JSON record
    #[arg(long)]
    json: bool,
}

/// Counts of the stored files.
#[derive(Default, Serialize)]
struct Sums {
    files: u64,
    directories: u64,
    links: u64,
    bytes: u64,
    chunks: u64,
    new_bytes: u64,
}

impl Import {
    pub(super) fn run(&self) -> Result<Outcome> {
        let mut tree = Tree::new(&self.place.store);
        for path in &self.files {
            tree.add_named(path)?;
        }
        if self.files.iter().any(|path| is_cut(path)) {
            tell_summary("malkoha: names in the store are without a leading '/' and without '..'");
        }
        let store = self.place.with(self.packing.options(), true)?;
        let sums = self.store(FileStore::new(&store), &mut tree)?;
        self.place.named(store.close())?;
        self.summarise(&sums, &tree)?;
        ensure!(tree.failed == 0, "{} could not be stored; the rest is", tree.failed);
        Ok(Outcome::found_if(sums.files + sums.directories + sums.links > 0))
    }

    fn store(&self, file_store: FileStore<'_>, tree: &mut Tree) -> Result<Sums> {
        let chunking = self.fixed.map_or_else(Chunking::default, Chunking::Fixed);
        let digest = if self.sha256 { Digest::Sha256 } else { Digest::Blake3 };
        let total = tree.found.iter().map(|found| found.bytes).sum();
        let progress = Progress::new("Importing", Some(total));
        let mut sums = Sums::default();
        for Found { path, name, kind, metadata, .. } in &tree.found {
            match kind {
                FileKind::Link(target) => {
                    self.place.named(file_store.import_link(name, target))?;
                    sums.links += 1;
                }
                FileKind::Directory => {
                    self.place.named(file_store.import_directory(name, *metadata))?;
                    sums.directories += 1;
                }
                FileKind::File => {
                    let file = match File::open(path).with_context(|| cannot_open(path)) {
                        Ok(file) => file,
                        Err(error) => {
                            warn(&error);
                            tree.failed += 1;
                            continue;
                        }
                    };
                    let input = progress.bar().wrap_read(file);
                    let import = file_store.import(name, input, *metadata, chunking, digest);
                    let import = self.place.named(import)?;
                    sums.files += 1;
                    sums.bytes += import.bytes;
                    sums.chunks += import.chunks;
                    sums.new_bytes += import.new_bytes;
                }
            }
        }
        Ok(sums)
    }

    fn summarise(&self, sums: &Sums, tree: &Tree) -> Result<()> {
        if self.json {
            let mut record = json!(sums);
            record["skipped"] = tree.skipped.into();
            record["failed"] = tree.failed.into();
            return print_record(&record);
        }
        let Sums { files, directories, links, bytes, chunks, new_bytes } = *sums;
        let (bytes, new) = (HumanBytes(bytes), HumanBytes(new_bytes));
        tell_summary(&format!(
            "{files} files of {bytes} in {chunks} chunks, {new} of them new; \
             {directories} directories, {links} links"
        ));
        Ok(())
    }
}
