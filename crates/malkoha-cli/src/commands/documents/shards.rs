//! The files of a data set, and where the rest of each goes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::slice;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::shown;
use crate::failure::tell;
use crate::input::{all_below, is_dash, is_parquet, is_same, name};
use crate::output::Encoding;

/// One file of documents.
#[derive(Clone, Debug)]
pub(crate) struct Shard {
    pub(crate) input: PathBuf,
    /// `None` for standard output.
    pub(crate) output: Option<PathBuf>,
    pub(crate) encoding: Encoding,
    /// It has a table instead of lines.
    pub(super) is_table: bool,
}

impl Shard {
    /// Bytes of the file as it is.
    pub(crate) fn size(&self) -> Option<u64> {
        let metadata = self.input.metadata().ok()?;
        (metadata.is_file() && !is_dash(&self.input)).then_some(metadata.len())
    }

    /// The path of the file, its size and the time of its last change.
    pub(crate) fn state(&self) -> Value {
        let time = self.input.metadata().and_then(|it| it.modified()).ok();
        let time = time.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let nanoseconds = time.map(|it| it.as_nanos().to_string());
        json!([shown(&self.input), self.size(), nanoseconds])
    }
}

/// The journal of a run in its output directory, which might be the input of another one.
pub(crate) const JOURNAL: &str = ".malkoha-dedup";

/// The endings of names of Parquet files.
const TABLES: [&str; 3] = ["parquet", "parq", "pq"];

/// Other endings of names below directories, before that of a compression.
const ENDINGS: [&str; 4] = ["jsonl", "ndjson", "json", "jsonlines"];

const COMPRESSIONS: [&str; 4] = ["gz", "zst", "zstd", "xz"];

/// All files of `inputs`, directories in the order of names. Their outputs have the same names
/// below `output`.
pub(crate) fn shards(inputs: &[PathBuf], output: Option<&Path>) -> Result<Vec<Shard>> {
    let mut shards = Vec::new();
    let mut left_out = LeftOut::default();
    for input in inputs {
        let is_directory = !is_dash(input) && input.is_dir();
        if let Some(output) = output.filter(|_| is_directory) {
            ensure!(
                !absolute(output)?.starts_with(absolute(input)?),
                "{} lies in {}, which is read: name another output directory",
                name(output),
                name(input)
            );
        }
        for file in left_out.files_at(input) {
            ensure!(
                is_dash(&file) || file.exists(),
                "cannot read {}: there is no such file",
                name(&file)
            );
            let below =
                if is_directory { file.strip_prefix(input).unwrap_or(&file) } else { &file };
            let output =
                output.map(|directory| target(directory, below, is_directory)).transpose()?;
            // All of these formats take more bytes, even for nothing.
            let is_cut = ends_with(&file, &COMPRESSIONS)
                && file.metadata().is_ok_and(|it| it.is_file() && it.len() < 9);
            ensure!(!is_cut, "cannot read {}: it ends too early", name(&file));
            // A pipe is read once.
            let is_table = is_table(&file)?;
            let compressed = output.is_some() && file.is_file() && !is_table;
            let encoding = if compressed {
                Encoding::of(&file).with_context(|| format!("cannot read {}", name(&file)))?
            } else {
                Encoding::Plain
            };
            shards.push(Shard { input: file, output, encoding, is_table });
        }
    }
    left_out.tell();
    ensure!(
        !shards.is_empty(),
        "there are no files of documents: name files, or a directory with .jsonl or .parquet files"
    );
    check_outputs(&shards)?;
    Ok(shards)
}

/// Whether a file of this path would be found below a directory of `inputs`.
pub(super) fn is_found(path: &Path, inputs: &[PathBuf]) -> Result<bool> {
    let path = absolute(path)?;
    let mut directories = inputs.iter().filter(|input| !is_dash(input) && input.is_dir());
    let is_below = directories.any(|input| absolute(input).is_ok_and(|it| path.starts_with(it)));
    Ok(is_below && is_shard(&path))
}

/// Files below directories that are not read.
#[derive(Default)]
pub(super) struct LeftOut {
    count: usize,
    /// The name of the first, and why.
    first: String,
}

impl LeftOut {
    /// The files of documents at a path or below it.
    pub(super) fn files_at(&mut self, path: &PathBuf) -> Vec<PathBuf> {
        let mut files = all_below(slice::from_ref(path));
        if is_dash(path) || !path.is_dir() {
            return files;
        }
        files.retain(|file| {
            let why = why_not(file);
            if let Some(why) = why.filter(|_| !file.ends_with(JOURNAL)) {
                if self.count == 0 {
                    self.first = format!("{}, {why}", name(file));
                }
                self.count += 1;
            }
            why.is_none()
        });
        files
    }

