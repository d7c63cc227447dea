//! What commands need of sets and of maps alike, to make, change and write them.

use std::io::{self, Read, Write};

use anyhow::Result;
use malkoha::{FileKind, KeyHasher, ReadError};

use super::pair::WrongLine;

/// A set of lines, or a map from lines to values.
pub(crate) trait Contents: Sized {
    /// What a line of the input comes to.
    type Item: Item;
    /// What users call these.
    const ITEMS: &'static str;

    /// Reads a file of this kind, and checks every byte.
    fn read(kind: FileKind, reader: impl Read) -> Result<Self, ReadError>;

    fn write_to(&self, writer: impl Write) -> io::Result<()>;

    fn hasher(&self) -> KeyHasher;

    /// Bits of a value, at most; 0 in a set.
    fn value_bits(&self) -> u32;

    /// Items in it, copies included.
    fn len(&self) -> u64;

    fn capacity(&self) -> u64;

    fn expected_fpr(&self) -> f64;

    fn size_in_bytes(&self) -> u64;

    /// Leaves those that are not in and will not be found without being put in.
    fn retain_new(&self, items: &mut Vec<Self::Item>);

    /// Puts all in; after an error some are in.
    fn insert(&mut self, items: &[Self::Item]) -> Result<()>;

    /// Takes items out, one copy each.
    fn remove(&mut self, items: &[Self::Item]);

    /// Adds all that is in the other; after an error this one is as it was.
    fn union_with(&mut self, other: &Self) -> Result<()>;
}

/// The hash of a line, or those of keys with their values.
pub(crate) trait Item: Copy + Ord + Send + 'static {
    /// What a line comes to, with values of so many bits at most.
    fn of(line: &[u8], hasher: KeyHasher, value_bits: u32) -> Result<Self, WrongLine>;
}

impl Item for u64 {
    fn of(line: &[u8], hasher: KeyHasher, _: u32) -> Result<Self, WrongLine> {
        Ok(hasher.hash_bytes(line))
    }
}
