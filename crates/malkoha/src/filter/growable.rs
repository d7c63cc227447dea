//! What only sets and maps have that grow and have one owner.

use super::{Content, Filter, GrowableCuckooFilter, GrowableCuckooMap, Values};
use crate::builder::Builder;
use crate::error::{BuildError, InsertError, UnionError};
use crate::growable::Growing;

impl GrowableCuckooFilter {
    /// A filter for `capacity` keys at first, that keeps to this false-positive rate until it has
    /// grown to 1024 times as many.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }

    /// Adds all that is in another filter, without the keys: copies of a key add up, and each key
    /// counts at least as often as in both. Takes time in proportion to the filter that has fewer
    /// keys, and meanwhile the memory of another.
    ///
    /// Keys keep the bits that they have left, so the false-positive rate is that of both together
    /// at their ages: see [`expected_fpr`](Self::expected_fpr).
    ///
    /// # Errors
    ///
    /// If the filters' seeds or fingerprints differ, if the capacity of `other` is the smaller one
    /// and its segments cannot be told apart here, or if there are too many keys for the
    /// fingerprints, or more copies than 2^63. This filter is then as it was.
    pub fn union_with(&mut self, other: &Self) -> Result<(), UnionError> {
        if self.hasher != other.hasher {
            return Err(UnionError::Different("seed"));
        }
        self.table = self.table.united(&other.table)?;
        Ok(())
    }
}

impl GrowableCuckooMap {
    /// A map for `capacity` keys at first with values of at most `value_bits` bits (0 to 64), in
    /// which a key that was not inserted has on average at most `fpr` candidates until there are
    /// 1024 times as many keys.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`].
    pub fn with_capacity(capacity: u64, fpr: f64, value_bits: u32) -> Result<Self, BuildError> {
        Self::builder().capacity(capacity).fpr(fpr).value_bits(value_bits).build()
    }

    /// A builder, for everything else.
    pub fn builder() -> Builder<Self> {
        Builder::new()
    }
}

impl Filter<Growing, Values> {
    /// Makes room for this many keys in all, with values up to `value`: they then come in without a
    /// rebuild, at a quarter of the cost. With fewer keys the room stays until
    /// [`shrink_to_fit`](Self::shrink_to_fit).
    ///
    /// # Errors
    ///
    /// If the value has more than [`value_bits`](Self::value_bits) bits, or the system has not that
    /// much memory; nothing has changed then.
    pub fn reserve(&mut self, keys: u64, value: u64) -> Result<(), InsertError> {
        self.check(value)?;
        let reserved = self.table.reserve(keys, u64::BITS - value.leading_zeros());
        reserved.map_err(|bytes| InsertError::Memory { bytes })
    }
}

impl<C: Content> Filter<Growing, C> {
    /// Gives memory back after many removals, without the keys: puts the halves of splits together
    /// again and lets segments shrink until a fifth of their room is free. Takes time in proportion
    /// to the filter.
    ///
    /// The segments that it was built with stay, so it does not get much smaller than it began.
    /// Keys that arrived since a split lose a bit when that is undone, which raises the
    /// false-positive rate a little: see [`expected_fpr`](Self::expected_fpr).
    pub fn shrink_to_fit(&mut self) {
        self.table.shrink();
    }

    /// Whether memory that it takes from now on has huge pages, as it has unless told otherwise.
    /// With them lookups in a large filter are faster by a third to a half; without them, no insert
    /// waits until the system has cleared two MiB at once, which takes a quarter of a millisecond,
    /// and many times that in a virtual machine whose host has to find them. Not stored in files.
    pub fn set_huge_pages(&mut self, huge: bool) {
        self.table.set_huge_pages(huge);
    }

    /// Segments that it has grown to.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.table.segments()
    }

    /// Buckets of four slots.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.buckets()
    }
}
