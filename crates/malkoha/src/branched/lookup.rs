//! Queries of a growing set that threads share.

use std::io::{self, Read, Write};
use std::iter;

use super::Branched;
use super::batch::ROUND;
use crate::entries::Entry;
use crate::format::{FileKind, ReadError, whole};
use crate::growable::{Growing, MAX_BRANCHES, branch_number};
use crate::key::KeyHasher;
use crate::table::traits::{Lookup, Stored};

impl Branched {
    #[inline(never)]
    fn contains_with_lock(&self, hash: u64) -> bool {
        self.read(branch_number(hash)).contains(hash)
    }
}

impl Lookup for Branched {
    const AT_ONCE: usize = ROUND;

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        // Inlined without the other way, which takes registers.
        match self.open(branch_number(hash)) {
            Some(branch) => branch.contains(hash),
            None => self.contains_with_lock(hash),
        }
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        self.find_each(hashes, found);
    }

    fn has_copy(&self, hash: u64) -> bool {
        self.look(branch_number(hash), |branch| branch.has_copy(hash))
    }

    fn count(&self, hash: u64) -> u64 {
        self.look(branch_number(hash), |branch| branch.count(hash))
    }

    /// Goes branch by branch. Each branch is read as it is at that moment.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let (mut number, mut segments) = (0, 0);
        let parts = iter::from_fn(move || {
            (number < MAX_BRANCHES).then(|| {
                let branch = self.read(number);
                let first = segments;
                number = branch.branch_numbers().1;
                segments += u32::try_from(branch.segments()).expect("fewer than 2^26");
                let in_all = |entry: Entry| Entry { segment: entry.segment + first, ..entry };
                branch.entries().map(in_all).collect::<Vec<_>>()
            })
        });
        parts.flatten()
    }

    fn prefetch(&self, hash: u64) {
        // Prefetching only saves time, so it never waits for a lock.
        let number = branch_number(hash);
        self.branch(number).try_look(|branch| {
            if number < branch.branch_numbers().1 {
                branch.prefetch(hash);
            }
        });
    }

    fn len(&self) -> u64 {
        self.sum(Growing::len).saturating_sub(self.overdrawn())
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn slots(&self) -> u64 {
        self.sum(Lookup::slots)
    }

    fn spilled(&self) -> u64 {
        self.sum(Lookup::spilled)
    }

    fn size_in_bytes(&self) -> u64 {
        self.sum(|branch| size_of::<super::Branch>() as u64 + Lookup::size_in_bytes(branch))
            + size_of_val(&*self.branches) as u64
    }

    fn fingerprint_bits(&self) -> u32 {
        self.read(0).fingerprint_bits()
    }

    fn value_bits(&self) -> u32 {
        0
    }

    fn expected_fpr(&self) -> f64 {
        let mut matches = 0.0;
        self.for_each(|branch| matches += branch.expected_matches());
        -f64::exp_m1(-matches)
    }

    fn kind(is_map: bool) -> FileKind {
        Growing::kind(is_map)
    }

    /// Copies the table in memory first, so that threads do not wait for the device.
    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        self.to_one().write(kind, hasher, writer)
    }
}

impl Stored for Branched {
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        let (table, hasher) = <Growing as Stored>::read(kind, reader)?;
        Ok((Self::of(table), hasher))
    }

    fn from_bytes(kind: FileKind, mut bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        whole(&mut bytes, |reader| <Self as Stored>::read(kind, reader))
    }
}
