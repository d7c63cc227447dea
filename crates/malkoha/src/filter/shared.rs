//! Methods that only sets and maps have that threads share.

use super::{
    ConcurrentCuckooFilterWith, Content, CuckooFilter, Filter, GrowableConcurrentCuckooMap,
    GrowableCuckooMap,
};
use crate::concurrent::Shared;
use crate::error::{BuildError, InsertError};
use crate::geometry::Geometry;
use crate::locks::Locking;
use crate::partitioned::{Partition, Partitioned};

impl<T: Partition> Filter<Partitioned<T>> {
    /// A filter for one owner with all that is in. Threads can go on changing this one: what is in
    /// throughout is in the copy. O(size).
    #[must_use]
    pub fn to_filter(&self) -> Filter<T> {
        Filter::new(self.table.to_one(), self.hasher)
    }
}

impl<T: Partition, C: Content> Filter<Partitioned<T>, C> {
    /// Removes all keys, one partition after another. For each key it is as if its copies were
    /// removed at one moment between the call and its return: one that another thread inserts
    /// during the call can stay.
    pub fn clear(&self) {
        self.table.clear();
    }

    /// Sets whether memory that it takes from now on has huge pages, as
    /// [`GrowableCuckooFilter::set_huge_pages`](crate::GrowableCuckooFilter::set_huge_pages).
    pub fn set_huge_pages(&self, huge: bool) {
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

impl<C: Content> Filter<Partitioned, C> {
    /// Gives memory back after many removals, partition by partition, as
    /// [`GrowableCuckooFilter::shrink_to_fit`](crate::GrowableCuckooFilter::shrink_to_fit).
    /// Partitions are not merged again, so each of up to 64 keeps one segment.
    pub fn shrink_to_fit(&self) {
        self.table.shrink();
    }
}

impl GrowableConcurrentCuckooMap {
    /// Makes room for this many keys in all, with values up to `value`, as
    /// [`GrowableCuckooMap::reserve`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn reserve(&self, keys: u64, value: u64) -> Result<(), InsertError> {
        self.check(value)?;
        let reserved = self.table.reserve(keys, u64::BITS - value.leading_zeros());
        reserved.map_err(|bytes| InsertError::Memory { bytes })
    }

    /// A map for one owner with all that is in. Concurrent changes are in it or not.
    /// O(size).
    #[must_use]
    pub fn to_map(&self) -> GrowableCuckooMap {
        Filter::new(self.table.to_one(), self.hasher)
    }
}

impl<T: Partition, C: Content> Filter<T, C> {
    /// The same filter or map for many threads. Copies the table: O(size).
    #[must_use]
    pub fn into_concurrent(self) -> Filter<Partitioned<T>, C> {
        Filter::new(Partitioned::of(self.table), self.hasher)
    }
}

impl<P: Locking> Filter<Shared<P>> {
    /// Removes all keys. For each key it is as if its copies were removed at one moment between the
    /// call and its return: one that another thread inserts in between can stay.
    pub fn clear(&self) {
        self.table.clear();
    }

    /// The shape of the table.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        self.table.geometry()
    }

    /// A copy for one owner, who can look up a little faster. Threads can go on changing this one:
    /// what is in throughout is in the copy. O(size).
    ///
    /// # Errors
    ///
    /// If the system lacks the memory.
    pub fn to_filter(&self) -> Result<CuckooFilter, BuildError> {
        Ok(Filter::new(self.table.to_fixed()?, self.hasher))
    }
}

impl CuckooFilter {
    /// The same filter for many threads. Copies the table: O(size).
    ///
    /// # Errors
    ///
    /// If its layout is not [`Layout::Words`](crate::Layout::Words), or the system lacks the
    /// memory.
    pub fn into_concurrent<P: Locking>(self) -> Result<ConcurrentCuckooFilterWith<P>, BuildError> {
        Ok(Filter::new(Shared::from_fixed(&self.table)?, self.hasher))
    }
}
