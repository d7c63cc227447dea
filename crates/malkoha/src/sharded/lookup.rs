//! What `Filter` asks of a table in shards.

use std::io::{self, Read, Write};

use super::found::Found;
use super::{ROUND, Sharded};
use crate::entries::Entry;
use crate::format::{self, FileKind, ReadError, whole};
use crate::key::KeyHasher;
use crate::params::float;
use crate::table::traits::{Candidates, Lookup, Shardable, Stored};

impl<T: Lookup + Clone> Lookup for Sharded<T> {
    const AT_ONCE: usize = ROUND;

    #[inline]
    fn contains(&self, hash: u64) -> bool {
        self.look(hash, |shard| shard.contains(hash))
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        self.by_shard(hashes, |number, positions, hashes| {
            let mut parted = vec![false; hashes.len()];
            self.shard(number).contains_batch(hashes, &mut parted);
            for (&position, is_in) in positions.iter().zip(parted) {
                found[position] = is_in;
            }
        });
    }

    fn has_copy(&self, hash: u64) -> bool {
        self.look(hash, |shard| shard.has_copy(hash))
    }

    fn count(&self, hash: u64) -> u64 {
        self.look(hash, |shard| shard.count(hash))
    }

    /// Shard by shard. Segments are numbered in each shard.
    fn entries(&self) -> impl Iterator<Item = Entry> {
        self.copies().flat_map(|shard| shard.entries().collect::<Vec<_>>())
    }

    fn prefetch(&self, hash: u64) {
        // This only saves time, so it is not worth waiting for.
        self.shards[self.number(hash)].try_look(|shard| shard.prefetch(hash));
    }

    fn len(&self) -> u64 {
        self.sum(T::len)
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
        self.sum(T::size_in_bytes) + size_of_val(&*self.shards) as u64
    }

    fn fingerprint_bits(&self) -> u32 {
        self.shard(0).fingerprint_bits()
    }

    fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Keys are equally likely to belong to each shard.
    fn expected_fpr(&self) -> f64 {
        let rates = self.numbers().map(|number| self.shard(number).expected_fpr());
        rates.sum::<f64>() / float(self.shards.len() as u64)
    }

    fn kind(_is_map: bool) -> FileKind {
        FileKind::of_shards(T::kind(true))
    }

    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        // In memory first, so that threads wait for a copy and not for the disk.
        let mut shards = Vec::new();
        for shard in self.snapshot() {
            let mut bytes = Vec::new();
            shard.write(T::kind(true), hasher, &mut bytes)?;
            shards.push(bytes);
        }
        format::write_shards(kind, hasher, self.capacity, &shards, writer)
    }
}

impl<T: Shardable> Stored for Sharded<T> {
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        let (capacity, hasher, shards): (_, _, Vec<T>) =
            format::read_shards(kind, reader, |shard| {
                whole(shard, |reader| T::read(T::kind(true), reader))
            })?;
        // The rate is that of all shards, and a batch is checked against the values of the first.
        if let Some(other) = shards.iter().position(|shard| !shard.is_like(&shards[0])) {
            return Err(format::no_shard(other));
        }
        Ok((Self::of(shards, capacity), hasher))
    }

    fn from_bytes(kind: FileKind, mut bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        whole(&mut bytes, |reader| Self::read(kind, reader))
    }
}

impl<T: Candidates + Clone> Candidates for Sharded<T> {
    #[inline]
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        let mut found = Found::default();
        self.look(hash, |shard| {
            shard.for_each_candidate(hash, |value, copies| found.push((value, copies)));
        });
        found.into_iter()
    }

    fn for_each_candidate(&self, hash: u64, mut each: impl FnMut(u64, u64)) {
        self.candidates(hash).for_each(|(value, copies)| each(value, copies));
    }

    fn candidates_batch(&self, hashes: &[u64], mut each: impl FnMut(usize, u64, u64)) {
        self.by_shard(hashes, |number, positions, hashes| {
            let mut found = Vec::with_capacity(hashes.len());
            self.shard(number).candidates_batch(hashes, |i, value, copies| {
                found.push((positions[i], value, copies));
            });
            found.into_iter().for_each(|(i, value, copies)| each(i, value, copies));
        });
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        self.look(hash, |shard| shard.count_value(hash, value))
    }
}
