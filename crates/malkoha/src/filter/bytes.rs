//! Sets and maps as bytes in memory.

use alloc::vec::Vec;

use super::{Content, Filter};
use crate::format::ReadError;
use crate::table::traits::{Lookup, Stored};

impl<T: Lookup, C: Content> Filter<T, C> {
    /// The bytes of the file that the filter would be saved as: docs/FORMAT.md specifies them.
    /// Equal filters give equal bytes.
    ///
    /// # Panics
    ///
    /// If there is no memory for the bytes, or for the copy of a shared filter that they are made
    /// of. [`write_to`](Self::write_to) needs no memory for the bytes, and gives an error instead.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.table
            .write(T::kind(C::IS_MAP), self.hasher(), &mut bytes)
            .expect("there is memory, and a vector takes all bytes");
        bytes
    }
}

impl<T: Stored, C: Content> Filter<T, C> {
    /// Reads from `bytes`, which hold a whole file.
    ///
    /// # Errors
    ///
    /// If `bytes` are not exactly one whole, undamaged file of this kind.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let (table, hasher) = T::from_bytes(T::kind(C::IS_MAP), bytes)?;
        Ok(Self::new(table, hasher))
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use crate::{CuckooFilter, FilterView, ReadError};

    fn filter() -> CuckooFilter {
        let mut filter = CuckooFilter::with_capacity(1_000, 0.001).expect("it can be built");
        filter.insert_many(&(0..1_000_u64).collect::<Vec<_>>()).expect("there is room");
        (0..5).try_for_each(|_| filter.insert(7_u64)).expect("copies fit");
        filter
    }

    /// Pinned, for builds with `std` and without it.
    #[test]
    fn every_build_gives_the_same_bytes() {
        assert_eq!(xxh3_64(&filter().to_bytes()), 0x7bf7_8d41_90a5_5026);
    }

    #[test]
    fn what_was_written_is_read() -> Result<(), ReadError> {
        let (filter, bytes) = (filter(), filter().to_bytes());
        let mut read = CuckooFilter::from_bytes(&bytes)?;
        assert!(read == filter && read.count(7_u64) == 6 && FilterView::view(&bytes)? == filter);
        assert!(read.remove(7_u64) && read != filter);
        Ok(())
    }
}
