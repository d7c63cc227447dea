//! Implements the traits of tables for the public types.

use std::io::{self, Read, Write};

use super::bucket_word::Pair;
use super::bulk;
use super::segment::{Segment, Slot};
use super::shape::LANES;
use super::table::{Growing, narrow};
use crate::entries::Entry;
use crate::error::InsertError;
use crate::format::{self, FileKind, ReadError, whole};
use crate::key::KeyHasher;
use crate::ring;
use crate::table::Rounds;
use crate::table::traits::{Candidates, Change, Fill, Lookup, Sealed, Sole, Stored, value_at};

impl Sealed for Growing {}

impl Lookup for Growing {
    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        Growing::contains(self, hash)
    }

    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        Growing::contains_batch(self, hashes, found);
    }

    #[inline]
    fn has_copy(&self, hash: u64) -> bool {
        self.has_copy_at(&self.target(hash))
    }

    fn count(&self, hash: u64) -> u64 {
        if self.shape.value_bits == 0 { self.count_keys(hash) } else { self.count_values(hash) }
    }

    fn entries(&self) -> impl Iterator<Item = Entry> {
        let slots = (0..self.segments()).flat_map(|number| self.entries_of(number));
        slots.chain(self.spill().iter().map(|(key, copies)| {
            let number = key.segment as usize;
            let segment = self.segment(number);
            let place = key.place.into();
            let [bucket, _] = segment.buckets_of([place, place], key.fingerprint.into());
            let pair = (key.fingerprint.into(), key.value);
            Entry { copies, ..entry(&segment, number, bucket, pair) }
        }))
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        Growing::prefetch(self, hash);
    }

    #[inline]
    fn len(&self) -> u64 {
        self.len
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn slots(&self) -> u64 {
        self.records.iter().map(|record| record.form.grid.buckets() * u64::from(LANES)).sum()
    }

    fn spilled(&self) -> u64 {
        self.spill.copies()
    }

    fn size_in_bytes(&self) -> u64 {
        Growing::size_in_bytes(self)
    }

    /// Of the first segments, the mark of its end not counted.
    fn fingerprint_bits(&self) -> u32 {
        self.shape.widths.at(self.shape.root_depth())
    }

    #[inline]
    fn value_bits(&self) -> u32 {
        self.shape.value_bits
    }

    fn expected_fpr(&self) -> f64 {
        -(-self.expected_matches()).exp_m1()
    }

    fn kind(is_map: bool) -> FileKind {
        if is_map { FileKind::GrowableMap } else { FileKind::GrowableSet }
    }

    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()> {
        format::write_growable(self, kind, hasher, writer)
    }
}

impl Stored for Growing {
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        format::read_growable(kind, reader)
    }

    fn from_bytes(kind: FileKind, mut bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        whole(&mut bytes, |reader| Self::read(kind, reader))
    }
}

impl Fill for Growing {
    fn make_room(&mut self, hashes: usize, hash: &mut dyn FnMut(usize) -> Option<u64>) {
        // Maps insert batches in their order.
        if self.shape.value_bits == 0 {
            self.make_room_for(hashes, hash);
        }
    }

    fn rounds(&self, hashes: usize, threads: usize) -> Option<Rounds> {
        bulk::sorted(self.segments.len(), hashes, threads, || self.sorted_depth())
    }

    fn has_outgrown(&self, rounds: &Rounds) -> bool {
        bulk::has_outgrown(self.segments.len(), rounds)
    }

    fn insert_round(&mut self, round: &mut Rounds) -> Vec<u64> {
        self.insert_sorted(round);
        Vec::new()
    }

    fn insert_batch(&mut self, hashes: &[u64], values: &[u64]) -> Vec<usize> {
        self.insert_stream(hashes, values, |table, i, _, inserted| {
            if !inserted {
                table.insert_any(hashes[i], value_at(values, i));
            }
        });
        Vec::new()
    }
}

impl Change for Growing {
    #[inline]
    fn insert(&mut self, hash: u64, value: u64) -> Result<(), InsertError> {
        Growing::insert(self, hash, value);
        Ok(())
    }

    #[inline]
    fn insert_unique(&mut self, hash: u64) -> Result<bool, InsertError> {
        let target = self.target(hash);
        let inserted = self.insert_new(&target, 0);
        self.len += u64::from(inserted);
        Ok(inserted || self.insert_unless_copy(hash, &target))
    }

    fn insert_unique_batch(&mut self, hashes: &[u64], new: &mut [bool]) -> Vec<usize> {
        self.insert_stream(hashes, &[], |table, i, target, inserted| {
            new[i] = inserted || table.insert_unless_copy(hashes[i], target);
        });
        Vec::new()
    }

    #[cold]
    fn refusal(&self) -> InsertError {
        InsertError::Full { len: self.len, capacity: self.capacity }
    }

    #[inline]
    fn remove(&mut self, hash: u64, value: u64) -> bool {
        Growing::remove(self, hash, value)
    }

    fn remove_batch(&mut self, hashes: &[u64], values: &[u64], removed: &mut [bool]) {
        let ask = |table: &Self, hash: u64| Growing::prefetch(table, hash);
        ring::one_by_one(self, hashes, ask, |table, i, hash, ()| {
            removed[i] = Growing::remove(table, hash, value_at(values, i));
        });
    }

    fn update(&mut self, hash: u64, old: u64, new: u64) -> bool {
        Growing::update(self, hash, old, new)
    }

    fn clear(&mut self) {
        Growing::clear(self);
    }
}

impl Candidates for Growing {
    #[inline]
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)> {
        self.get(hash)
    }

    fn sole_candidates(&self, hashes: &[u64], found: &mut [Sole]) {
        self.soles(hashes, found);
    }

    #[inline]
    fn for_each_candidate(&self, hash: u64, each: impl FnMut(u64, u64)) {
        self.for_each_value(hash, each);
    }

    fn candidates_batch(&self, hashes: &[u64], each: impl FnMut(usize, u64, u64)) {
        self.get_batch(hashes, each);
    }

    fn count_value(&self, hash: u64, value: u64) -> u64 {
        Growing::count_value(self, hash, value)
    }
}

impl Growing {
    fn entries_of(&self, number: usize) -> Vec<Entry> {
        let bytes = self.bytes(number);
        let segment = self.segment(number);
        let mut entries = Vec::new();
        segment.for_each_occupant(bytes, |bucket, Slot { fingerprint, value, .. }, _| {
            entries.push(entry(&segment, number, bucket, (fingerprint, value)));
        });
        entries
    }
}

fn entry(
    segment: &Segment<'_, Pair>,
    number: usize,
    bucket: u64,
    (fingerprint, value): (u64, u64),
) -> Entry {
    let bits = segment.codec.length(fingerprint);
    Entry {
        segment: narrow(number as u64),
        place: narrow(bucket),
        fingerprint: narrow(fingerprint >> (segment.codec.bits - bits + 1)),
        fingerprint_bits: bits,
        value,
        copies: 1,
    }
}

impl PartialEq for Growing {
    /// Whether the files of both would be the same.
    fn eq(&self, other: &Self) -> bool {
        (self.capacity, self.len) == (other.capacity, other.len) && self.is_same(other)
    }
}

impl Growing {
    /// Whether both have the same in the same slots, however many keys that is.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same = |number: usize| {
            self.records[number].is_like(&other.records[number])
                && self.bytes(number) == other.bytes(number)
        };
        self.shape == other.shape
            && self.segments() == other.segments()
            && self.spill == other.spill
            && (0..self.segments()).all(same)
    }
}