    pub(super) fn tell(&self) {
        let files = if self.count == 1 { "file" } else { "files" };
        if self.count > 0 {
            tell(&format!("malkoha: {} {files} left out: the first is {}", self.count, self.first));
        }
    }
}

/// Why a file that was found is not read.
fn why_not(file: &Path) -> Option<&'static str> {
    if file.is_dir() {
        Some("a link to a directory that is read already")
    } else if !file.exists() {
        Some("a link to nothing")
    } else if !file.is_file() {
        Some("which is no regular file")
    } else if is_hidden(file) {
        Some("which is hidden")
    } else {
        let ending = "whose name does not end in .jsonl, .ndjson or .json, perhaps with .gz, .zst \
                      or .xz, or in .parquet";
        (!is_shard(file)).then_some(ending)
    }
}

/// Whether a file is of Parquet, by its name or content. A build without Parquet refuses it.
pub(super) fn is_table(file: &Path) -> Result<bool> {
    let is_table =
        !is_dash(file) && (ends_with(file, &TABLES) || file.is_file() && is_parquet(file));
    ensure!(
        !is_table || cfg!(feature = "parquet"),
        "cannot read {}: this malkoha was built without Parquet; the packages have it, and a build \
         from source with --features parquet",
        name(file)
    );
    Ok(is_table)
}

/// Whether the name of a file has one of these endings.
fn ends_with(file: &Path, endings: &[&str]) -> bool {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    ending.is_some_and(|ending| endings.contains(&&*ending))
}

fn is_hidden(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Whether a file has the name of one of documents.
fn is_shard(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut endings = name.split('.').skip(1).map(str::to_ascii_lowercase).collect::<Vec<_>>();
    endings.pop_if(|ending| COMPRESSIONS.contains(&&**ending));
    let last = endings.pop().unwrap_or_default();
    ends_with(file, &TABLES) || ENDINGS.contains(&&*last)
}

/// The output of a file of a directory, or of one that was named.
fn target(directory: &Path, below: &Path, is_below: bool) -> Result<PathBuf> {
    if is_below {
        return Ok(directory.join(below));
    }
    match below.components().next_back() {
        Some(Component::Normal(name)) if !is_dash(below) => Ok(directory.join(name)),
        _ => bail!(
            "standard input has no name for a file in {}: leave --output out",
            name(directory)
        ),
    }
}

/// Tells of files of documents in the output directory that are of no input, as those of an earlier
/// run.
pub(super) fn tell_others(directory: &Path, shards: &[Shard]) {
    if !directory.is_dir() {
        return;
    }
    let outputs: HashSet<&Path> = shards.iter().filter_map(|it| it.output.as_deref()).collect();
    let mut others = all_below(&[directory.into()]);
    others.retain(|file| is_shard(file) && !outputs.contains(&**file));
    if let [first, ..] = &others[..] {
        tell(&format!(
            "malkoha: files in {} that are not of this run: {}; the first is {}",
            name(directory),
            others.len(),
            name(first)
        ));
    }
}

/// No output is an input, or that of another input.
fn check_outputs(shards: &[Shard]) -> Result<()> {
    let mut inputs_of: HashMap<&Path, &Path> = HashMap::new();
    for Shard { input, output, .. } in shards {
        let Some(output) = output else { continue };
        if let Some(other) = inputs_of.insert(output, input) {
            bail!(
                "{} and {} would both become {}: give them different names",
                name(other),
                name(input),
                name(output)
            );
        }
        ensure!(
            !is_same(input, output),
            "{} is both input and output: name another output directory",
            name(input)
        );
    }
    Ok(())
}

/// The path from the root, through links as far as it exists.
fn absolute(path: &Path) -> Result<PathBuf> {
    if let Ok(path) = fs::canonicalize(path) {
        return Ok(path);
    }
    let absolute =
        std::path::absolute(path).with_context(|| format!("cannot use {}", name(path)))?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok(self::absolute(parent)?.join(name)),
        _ => Ok(absolute),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_shards() {
        for name in
            ["t.parquet", "a.jsonl", "a.JSONL.gz", "b.json.zst", "c.x.ndjson.xz", "d.jsonl.zstd"]
        {
            assert!(is_shard(Path::new(name)), "{name}");
        }
        for name in ["README.md", "jsonl", "a.gz", "a.pq.gz", "a.jsonl.tmp", "a.csv"] {
            assert!(!is_shard(Path::new(name)), "{name}");
        }
    }
}
