//! The public type of all sets and maps: keys, batches and errors. The tables behind it know only
//! hashes.

mod bytes;
mod change;
mod expiring;
#[cfg(feature = "std")]
mod files;
mod fixed;
#[cfg(feature = "std")]
mod growable;
mod kinds;
mod lookup;
mod make;
#[cfg(feature = "mmap")]
mod mapped;
mod pairs;
#[cfg(feature = "rayon")]
mod parallel;
#[cfg(feature = "std")]
mod pieces;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "std")]
mod shared;

pub(crate) use change::KeysOf;
pub use kinds::*;

use alloc::vec::Vec;
use core::fmt::{self, Debug};
use core::marker::PhantomData;

use crate::error::{BatchError, InsertError, UnionError};
use crate::key::KeyHasher;
use crate::table::traits::Lookup;

/// A set that stores a few bits per key, or a map from keys to small values.
///
/// This type has the methods of all kinds. Name a kind by its alias:
///
/// | | a set of [`Keys`] | a map to [`Values`] |
/// | --- | --- | --- |
/// | of fixed size | [`CuckooFilter`] | [`CuckooMap`] |
/// | that grows | [`GrowableCuckooFilter`] | [`GrowableCuckooMap`] |
/// | shared by threads | [`ConcurrentCuckooFilter`] | |
/// | shared, and grows | [`GrowableConcurrentCuckooFilter`] | [`GrowableConcurrentCuckooMap`] |
///
/// * **No** is always right, **yes** is wrong with a small probability: the false-positive rate.
/// * Keys that were inserted can be removed.
/// * No key is ever lost: an insert that finds no place is an error, and changes nothing.
///
/// A lookup touches two places of the table, whatever its size: O(1). So does a removal.
///
/// Methods that end in `_hash` or `_hashes` are for callers that hash keys themselves, with
/// [`hasher`](Self::hasher) or with their own hash, whose 64 bits must all be well mixed. A batch
/// does the same as one call per key. It is faster in a table that is larger than the processor's
/// caches, because the cache misses overlap.
///
/// # Removing keys that were never inserted
///
/// A filter stores fingerprints, not keys. If you remove a key that was **not** inserted, the
/// filter may remove the fingerprint of another key, which is then lost. The probability is that of
/// a false positive. Remove only keys that you have inserted. No structure of this kind can detect
/// the mistake.
///
/// # Equal keys
///
/// A set that deletes must keep every copy: a key that was inserted twice must be removed twice.
/// Any number of copies fits, and [`count`](Self::count) returns it. Usually two of them take
/// slots. Further copies are *spilled*: the filter counts them in a list outside the table, which
/// takes about 45 bytes for each fingerprint that has any. If a new key finds no slot, a second
/// copy gives up its slot. So copies never fill a filter: it holds its capacity of distinct keys,
/// with any number of copies.
///
/// If one copy is enough and you never remove keys, use
/// [`insert_unique`](CuckooFilter::insert_unique).
#[derive(Clone)]
pub struct Filter<T, C = Keys> {
    pub(crate) table: T,
    hasher: KeyHasher,
    content: PhantomData<C>,
}

/// The content of a set: only keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {}

/// The content of a map: a value of up to 64 bits per key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {}

/// [`Keys`] or [`Values`], and nothing else.
pub trait Content: Sealed + Debug {}

/// Cannot be named outside this crate.
pub trait Sealed {
    const IS_MAP: bool;
}

impl Sealed for Keys {
    const IS_MAP: bool = false;
}

impl Sealed for Values {
    const IS_MAP: bool = true;
}

impl Content for Keys {}
impl Content for Values {}

impl<T, C> Filter<T, C> {
    pub(crate) fn new(table: T, hasher: KeyHasher) -> Self {
        Self { table, hasher, content: PhantomData }
    }

    /// The hash that this filter uses, for the `*_hash` methods.
    #[must_use]
    pub const fn hasher(&self) -> KeyHasher {
        self.hasher
    }
}

impl<T: Lookup, C: Content> Debug for Filter<T, C> {
    /// Numbers alone: slots are many, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter")
            .field("kind", &T::kind(C::IS_MAP))
            .field("hasher", &self.hasher)
            .field("len", &self.table.len())
            .field("capacity", &self.table.capacity())
            .field("expected_fpr", &self.table.expected_fpr())
            .field("size_in_bytes", &self.table.size_in_bytes())
            .finish_non_exhaustive()
    }
}

impl<A: PartialEq<B>, B, C> PartialEq<Filter<B, C>> for Filter<A, C> {
    /// Returns whether both have the same content in the same places, so that their files would be
    /// equal.
    fn eq(&self, other: &Filter<B, C>) -> bool {
        self.hasher == other.hasher && self.table == other.table
    }
}

/// An error if two filters hash keys differently.
fn same_hash<A, B, C>(ours: &Filter<A, C>, theirs: &Filter<B, C>) -> Result<(), UnionError> {
    if ours.hasher == theirs.hasher { Ok(()) } else { Err(UnionError::Seed) }
}

/// The result of a batch that refused these positions, in any order.
fn all_but(mut refused: Vec<usize>, error: impl FnOnce() -> InsertError) -> Result<(), BatchError> {
    if refused.is_empty() {
        return Ok(());
    }
    refused.sort_unstable();
    Err(BatchError { refused, error: error() })
}
