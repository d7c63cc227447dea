//! The operations of a table that [`Filter`](crate::Filter) uses. Sealed: no other crate can
//! implement these traits.
//!
//! Tables know hashes, but no keys. A set stores values of no bits: its value is always 0.

#[cfg(feature = "std")]
use std::io::Read;

use alloc::vec::Vec;

use crate::entries::Entry;
use crate::error::InsertError;
use crate::format::error::ReadError;
use crate::format::kind::FileKind;
use crate::io::{self, Write};
use crate::key::KeyHasher;
use crate::table::rounds::Rounds;
use crate::table::source::{self, Source};

/// Hashes that a table is given at a time, if it gains nothing from more.
pub(crate) const CHUNK: usize = 1024;

/// Cannot be named outside this crate.
pub trait Sealed {}

/// A table that can be looked up in: every one.
#[expect(clippy::len_without_is_empty, reason = "a filter's `is_empty` asks for its length")]
pub trait Lookup: Sealed {
    /// The best number of hashes to pass at a time, if there are many.
    const AT_ONCE: usize = CHUNK;
    /// Whether the hash's fingerprint is in the table.
    fn contains(&self, hash: u64) -> bool;
    /// [`contains`](Self::contains) for each hash. Both slices have one length.
    fn contains_batch(&self, hashes: &[u64], found: &mut [bool]);
    /// Whether [`count`](Self::count) is above 0. In a table that grows, this can be false where
    /// `contains` is true: for a hash that may no longer match when the table has grown.
    #[inline]
    fn has_copy(&self, hash: u64) -> bool {
        self.contains(hash)
    }
    /// Copies of the hash's fingerprint.
    fn count(&self, hash: u64) -> u64;
    /// The occupied slots, then the spilled copies.
    fn entries(&self) -> impl Iterator<Item = Entry>;
    /// Prefetches the memory of a hash that will soon be looked up or changed.
    fn prefetch(&self, hash: u64);
    /// Keys, copies included.
    fn len(&self) -> u64;
    /// The number of keys that it was built for.
    fn capacity(&self) -> u64;
    /// Slots, occupied or not.
    fn slots(&self) -> u64;
    /// Copies that lie in no slot.
    fn spilled(&self) -> u64;
    /// Bytes of the table, its directory, and spilled copies.
    fn size_in_bytes(&self) -> u64;
    /// Bits of the fingerprint of a key that arrives.
    fn fingerprint_bits(&self) -> u32;
    /// Bits of a value, at most; 0 in a set.
    fn value_bits(&self) -> u32;
    /// The probability that a key that is not in seems to be in.
    fn expected_fpr(&self) -> f64;
    /// The kind of this table's file, as a map or as a set.
    fn kind(is_map: bool) -> FileKind
    where
        Self: Sized;
    /// Writes a whole file.
    fn write(&self, kind: FileKind, hasher: KeyHasher, writer: &mut dyn Write) -> io::Result<()>;
}

