//! The lists of a screening, each by its kind, ready for lookups.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use malkoha::KeyHasher;

use super::{
    Approximate, Domains, Exact, Marked, Matcher, Names, Networks, StoreKeys, filter_of, kept,
    smaller_than,
};
use crate::failure::tell;
use crate::input::{Inputs, List, Texts, is_stdin, name};
use crate::keys::Keys;
use crate::progress::Progress;

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
    pub(crate) how: How,
    /// The output must say where lines are listed.
    pub(crate) with_origins: bool,
    pub(crate) keys: &'a Keys,
    pub(crate) hasher: KeyHasher,
    pub(crate) threads: usize,
    pub(crate) quiet: bool,
}

/// Input from a pipe is read before the list, to see whether it is the smaller one, if the list has
/// at least this many bytes.
const LONG: u64 = 1 << 24;

impl Lists<'_> {
    /// The matcher that decides whether a line of `inputs` is in the lists. Reads the lists
    /// beforehand, and enough of the inputs to know which side is smaller.
    pub(crate) fn matcher(&self, inputs: &mut Inputs) -> Result<Vec<Box<dyn Matcher>>> {
        let (separator, threads) = (inputs.separator(), self.threads);
        let mut parts: Vec<Box<dyn Matcher>> = Vec::new();
        // Lists of unknown size, with their numbers.
        let mut rest = Vec::new();
        for (number, path) in self.paths.iter().enumerate() {
            if let Some(stored) = StoreKeys::at(path)? {
                self.refuse_store()?;
                parts.push(Box::new(stored));
            } else if let Some(kept) = self.kept(number, separator) {
                parts.push(Box::new(kept));
            } else {
                rest.push(number);
            }
        }
        if rest.is_empty() {
            return Ok(parts);
        }
        let paths: Vec<PathBuf> = rest.iter().map(|&number| self.paths[number].clone()).collect();
        let lists = Inputs::of_files(paths, separator).all_needed();
        if let Some(marked) = self.marked(&lists, inputs)? {
            parts.push(Box::new(marked));
            return Ok(parts);
        }
        let lists =
            lists.paths().iter().map(|path| List::open(path)).collect::<Result<Vec<_>>>()?;
        parts.push(match self.how {
            How::Lines => {
                let texts = self.spelled(lists, separator)?;
                let indexing = Progress::new("Indexing", Some(texts.len()), self.quiet);
                Box::new(self.numbered(Exact::build(texts, self.hasher, threads, &indexing)?, rest))
            }
            How::Approximately(fpr) => {
                let texts = self.spelled(lists, separator)?;
                Box::new(Approximate(Box::new(filter_of(&texts, fpr, self.hasher)?)))
            }
            How::Networks => {
                let (networks, unread) = Networks::of(&lists, separator, self.with_origins)?;
                for (path, unread) in self.paths.iter().zip(unread) {
                    unread.report(path, "networks")?;
                }
                Box::new(networks)
            }
            How::Domains => {
                let mut names = Names::of(&lists, separator, self.with_origins)?;
                for (path, unread) in self.paths.iter().zip(names.unread.drain(..)) {
                    unread.report(path, "domains")?;
                }
                drop(lists);
                Box::new(Domains::new(names)?)
            }
        });
        Ok(parts)
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

    fn spelled(&self, lists: Vec<List>, separator: u8) -> Result<Texts> {
        let lists = lists.into_iter().map(|list| self.keys.spell(list, separator));
        Ok(Texts::new(lists.collect::<Result<_>>()?, separator))
    }

    /// The index that is kept next to a list, if there is one and it can be used.
    fn kept(&self, number: usize, separator: u8) -> Option<Exact> {
        let path = &self.paths[number];
        let is_plain = self.how == How::Lines && self.keys.of_lists().are_lines();
        if is_stdin(path) || !is_plain {
            return None;
        }
        match kept::open(path, separator).context("its index is not used") {
            Ok(kept) => kept.map(|exact| self.numbered(exact, vec![number])),
            Err(error) => {
                let list = name(path);
                tell(&format!(
                    "malkoha: {list}: {error:#}: renew it by 'malkoha index {}'",
                    path.display()
                ));
                None
            }
        }
    }

    /// The inputs' lines that are in the lists, if the inputs are so much smaller that it is better
    /// to index them. Then it is not known where lines are listed.
    fn marked(
        &self,
        lists: &Inputs,
        inputs: &mut Inputs,
    ) -> Result<Option<std::sync::Arc<Marked>>> {
        let can_stream = |path: &PathBuf| !is_stdin(path) && List::is_readable(path);
        let is_simple = self.how == How::Lines && !self.with_origins && !self.keys.are_named();
        if !is_simple || !lists.paths().iter().all(can_stream) {
            return Ok(None);
        }
        let bytes = lists.total_bytes();
        if bytes.is_none_or(|bytes| bytes >= LONG) {
            let most = bytes.unwrap_or(super::marked::MOST_FOR_UNKNOWN);
            inputs.read_ahead(usize::try_from(most.min(super::marked::MOST_FOR_UNKNOWN))?);
        }
        let Some(input) = smaller_than(lists, inputs) else { return Ok(None) };
        // Appended lines are in no index.
        *inputs = inputs.clone().up_to(input.lengths());
        let progress = Progress::new("Reading", bytes, self.quiet);
        let marked = Marked::of(input, lists, self.keys, self.hasher, self.threads, &progress)?;
        Ok(Some(marked))
    }
}
