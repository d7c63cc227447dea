//! The files in a store: listed and forgotten.

use std::ffi::OsString;
use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::{Result, ensure};
use clap::Args;
use indicatif::HumanBytes;
use malkoha_store::{FileInfo, FileKind, FileStore};
use serde_json::{Value, json};

use super::Place;
use super::bytes::escaped;
use super::names::{name_of, select};
use crate::failure::{Outcome, tell_summary};
use crate::output::{LineWriter, field, print_record, with_fields};

/// List the files in a store
#[derive(Args, Debug)]
#[command(after_help = AFTER_LS)]
pub(super) struct Ls {
    #[command(flatten)]
    place: Place,

    /// Names, in any spelling; a directory includes everything below it. Default: everything
    names: Vec<OsString>,

    /// Print a JSON record for each file
    #[arg(long)]
    json: bool,

    /// Lines end with a NUL byte instead of a newline
    #[arg(short = '0', long = "null", conflicts_with = "json")]
    null: bool,
}

const AFTER_LS: &str = "\
A line has the hash of a file, or 'directory' or 'link' instead, then its size
in bytes and its name. JSON records also have the mode in octal digits, the
time in seconds since 1970, and the target of a link.

In lines, control characters and bytes that are not UTF-8 are escaped as in C:
'\\n', '\\t', '\\r' or three octal digits per byte, as in '\\033'. A backslash is
'\\\\'. With --null and --json names are exact.";

/// Remove files; 'gc' then removes chunks that only they used
#[derive(Args, Debug)]
pub(super) struct Rm {
    #[command(flatten)]
    place: Place,

    /// Names as 'ls' prints them, in any spelling; a directory includes everything below it
    #[arg(required = true)]
    names: Vec<OsString>,

    /// Print the number of removed files as a JSON record
    #[arg(long)]
    json: bool,
}

/// Remove chunks that no file uses, and return their space
#[derive(Args, Debug)]
pub(super) struct Gc {
    #[command(flatten)]
    place: Place,

    /// Print the number of removed chunks as a JSON record
    #[arg(long)]
    json: bool,
}

impl Ls {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.reading()?;
        let files = select(&self.place, FileStore::new(&store), &self.names)?.files;
        let mut lines = LineWriter::stdout(if self.null { 0 } else { b'\n' }, false)?;
        for file in files.values() {
            let line = match (self.json, self.null) {
                (true, _) => record(file).to_string().into_bytes(),
                (false, true) => line(file, &file.name),
                (false, false) => line(file, escaped(&file.name).as_bytes()),
            };
            lines.write(&line)?;
        }
        lines.finish()?;
        Ok(Outcome::found_if(!files.is_empty()))
    }
}

fn line(file: &FileInfo, name: &[u8]) -> Vec<u8> {
    let first = match file.kind {
        FileKind::File => &*hex::encode(&file.digest),
        FileKind::Directory => "directory",
        FileKind::Link(_) => "link",
    };
    let mut line = format!("{first:<64} {:>12} ", file.bytes).into_bytes();
    line.extend_from_slice(name);
    line
}

fn record(file: &FileInfo) -> Value {
    let modified = file.metadata.modified.map(|time| match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs_f64(),
        Err(error) => -error.duration().as_secs_f64(),
    });
    let mode = file.metadata.mode.map(|mode| format!("{mode:04o}"));
    let mut record = json!({ "mode": mode, "modified": modified });
    record["kind"] = match &file.kind {
        FileKind::File => {
            record["bytes"] = file.bytes.into();
            record["chunks"] = file.chunks.into();
            record["hash"] = hex::encode(&file.digest).into();
            "file"
        }
        FileKind::Directory => "directory",
        FileKind::Link(target) => {
            record = with_fields(record, [field("target", target, false)]);
            "link"
        }
    }
    .into();
    with_fields(record, [field("name", &file.name, false)])
}

impl Rm {
    pub(super) fn run(&self) -> Result<Outcome> {
        for name in &self.names {
            let is_all = name_of(Path::new(name)).is_empty();
            ensure!(!is_all, "'{}' would be all files: name those to forget", name.display());
        }
        let store = self.place.writing()?;
        let file_store = FileStore::new(&store);
        let files = select(&self.place, file_store, &self.names)?.files;
        for name in files.keys() {
            self.place.named(file_store.remove(name))?;
        }
        self.place.named(store.close())?;
        if self.json {
            print_record(&json!({ "removed": files.len() }))?;
        }
        Ok(Outcome::found_if(!files.is_empty()))
    }
}

impl Gc {
    pub(super) fn run(&self) -> Result<Outcome> {
        let store = self.place.writing()?;
        let collected = self.place.named(FileStore::new(&store).collect())?;
        self.place.named(store.compact())?;
        self.place.named(store.close())?;
        if self.json {
            print_record(&json!({ "chunks": collected.chunks, "bytes": collected.bytes }))?;
        } else {
            let bytes = HumanBytes(collected.bytes);
            tell_summary(&format!("{} chunks of {bytes} removed", collected.chunks));
        }
        Ok(Outcome::found_if(collected.chunks > 0))
    }
}
