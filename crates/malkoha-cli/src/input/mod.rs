//! Where lines come from: files, or standard input.

mod ahead;
mod blocks;
pub(crate) mod content;
mod decompress;
mod list;
mod texts;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};

pub(crate) use blocks::{Block, Blocks};
pub(crate) use content::is_parquet;
pub(crate) use list::List;
pub(crate) use texts::Texts;
pub(crate) use tree::{all_below, files_below};

use crate::progress::Progress;
use crate::records::{Form, Keys, Tally};

/// The name of standard input among paths.
const STDIN: &str = "-";

/// Files, and how they are read.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub(crate) inputs: Inputs,
    pub(crate) keys: Keys,
}

impl Side {
    pub(crate) fn new(inputs: Inputs, keys: Keys, of_lists: bool, strict: bool) -> Self {
        let names = inputs.paths.iter().map(|path| name(path)).collect();
        let keys = keys.naming(names, of_lists, strict);
        let headed = keys.are_named();
        let numbered = inputs.numbered || !keys.are_lines();
        let (form, looked) = (keys.form, Some(Arc::new(keys.clone())));
        let inputs = Inputs { form, headed, numbered, keys: looked, ..inputs };
        Self { inputs, keys }
    }

    /// Makes an unreadable file an error.
    pub(crate) fn all_needed(self) -> Self {
        Self { inputs: self.inputs.all_needed(), ..self }
    }

    pub(crate) fn separator(&self) -> u8 {
        self.inputs.form.separator
    }

    /// Reports records of lists that cannot be compared, when all were read; an error if nothing of
    /// a file can.
    pub(crate) fn settle(&self) -> Result<()> {
        self.keys.tally().map_or(Ok(()), Tally::settle)
    }
}

/// Some files of records, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    paths: Vec<PathBuf>,
    form: Form,
    all_needed: bool,
    /// Bytes of each file to read, if not all that there are then.
    lengths: Option<Arc<[u64]>>,
    /// The part of standard input that has been read, and whether that is all of it.
    begun: Option<(Arc<[u8]>, bool)>,
    numbered: bool,
    headed: bool,
    /// The compared part of their records, if any.
    keys: Option<Arc<Keys>>,
    /// Files before this one need not be read further, for all clones of this.
    wanted: Arc<AtomicUsize>,
}

impl Inputs {
    /// Lines of `paths`, or of standard input if there are none.
    pub(crate) fn new(mut paths: Vec<PathBuf>, separator: u8) -> Self {
        if paths.is_empty() {
            paths.push(STDIN.into());
        }
        Self::of_files(paths, separator)
    }

    /// Lines of `paths`, which can be empty.
    pub(crate) fn of_files(paths: Vec<PathBuf>, separator: u8) -> Self {
        Self {
            paths,
            form: Form::lines(separator),
            all_needed: false,
            lengths: None,
            begun: None,
            numbered: false,
            headed: false,
            keys: None,
            wanted: Arc::default(),
        }
    }

    /// Makes an unreadable input an error. Otherwise it is reported and skipped.
    pub(crate) fn all_needed(self) -> Self {
        Self { all_needed: true, ..self }
    }

    /// Reads only this many bytes of each file, whatever is appended meanwhile.
    pub(crate) fn up_to(self, lengths: Arc<[u64]>) -> Self {
        Self { lengths: Some(lengths), ..self }
    }

    /// Lets each block know the number of its first line.
    pub(crate) fn numbered(self, numbered: bool) -> Self {
        Self { numbered, ..self }
    }

    /// Makes whoever reads these skip the rest of this file, and of those before it.
    pub(crate) fn skip(&self, file: usize) {
        self.wanted.fetch_max(file + 1, Ordering::Relaxed);
    }

    /// Whether no file is wanted any more.
    pub(crate) fn are_skipped(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) >= self.paths.len()
    }

    pub(crate) fn separator(&self) -> u8 {
        self.form.separator
    }

    /// The content of the file at `path`, one of these: mapped, or read already. `None` if it must
    /// be read from its beginning to its end, or if it has no plain lines.
    fn in_memory(&self, path: &Path) -> Option<List> {
        match &self.begun {
            Some((bytes, true)) if is_dash(path) => List::of_bytes(bytes),
            _ => List::map(path),
        }
    }

    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    pub(crate) fn use_stdin(&self) -> bool {
        self.paths.iter().any(|path| is_dash(path))
    }

    /// Whether one of them is this file, under any name.
    pub(crate) fn include(&self, file: &Path) -> bool {
        self.paths.iter().any(|path| !is_dash(path) && is_same(path, file))
    }

    /// The size of all inputs, if all are regular files.
    pub(crate) fn total_bytes(&self) -> Option<u64> {
        self.paths
            .iter()
            .map(|path| {
                let metadata = path.metadata().ok().filter(|m| m.is_file() && !is_dash(path))?;
                Some(metadata.len())
            })
            .sum()
    }

    /// How many of `threads` threads have work: each reads a block at a time.
    pub(crate) fn useful_threads(&self, threads: usize) -> usize {
        let blocks =
            self.total_bytes().map_or(u64::MAX, |bytes| bytes.div_ceil(blocks::BLOCK as u64));
        threads.min(usize::try_from(blocks).unwrap_or(threads)).max(1)
    }

    /// All lines, block by block.
    pub(crate) fn blocks(&self, progress: &Progress) -> Blocks {
        Blocks::new(self.clone(), progress.bar())
    }
}

/// Whether two paths lead to one file. Opens neither: the writer of a pipe would find it closed.
#[cfg(unix)]
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| path.metadata().ok().map(|it| (it.dev(), it.ino()));
    id(a).is_some_and(|a| id(b) == Some(a))
}

#[cfg(not(unix))]
pub(crate) fn is_same(a: &Path, b: &Path) -> bool {
    same_file::is_same_file(a, b).unwrap_or(false)
}

/// The path as error messages show it.
pub(crate) fn name(path: &Path) -> String {
    if is_dash(path) { "standard input".into() } else { format!("'{}'", path.display()) }
}

pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == STDIN
}

/// An error if several files are standard input, by any of its names: each would get a part.
pub(crate) fn at_most_one_stdin<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<()> {
    let names = [STDIN, "/dev/stdin", "/dev/fd/0"];
    let names = if cfg!(unix) { &names[..] } else { &names[..1] };
    if paths.filter(|path| names.iter().any(|name| path.as_os_str() == *name)).count() > 1 {
        bail!("two files are both standard input: name a file for one of them");
    }
    Ok(())
}
