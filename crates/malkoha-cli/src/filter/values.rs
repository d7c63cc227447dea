//! A map from lines to values, of fixed size or growable.

use std::io::{self, Read, Write};

use anyhow::{Result, anyhow, bail};
use malkoha::{CuckooMap, FileKind, GrowableCuckooMap, KeyHasher, MapBatchError, ReadError};

use super::Contents;

/// A map that pairs of a line and a value can be put in and taken out.
#[expect(clippy::large_enum_variant, reason = "a command has one of them")]
pub(crate) enum Values {
    Fixed(CuckooMap),
    Growable(GrowableCuckooMap),
}

/// Both sorts have these methods.
macro_rules! either {
    ($values:expr, $map:ident => $answer:expr) => {
        match $values {
            Values::Fixed($map) => $answer,
            Values::Growable($map) => $answer,
        }
    };
}

impl Contents for Values {
    type Item = (u64, u64);
    const ITEMS: &'static str = "pairs";

    fn read(kind: FileKind, reader: impl Read) -> Result<Self, ReadError> {
        Ok(match kind {
            FileKind::GrowableMap => Self::Growable(GrowableCuckooMap::read_from(reader)?),
            _ => Self::Fixed(CuckooMap::read_from(reader)?),
        })
    }

    fn write_to(&self, writer: impl Write) -> io::Result<()> {
        either!(self, map => map.write_to(writer))
    }

    fn hasher(&self) -> KeyHasher {
        either!(self, map => map.hasher())
    }

    fn value_bits(&self) -> u32 {
        either!(self, map => map.value_bits())
    }

    fn len(&self) -> u64 {
        either!(self, map => map.len())
    }

    fn capacity(&self) -> u64 {
        either!(self, map => map.capacity())
    }

    fn expected_fpr(&self) -> f64 {
        either!(self, map => map.expected_fpr())
    }

    fn size_in_bytes(&self) -> u64 {
        either!(self, map => map.size_in_bytes())
    }

    fn retain_new(&self, pairs: &mut Vec<(u64, u64)>) {
        let hashes: Vec<u64> = pairs.iter().map(|&(hash, _)| hash).collect();
        let mut new = vec![true; pairs.len()];
        let each = |i: usize, value| new[i] = new[i] && value != pairs[i].1;
        either!(self, map => map.get_hashes(&hashes, each));
        let mut new = new.into_iter();
        pairs.retain(|_| new.next() == Some(true));
    }

    fn insert(&mut self, pairs: &[(u64, u64)]) -> Result<()> {
        match self {
            Self::Fixed(map) => map.insert_hashes(pairs).map_err(|error| match error {
                MapBatchError::Full(error) => {
                    let (refused, all) = (error.refused.len(), pairs.len());
                    anyhow!("{refused} of {all} pairs found no place; {}", error.full)
                }
                error => error.into(),
            }),
            Self::Growable(map) => map.insert_hashes(pairs).map_err(Into::into),
        }
    }

    fn remove(&mut self, pairs: &[(u64, u64)]) {
        for &(hash, value) in pairs {
            either!(self, map => map.remove_hash(hash, value));
        }
    }

    fn union_with(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Fixed(ours), Self::Fixed(theirs)) => Ok(ours.union_with(theirs)?),
            _ => bail!("a map that grows cannot be united: build one map from the pairs of both"),
        }
    }
}
