//! The state of a run: what was kept, and the names of the files that the numbers count through.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use malkoha::KeyHasher;
use malkoha_text::{Deduplicator, Options};

use crate::input::name;
use crate::output::{Overwrite, replace};

/// A deduplicator that remembers the places of documents, if it remembers numbers.
pub(super) struct Seen {
    pub(super) texts: Deduplicator,
    /// By file: the number of its first line, and its name.
    files: Vec<(u64, String)>,
}

impl Seen {
    pub(super) fn new(options: Options) -> Result<Self> {
        Ok(Self { texts: Deduplicator::new(options)?, files: Vec::new() })
    }

    /// The state in a file, which must have these options.
    pub(super) fn open(path: &Path, options: &Options) -> Result<Self> {
        let file = File::open(path).with_context(|| format!("cannot open {}", name(path)))?;
        let failed = || format!("cannot read {}", name(path));
        let mut reader = BufReader::new(file);
        let texts = Deduplicator::read_from(&mut reader).with_context(failed)?;
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).with_context(failed)?;
        let files = match rest.split_first_chunk() {
            None if rest.is_empty() && !texts.options().is_numbered() => Vec::new(),
            None if rest.is_empty() => bail!(
                "{}: it has numbers of documents but no file names, as states that Python saved \
                 with numbered=True",
                failed()
            ),
            Some((check, names)) if u64::from_le_bytes(*check) == checksum(names) => {
                serde_json::from_slice(names).with_context(failed)?
            }
            _ => bail!("{}: its file names are damaged: restore it from a copy", failed()),
        };
        let has = if options.is_numbered() {
            "has no numbers of documents: leave --report out, or begin a new state with it"
        } else {
            "has numbers of documents: add --report, or begin a new state without it"
        };
        let is_numbered = texts.options().is_numbered();
        ensure!(is_numbered == options.is_numbered(), "{} {has}", name(path));
        ensure!(
            texts.options().is_same(options),
            "{} was made with another method, rate or seed: use the same, or begin a new state",
            name(path)
        );
        Ok(Self { texts, files })
    }

    pub(super) fn save(&self, path: &Path) -> Result<()> {
        replace(path, Overwrite::Only(is_state), &|out| self.write_to(out))
    }

    fn write_to(&self, mut out: &mut dyn Write) -> io::Result<()> {
        self.texts.write_to(&mut out)?;
        if !self.texts.options().is_numbered() {
            return Ok(());
        }
        let names = serde_json::to_vec(&self.files)?;
        out.write_all(&checksum(&names).to_le_bytes())?;
        out.write_all(&names)
    }

    /// The next lines are those of this file.
    pub(super) fn begin_file(&mut self, path: &Path) {
        if self.texts.options().is_numbered() {
            self.files.push((self.texts.decided(), path.display().to_string()));
        }
    }

    /// The file and line, from 1, of a document's number.
    pub(super) fn place(&self, number: u64) -> (&str, u64) {
        let after = self.files.partition_point(|(first, _)| *first <= number);
        // A damaged state can have numbers before the first file.
        self.files[..after].last().map_or(("", 0), |(first, name)| (name, number - first + 1))
    }
}

pub(super) fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::new(0).hash_bytes(bytes)
}

/// Whether a file can be replaced by a state.
fn is_state(path: &Path) -> bool {
    File::open(path).is_ok_and(Deduplicator::is_state)
}
