//! Lookups in a shared table, and its files.

use std::io::{self, Read, Write};

use super::shared::Shared;
use crate::entries::Entry;
use crate::error::BuildError;
use crate::format::{FileKind, ReadError, whole};
use crate::key::KeyHasher;
use crate::locks::Locking;
use crate::params::float;
use crate::table::Fixed;
use crate::table::traits::{Lookup, Sealed, Stored};

impl<P: Locking> Sealed for Shared<P> {}

impl<P: Locking> Lookup for Shared<P> {
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.table.whole(|table| table.contains(&table.probe(hash)))
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        self.table.contains_many(hashes, found);
    }

    fn count(&self, hash: u64) -> u64 {
        self.table.whole(|table| table.count(&table.probe(hash)))
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.table.entries()
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.table.requested(hash);
    }

    fn len(&self) -> u64 {
        self.len.get()
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn slots(&self) -> u64 {
        self.table.slots()
    }

    fn spilled(&self) -> u64 {
        self.table.spilled()
    }

    fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes()
    }

    fn fingerprint_bits(&self) -> u32 {
        self.table.geometry.fingerprint_bits
    }

    fn value_bits(&self) -> u32 {
        0
    }

    fn expected_fpr(&self) -> f64 {
        let occupied = self.len.get().saturating_sub(self.table.spilled());
        self.table.geometry.fpr_at(float(occupied) / float(self.table.slots()))
    }

    fn kind(_is_map: bool) -> FileKind {
        FileKind::Set
    }

    fn write(&self, _: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        // In memory first: threads may go on changing the table while the writer waits.
        let fixed = self.to_fixed().map_err(io::Error::other)?;
        fixed.write(FileKind::Set, hasher, writer)
    }
}

impl<P: Locking> Stored for Shared<P> {
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        let (fixed, hasher) = Fixed::read(kind, reader)?;
        let shared = Self::from_fixed(&fixed).map_err(|error| match error {
            BuildError::Memory { bytes } => ReadError::Memory(bytes),
            _ => ReadError::Layout(fixed.parts().geometry.layout.name()),
        })?;
        Ok((shared, hasher))
    }

    fn from_bytes(kind: FileKind, mut bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        whole(&mut bytes, |reader| Self::read(kind, reader))
    }
}
