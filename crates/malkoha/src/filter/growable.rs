//! Methods that only growing sets and maps with one owner have.

use super::{Content, Filter, GrowableCuckooFilter, GrowableCuckooMap, same_hash};
use crate::error::{InsertError, UnionError};
use crate::growable::{Growing, KeptBits};
use crate::layout::Copies;
use crate::partitioned::Partition;

impl GrowableCuckooFilter {
    /// The bits of a hash that the filter keeps; `None` if it has more than one segment.
    #[must_use]
    pub fn kept_bits(&self) -> Option<KeptBits> {
        self.table.kept_bits()
    }

    /// Removes all keys that are not in another filter of the same seed. A key in both stays, with
    /// the copies that it has here. A key that is only here stays if it is a false positive of the
    /// other filter.
    ///
    /// One filter cannot be subtracted from another: that would lose keys which are false positives
    /// of the other.
    ///
    /// # Errors
    ///
    /// If the filters' seeds differ; nothing has changed then.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), UnionError> {
        same_hash(self, other)?;
        self.table.intersect(&other.table);
        Ok(())
    }
}

impl GrowableCuckooMap {
    /// Makes room for this many keys in all, with values up to `value`. Inserts up to there need no
    /// rebuild, and cost a quarter. The room stays until
    /// [`shrink_to_fit`](Self::shrink_to_fit).
    ///
    /// # Errors
    ///
    /// If the value has more than [`value_bits`](Self::value_bits) bits, or the system lacks the
    /// memory. Nothing has changed then.
    pub fn reserve(&mut self, keys: u64, value: u64) -> Result<(), InsertError> {
        self.check(value)?;
        let reserved = self.table.reserve(keys, u64::BITS - value.leading_zeros());
        reserved.map_err(|bytes| InsertError::Memory { bytes })
    }

    /// The number of times that its deepest segment can still split. Each split takes a bit of each
    /// fingerprint in the segment, and the oldest keys have the fewest bits left. At 0 segments
    /// stay as they are, and each further key takes up to 30 bytes. If you have the keys elsewhere,
    /// remove those that [`values_short_of`](Self::values_short_of) returns, and insert them again
    /// with all their bits.
    ///
    /// ```
    /// let mut map = malkoha::GrowableCuckooMap::builder()
    ///     .capacity(1_000).fpr(0.01).growth(1.0).value_bits(20).build()?;
    /// for n in 0..200_000_u64 {
    ///     map.insert(n, n)?;
    ///     // Often enough: a segment of this map has thousands of keys.
    ///     if n % 1_000 == 0 && map.splits_left() == 0 {
    ///         let mut segment = 0;
    ///         while segment < map.segments() {
    ///             // Here the value is the key. All are removed before the first comes back: a key
    ///             // next to an old copy would take over its short fingerprint.
    ///             let old = map.values_short_of(1, segment);
    ///             old.iter().for_each(|&old| assert!(map.remove(old, old)));
    ///             map.insert_many(&old.iter().map(|&old| (old, old)).collect::<Vec<_>>())?;
    ///             segment += 1;
    ///         }
    ///     }
    /// }
    /// assert!(map.size_in_bytes() < 7 * 200_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn splits_left(&self) -> u32 {
        self.table.splits_left()
    }

    /// The values of the keys in one of the [`segments`](Self::segments) that have too few bits
    /// left for this many splits of the deepest segment, and would have more if they were inserted
    /// now. Empty if there is no such segment. Takes time in proportion to the segment, which has
    /// at most 32,768 slots.
    #[must_use]
    pub fn values_short_of(&self, splits: u32, segment: usize) -> Vec<u64> {
        self.table.values_short_of(splits, segment)
    }
}

impl<C: Content> Filter<Growing, C> {
    /// Adds the contents of another filter or map with the same seed, without the keys, whatever
    /// their capacities, rates and histories. It grows as needed. A key in both counts as often as
    /// in the one where it counts more, so one removal removes a key that was inserted once in
    /// each.
    ///
    /// Keys keep the bits that they have left, so the false-positive rate is that of both together
    /// at their ages: see [`expected_fpr`](Self::expected_fpr). Takes time in proportion to the one
    /// that has fewer keys, or to both where their shapes differ, and the memory of a third
    /// filter until it is done.
    ///
    /// Two keys with one fingerprint, one from each side, become one copy: a filter from which keys
    /// are removed after a union loses such a key with the other, with about the probability of a
    /// false positive. [`unite`](Self::unite) with [`Copies::Sum`] does not.
    ///
    /// A far smaller filter knows too few bits of its keys to choose their segment in the larger
    /// one. Such keys go into each possible segment: a removal leaves the others, and
    /// [`len`](Self::len) can count a key that is in both twice. It is never more than the lengths
    /// of both together.
    ///
    /// ```
    /// use malkoha::GrowableCuckooFilter;
    ///
    /// let mut small = GrowableCuckooFilter::with_capacity(10_000, 0.01)?;
    /// small.insert_many(&["koel", "magpie"])?;
    /// let mut large = GrowableCuckooFilter::with_capacity(1_000_000, 0.001)?;
    /// large.insert_many(&["koel", "wren"])?;
    /// small.union_with(&large)?;
    /// assert!(small.contains("koel") && small.contains("wren") && small.len() == 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the seeds differ, or there are more copies than 2^63; nothing has changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), UnionError> {
        self.unite(other, Copies::Most)
    }

    /// [`union_with`](Self::union_with), where `copies` says how often a key in both counts.
    ///
    /// # Errors
    ///
    /// As [`union_with`](Self::union_with).
    pub fn unite(&mut self, other: &Self, copies: Copies) -> Result<(), UnionError> {
        same_hash(self, other)?;
        self.table = self.table.united(&other.table, copies)?;
        Ok(())
    }

    /// Returns memory after many removals, without the keys: merges the halves of splits, and
    /// shrinks segments until a fifth of their room is free. Takes time in proportion to the
    /// filter.
    ///
    /// The segments that it was built with stay, so it does not get much smaller than at the start.
    /// Keys that arrived since a split lose a bit when the split is undone, which raises the
    /// false-positive rate a little: see [`expected_fpr`](Self::expected_fpr).
    pub fn shrink_to_fit(&mut self) {
        self.table.shrink();
    }

    /// Sets whether memory allocated from now on has huge pages. The default is yes.
    /// With them lookups in a large filter are faster by a third to a half; without them, no insert
    /// waits until the system has cleared two MiB at once, which takes a quarter of a millisecond,
    /// and many times that in a virtual machine whose host has to find them. Not stored in files.
    pub fn set_huge_pages(&mut self, huge: bool) {
        self.table.set_huge_pages(huge);
    }
}

impl<T: Partition, C: Content> Filter<T, C> {
    /// The number of segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.table.growing().segments()
    }

    /// Buckets of four slots.
    #[must_use]
    pub fn buckets(&self) -> u64 {
        self.table.growing().buckets()
    }
}
