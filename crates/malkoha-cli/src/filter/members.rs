//! A set of lines, of fixed size or growable.

use std::io::{self, Read, Write};

use anyhow::{Result, anyhow, bail};
use malkoha::{CuckooFilter, FileKind, GrowableCuckooFilter, KeyHasher, ReadError};

use super::Contents;

/// A filter that lines can be put in and taken out.
#[expect(clippy::large_enum_variant, reason = "a command has one of them")]
pub(crate) enum Members {
    Fixed(CuckooFilter),
    Growable(GrowableCuckooFilter),
}

impl Contents for Members {
    type Item = u64;
    const ITEMS: &'static str = "lines";

    fn read(kind: FileKind, reader: impl Read) -> Result<Self, ReadError> {
        Ok(match kind {
            FileKind::GrowableSet => Self::Growable(GrowableCuckooFilter::read_from(reader)?),
            _ => Self::Fixed(CuckooFilter::read_from(reader)?),
        })
    }

    fn value_bits(&self) -> u32 {
        0
    }

    fn hasher(&self) -> KeyHasher {
        match self {
            Self::Fixed(filter) => filter.hasher(),
            Self::Growable(filter) => filter.hasher(),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Fixed(filter) => filter.len(),
            Self::Growable(filter) => filter.len(),
        }
    }

    fn capacity(&self) -> u64 {
        match self {
            Self::Fixed(filter) => filter.capacity(),
            Self::Growable(filter) => filter.capacity(),
        }
    }

    fn expected_fpr(&self) -> f64 {
        match self {
            Self::Fixed(filter) => filter.expected_fpr(),
            Self::Growable(filter) => filter.expected_fpr(),
        }
    }

    fn size_in_bytes(&self) -> u64 {
        match self {
            Self::Fixed(filter) => filter.size_in_bytes(),
            Self::Growable(filter) => filter.size_in_bytes(),
        }
    }

    fn retain_new(&self, hashes: &mut Vec<u64>) {
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

    fn insert(&mut self, hashes: &[u64]) -> Result<()> {
        match self {
            Self::Fixed(filter) => filter.insert_hashes(hashes).map_err(|error| {
                let (refused, all) = (error.refused.len(), hashes.len());
                anyhow!("{refused} of {all} lines found no place; {}", error.full)
            }),
            Self::Growable(filter) => filter.insert_hashes(hashes).map_err(Into::into),
        }
    }

    fn remove(&mut self, hashes: &[u64]) {
        let mut removed = vec![false; hashes.len()];
        match self {
            Self::Fixed(filter) => filter.remove_hashes(hashes, &mut removed),
            Self::Growable(filter) => filter.remove_hashes(hashes, &mut removed),
        }
    }

    fn union_with(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Fixed(ours), Self::Fixed(theirs)) => Ok(ours.union_with(theirs)?),
            (Self::Growable(ours), Self::Growable(theirs)) => Ok(ours.union_with(theirs)?),
            _ => bail!("one grows and the other does not: build both with --growable, or neither"),
        }
    }

    fn write_to(&self, writer: impl Write) -> io::Result<()> {
        match self {
            Self::Fixed(filter) => filter.write_to(writer),
            Self::Growable(filter) => filter.write_to(writer),
        }
    }
}
