//! A set of lines, of fixed size or growable.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use malkoha::{CuckooFilter, FileKind, GrowableCuckooFilter, KeyHasher};

use super::lookup::kind;
use crate::input::name;

/// A filter that lines can be put in and taken out.
#[expect(clippy::large_enum_variant, reason = "a command has one of them")]
pub(crate) enum Members {
    Fixed(CuckooFilter),
    Growable(GrowableCuckooFilter),
}

impl Members {
    /// Reads the set in the file that was opened at this path, and checks every byte.
    pub(crate) fn open(path: &Path, file: &File) -> Result<Self> {
        let failed = || format!("cannot open filter {}", name(path));
        let reader = BufReader::new(file);
        Ok(match kind(path).with_context(failed)? {
            FileKind::Map | FileKind::GrowableMap => {
                bail!(
                    "{} holds a map, in which lines have values: this command has none",
                    name(path)
                )
            }
            FileKind::GrowableSet => {
                Self::Growable(GrowableCuckooFilter::read_from(reader).with_context(failed)?)
            }
            _ => Self::Fixed(CuckooFilter::read_from(reader).with_context(failed)?),
        })
    }

    pub(crate) fn hasher(&self) -> KeyHasher {
        match self {
            Self::Fixed(filter) => filter.hasher(),
            Self::Growable(filter) => filter.hasher(),
        }
    }

    /// Lines in it, copies included.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Fixed(filter) => filter.len(),
            Self::Growable(filter) => filter.len(),
        }
    }

    pub(crate) fn capacity(&self) -> u64 {
        match self {
            Self::Fixed(filter) => filter.capacity(),
            Self::Growable(filter) => filter.capacity(),
        }
    }

    pub(crate) fn expected_fpr(&self) -> f64 {
        match self {
            Self::Fixed(filter) => filter.expected_fpr(),
            Self::Growable(filter) => filter.expected_fpr(),
        }
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        match self {
            Self::Fixed(filter) => filter.size_in_bytes(),
            Self::Growable(filter) => filter.size_in_bytes(),
        }
    }

    /// Leaves those that are not in and will not be found without being put in.
    pub(crate) fn retain_new(&self, hashes: &mut Vec<u64>) {
        let mut found = vec![false; hashes.len()];
        match self {
            Self::Fixed(filter) => filter.contains_hashes(hashes, &mut found),
            Self::Growable(filter) => {
                filter.contains_hashes(hashes, &mut found);
                // What a small table only seems to hold need not seem so when it has grown.
                for (&hash, found) in hashes.iter().zip(&mut found) {
                    *found = *found && filter.count_hash(hash) > 0;
                }
            }
        }
        let mut found = found.into_iter();
        hashes.retain(|_| found.next() == Some(false));
    }

    /// Puts all lines in; after an error some are in.
    pub(crate) fn insert_hashes(&mut self, hashes: &[u64]) -> Result<()> {
        match self {
            Self::Fixed(filter) => filter.insert_hashes(hashes).map_err(|error| {
                let (refused, all) = (error.refused.len(), hashes.len());
                anyhow!("{refused} of {all} lines found no place; {}", error.full)
            }),
            Self::Growable(filter) => filter.insert_hashes(hashes).map_err(Into::into),
        }
    }

    /// Takes lines out, one copy each.
    pub(crate) fn remove_hashes(&mut self, hashes: &[u64]) {
        let mut removed = vec![false; hashes.len()];
        match self {
            Self::Fixed(filter) => filter.remove_hashes(hashes, &mut removed),
            Self::Growable(filter) => filter.remove_hashes(hashes, &mut removed),
        }
    }

    /// Adds all that is in the other; after an error this one is as it was.
    pub(crate) fn union_with(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Fixed(ours), Self::Fixed(theirs)) => Ok(ours.union_with(theirs)?),
            (Self::Growable(ours), Self::Growable(theirs)) => Ok(ours.union_with(theirs)?),
            _ => bail!("one grows and the other does not: build both with --growable, or neither"),
        }
    }

    pub(crate) fn write_to(&self, writer: impl Write) -> io::Result<()> {
        match self {
            Self::Fixed(filter) => filter.write_to(writer),
            Self::Growable(filter) => filter.write_to(writer),
        }
    }
}
