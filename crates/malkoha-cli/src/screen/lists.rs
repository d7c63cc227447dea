//! The lists of a screening, each by its kind, ready for lookups.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use malkoha::KeyHasher;
use malkoha_store::{Error, Store};

use super::{
    Approximate, Domains, Exact, Marked, Matcher, Names, Networks, filter_of, kept, smaller_than,
};
use crate::failure::tell;
use crate::input::{Inputs, List, Side, Texts, is_stdin, name};
use crate::progress::Progress;
use crate::records::Keys;

/// How lines are compared with those of lists.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum How {
    /// As wholes.
    Lines,
    /// By fingerprints alone, of this rate.
    Approximately(f64),
    Domains,
    Networks,
}

/// Lists, and how they are read.
pub(crate) struct Lists<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// Lists of exceptions from domains and networks.
    pub(crate) allowed: &'a [PathBuf],
    pub(crate) how: How,
    /// The output must say where lines are listed.
    pub(crate) with_origins: bool,
    /// What of lists is compared.
    pub(crate) keys: &'a Keys,
    pub(crate) strict: bool,
    pub(crate) hasher: KeyHasher,
    pub(crate) threads: usize,
}

/// Input from a pipe is read before the list, to see whether it is the smaller one, if the list has
/// at least this many bytes.
const LONG: u64 = 1 << 24;

impl Lists<'_> {
    /// The matcher that decides whether a record of `input` is in the lists. Reads the lists
    /// beforehand, and enough of the input to know which side is smaller.
    pub(crate) fn matcher(&self, input: &mut Side) -> Result<Vec<Box<dyn Matcher>>> {
        let mut parts: Vec<Box<dyn Matcher>> = Vec::new();
        // Lists of unknown size, with their numbers.
        let mut rest = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            if let Some(stored) = StoreKeys::at(path)? {
                self.refuse_store()?;
                parts.push(Box::new(stored));
            } else if let Some(kept) = self.kept(number) {
                parts.push(Box::new(kept));
            } else {
                rest.push(number);
            }
        }
        if rest.is_empty() {
            return Ok(parts);
        }
        let paths: Vec<PathBuf> = rest.iter().map(|&number| self.paths[number].clone()).collect();
        let lists = Inputs::of_files(paths, input.separator()).all_needed();
        let side = Side::new(lists, self.keys.clone(), true, self.strict);
        if let Some(marked) = self.marked(&side, input)? {
            parts.push(Box::new(marked));
            return Ok(parts);
        }
        let texts = Texts::open(&side)?;
        parts.push(match self.how {
            How::Lines => {
                let indexing = Progress::new("Indexing", Some(texts.len()));
                let exact = Exact::build(texts, self.hasher, self.threads, &indexing)?;
                Box::new(self.numbered(exact, rest))
            }
            How::Approximately(fpr) => {
                Box::new(Approximate(Box::new(filter_of(&texts, fpr, self.hasher)?)))
            }
            How::Networks => {
                let mut networks = Networks::default();
                networks.add(&texts, self.with_origins, false)?;
                self.allowed(input.separator(), |texts| networks.add(texts, false, true))?;
                Box::new(networks.part())
            }
            How::Domains => {
                let mut names = Names::default();
                names.add(&texts, self.with_origins, false)?;
                drop(texts);
                self.allowed(input.separator(), |texts| names.add(texts, false, true))?;
                Box::new(Domains::new(names)?)
            }
        });
        side.settle()?;
        Ok(parts)
    }

    /// Calls `each` with the lists of exceptions.
    fn allowed(&self, separator: u8, each: impl FnOnce(&Texts) -> Result<()>) -> Result<()> {
        let inputs = Inputs::of_files(self.allowed.to_vec(), separator).all_needed();
        let side = Side::new(inputs, self.keys.clone(), true, self.strict);
        each(&Texts::open(&side)?)?;
        side.settle()
    }

    fn refuse_store(&self) -> Result<()> {
        match self.how {
            How::Lines if self.with_origins => {
                bail!("a store's keys have no line numbers: leave -o away")
            }
            How::Lines => Ok(()),
            How::Approximately(_) => {
                bail!("a store answers without error: leave --approximate away")
            }
            _ => bail!("a store has keys, and no domains or networks: name a list of lines"),
        }
    }

    fn numbered(&self, exact: Exact, lists: Vec<usize>) -> Exact {
        if self.with_origins { exact.numbered(lists) } else { exact }
    }

    /// The index that is kept next to a list, if there is one and it can be used.
    fn kept(&self, number: usize) -> Option<Exact> {
        let path = &self.paths[number];
        if is_stdin(path) || self.how != How::Lines {
            return None;
        }
        match kept::open(path, self.keys, self.strict).context("its index is not used") {
            Ok(kept) => kept.map(|exact| self.numbered(exact, vec![number])),
            Err(error) => {
                let list = name(path);
                let by = match self.keys.description().is_empty() {
                    true => "",
                    false if self.keys.are_whole() => {
                        ", with --digest, --trim, --crlf and those for case, if they are given here"
                    }
                    false => {
                        ", with the options that lists have here (-K as -k, --list-csv as --csv)"
                    }
                };
                tell(&format!(
                    "malkoha: {list}: {error:#}: renew it by 'malkoha index {}'{by}",
                    path.display()
                ));
                None
            }
        }
    }

    /// The inputs' lines that are in the lists, if the inputs are so much smaller that it is better
    /// to index them. Then it is not known where lines are listed.
    fn marked(&self, lists: &Side, input: &mut Side) -> Result<Option<Arc<Marked>>> {
        let can_stream = |path: &PathBuf| !is_stdin(path) && List::is_readable(path);
        let is_simple = self.how == How::Lines && !self.with_origins;
        if !is_simple || !lists.inputs.paths().iter().all(can_stream) {
            return Ok(None);
        }
        let bytes = lists.inputs.total_bytes();
        if bytes.is_none_or(|bytes| bytes >= LONG) {
            let most = bytes.unwrap_or(super::marked::MOST_FOR_UNKNOWN);
            input.inputs.read_ahead(usize::try_from(most.min(super::marked::MOST_FOR_UNKNOWN))?);
        }
        let Some(texts) = smaller_than(&lists.inputs, input)? else { return Ok(None) };
        // Appended lines are in no index.
        input.inputs = input.inputs.clone().up_to(texts.lengths());
        let progress = Progress::new("Reading", bytes);
        let marked = Marked::of(texts, lists, self.hasher, self.threads, &progress)?;
        Ok(Some(marked))
    }
}

/// The keys of a store, as it was when this was made. Only its checkpoint is read beforehand.
pub(crate) struct StoreKeys {
    store: Store,
    name: String,
}

impl StoreKeys {
    /// The store at `path`, if there is one.
    pub(crate) fn at(path: &Path) -> Result<Option<Self>> {
        if !path.is_dir() {
            return Ok(None);
        }
        let name = format!("store '{}'", path.display());
        match Store::open_read_only(path) {
            Err(Error::NoStore(_)) => Ok(None),
            store => Ok(Some(Self { store: store.with_context(|| name.clone())?, name })),
        }
    }
}

impl Matcher for StoreKeys {
    fn find(&self, lines: &[&[u8]], found: &mut [bool]) -> Result<()> {
        let looked_up = self.store.get_many(lines, |i, value| found[i] |= value.is_some());
        looked_up.with_context(|| self.name.clone())
    }
}
