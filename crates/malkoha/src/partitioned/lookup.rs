//! Queries of a growing table that threads share.

use std::io::{self, Read, Write};
use std::iter;

use super::batch::ROUND;
use super::{Partition, Partitioned};
use crate::entries::Entry;
use crate::format::{FileKind, ReadError, whole};
use crate::growable::{MAX_PARTITIONS, partition_number};
use crate::key::KeyHasher;
use crate::locks::biased::Biased;
use crate::table::traits::{Candidates, Lookup, Sole, Stored};

impl<T: Partition> Partitioned<T> {
    #[inline(never)]
    fn contains_with_lock(&self, hash: u64) -> bool {
        self.read(partition_number(hash)).contains(hash)
    }
}

impl<T: Partition> Lookup for Partitioned<T> {
    const AT_ONCE: usize = ROUND;

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        // Inlined without the other way, which takes registers.
        match self.open(partition_number(hash)) {
            Some(partition) => partition.contains(hash),
            None => self.contains_with_lock(hash),
        }
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        self.find_each(hashes, found);
    }

    fn has_copy(&self, hash: u64) -> bool {
        self.look(partition_number(hash), |partition| partition.has_copy(hash))
    }

    fn count(&self, hash: u64) -> u64 {
        self.look(partition_number(hash), |partition| partition.count(hash))
    }

    /// Goes partition by partition. Each partition is read as it is at that moment.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        let (mut number, mut segments) = (0, 0);
        let parts = iter::from_fn(move || {
            (number < MAX_PARTITIONS).then(|| {
                let partition = self.read(number);
                let first = segments;
                number = partition.growing().partition_numbers().1;
                segments += u32::try_from(partition.growing().segments()).expect("fewer than 2^26");
                let in_all = |entry: Entry| Entry { segment: entry.segment + first, ..entry };
                partition.entries().map(in_all).collect::<Vec<_>>()
            })
        });
        parts.flatten()
    }

    fn prefetch(&self, hash: u64) {
        // Prefetching only saves time, so it never waits for a lock.
        let number = partition_number(hash);
        self.partition(number).try_look(|partition| {
            if super::has(partition, number) {
                partition.prefetch(hash);
            }
        });
    }

    fn len(&self) -> u64 {
        self.sum(T::len).saturating_sub(self.overdrawn())
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn slots(&self) -> u64 {
        self.sum(T::slots)
    }

    fn spilled(&self) -> u64 {
        self.sum(T::spilled)
    }

    fn size_in_bytes(&self) -> u64 {
        self.sum(|partition| size_of::<Biased<T>>() as u64 + partition.size_in_bytes())
            + size_of_val(&*self.partitions) as u64
    }

    fn fingerprint_bits(&self) -> u32 {
        self.read(0).fingerprint_bits()
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// The rate of a partition counts its share of the tree only, so that the expected numbers of
    /// matches add up.
    fn expected_fpr(&self) -> f64 {
        let mut matches = 0.0;
        self.for_each(|partition| matches -= (-partition.expected_fpr()).ln_1p());
        -f64::exp_m1(-matches)
    }

    fn kind(is_map: bool) -> FileKind {
        T::kind(is_map)
    }

    /// Copies the table in memory first, so that threads do not wait for the device.
    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        self.to_one().write(kind, hasher, writer)
    }
}

impl<T: Partition> Stored for Partitioned<T> {
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        let (table, hasher) = T::read(kind, reader)?;
        Ok((Self::of(table), hasher))
    }

    fn from_bytes(kind: FileKind, mut bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        whole(&mut bytes, |reader| <Self as Stored>::read(kind, reader))
    }
}

impl<T: Partition + Candidates> Candidates for Partitioned<T> {
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        let all = |partition: &T| partition.candidates(hash).collect();
        let (one, several) =
            self.look(partition_number(hash), |partition| match partition.sole_candidate(hash) {
                Sole::Absent => (None, Vec::new()),
                Sole::Value(value) => (Some((value, 1)), Vec::new()),
                Sole::Several => (None, all(partition)),
            });
        one.into_iter().chain(several)
    }

    fn for_each_candidate(&self, hash: u64, mut each: impl FnMut(u64, u64)) {
        self.candidates(hash).for_each(|(value, copies)| each(value, copies));
    }

    #[inline]
    fn sole_candidate(&self, hash: u64) -> Sole {
        self.look(partition_number(hash), |partition| partition.sole_candidate(hash))
    }

    fn sole_candidates(&self, hashes: &[u64], found: &mut [Sole]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        let mut answers = Vec::new();
        self.read_each(hashes, |partition, part| {
            answers.resize(part.hashes.len(), Sole::Absent);
            partition.sole_candidates(part.hashes, &mut answers);
            for (i, &answer) in answers.iter().enumerate() {
                found[part.position(i)] = answer;
            }
        });
    }

    fn candidates_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        // One round of partitions at a time, and nothing of the caller runs under a lock.
        for (round, hashes) in hashes.chunks(ROUND).enumerate() {
            let mut found = Vec::with_capacity(hashes.len());
            self.read_each(hashes, |partition, part| {
                partition.candidates_batch(part.hashes, |i, value, copies| {
                    found.push((round * ROUND + part.position(i), value, copies));
                });
            });
            found.into_iter().for_each(|(i, value, copies)| each(i, value, copies));
        }
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        self.look(partition_number(hash), |partition| partition.count_value(hash, value))
    }
}