/// A table that can be read from a file.
pub trait Stored: Lookup + Sized {
    /// Reads exactly the bytes of a file of this kind, and checks all of them.
    #[cfg(feature = "std")]
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError>;
    /// Reads from bytes that are a whole file of this kind, and checks all of them.
    fn from_bytes(kind: FileKind, bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError>;
}

/// A table that takes batches of hashes.
pub trait Fill: Sealed {
    /// The best size of a batch of hashes that are not sorted.
    const UNSORTED: usize = CHUNK;
    /// Makes room for a batch of this many hashes, if that saves rebuilds. `hash` returns some of
    /// them by number, or `None` if a number has no hash.
    fn make_room(&mut self, _hashes: usize, _hash: &mut dyn FnMut(usize) -> Option<u64>) {}
    /// How this many hashes are best sorted before they are inserted; `None`: not at all.
    fn rounds(&self, _hashes: usize, _threads: usize) -> Option<Rounds> {
        None
    }
    /// Inserts the hashes of a round, which [`rounds`](Self::rounds) has made; returns those that
    /// found no place.
    fn insert_round(&mut self, _round: &mut Rounds) -> Vec<u64> {
        Vec::new()
    }
    /// Whether the table has grown so much since these rounds were made that new ones would be much
    /// faster.
    fn has_outgrown(&self, _rounds: &Rounds) -> bool {
        false
    }
    /// Inserts all hashes, each with its value; a set has no values. Returns the positions of those
    /// that found no place.
    fn insert_batch(&mut self, hashes: &[u64], values: &[u64]) -> Vec<usize>;
}

/// A table that its owner can change.
pub trait Change: Lookup + Fill {
    /// Inserts a copy. The value fits [`value_bits`](Lookup::value_bits).
    fn insert(&mut self, hash: u64, value: u64) -> Result<(), InsertError>;
    /// Inserts a hash that has no copy yet, with the value 0; whether it did.
    #[inline(always)]
    fn insert_unique(&mut self, hash: u64) -> Result<bool, InsertError> {
        if self.has_copy(hash) {
            return Ok(false);
        }
        self.insert(hash, 0).map(|()| true)
    }
    /// Inserts each hash that has no copy yet, in order, with the value 0. Sets in `new` whether it
    /// did. Returns the positions of those that found no place.
    fn insert_unique_batch(&mut self, hashes: &[u64], new: &mut [bool]) -> Vec<usize>;
    /// Inserts a batch on this thread; returns the positions of those that found no place.
    fn insert_all(&mut self, source: &impl Source) -> Vec<usize>
    where
        Self: Sized,
    {
        source::insert(self, source)
    }
    /// [`insert_unique_batch`](Self::insert_unique_batch) for a batch that room is made for.
    fn insert_all_unique(&mut self, source: &impl Source, new: &mut [bool]) -> Vec<usize>
    where
        Self: Sized,
    {
        self.make_room(source.len(), &mut |number| source.hash(number));
        source::in_parts(source, Self::AT_ONCE, new, |hashes, new| {
            self.insert_unique_batch(hashes, new)
        })
    }
    /// Why a key was refused just now.
    fn refusal(&self) -> InsertError;
    /// Removes one copy with this value.
    fn remove(&mut self, hash: u64, value: u64) -> bool;
    /// Removes a copy of each hash in order, with its value; a set has no values. Sets in `removed`
    /// whether it was found.
    fn remove_batch(&mut self, hashes: &[u64], values: &[u64], removed: &mut [bool]);
    /// Replaces one value of a hash, which fits, by another; returns whether it was found.
    fn update(&mut self, hash: u64, old: u64, new: u64) -> bool;
    /// Removes all keys.
    fn clear(&mut self);
}

/// A table that stores a value with each fingerprint.
pub trait Candidates: Lookup {
    /// The values of a hash, with the number of copies of each: one item for each slot, and one for
    /// each different value that is spilled.
    fn candidates(&self, hash: u64) -> impl Iterator<Item = (u64, u64)>;
    /// Calls `each` with what [`candidates`](Self::candidates) yields, in fewer instructions.
    fn for_each_candidate(&self, hash: u64, each: impl FnMut(u64, u64));
    /// Whether there is none, or which it is if there is exactly one: see
    /// [`Filter::sole_candidate`](crate::Filter::sole_candidate).
    #[inline]
    fn sole_candidate(&self, hash: u64) -> Sole {
        Sole::of(|each| self.for_each_candidate(hash, each))
    }
    /// The same for many hashes.
    fn sole_candidates(&self, hashes: &[u64], found: &mut [Sole]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        for (found, &hash) in found.iter_mut().zip(hashes) {
            *found = self.sole_candidate(hash);
        }
    }
    /// The candidates of many hashes: `each(position, value, copies)`.
    fn candidates_batch(&self, hashes: &[u64], each: impl FnMut(usize, u64, u64));
    /// Copies with this value.
    fn count_value(&self, hash: u64, value: u64) -> u64;
}

/// The candidates of a key of a map, if there are not several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sole {
    /// None: the key is not in.
    Absent,
    /// This one.
    Value(u64),
    /// Several, or copies of one.
    Several,
}

impl Sole {
    /// Of what `candidates` passes to its argument.
    pub(crate) fn of(candidates: impl FnOnce(&mut dyn FnMut(u64, u64))) -> Self {
        let mut sole = Self::Absent;
        candidates(&mut |value, copies| {
            sole = match (sole, copies) {
                (Self::Absent, 1) => Self::Value(value),
                _ => Self::Several,
            };
        });
        sole
    }
}
