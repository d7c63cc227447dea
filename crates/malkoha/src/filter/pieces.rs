//! Filters in pieces, with other work in between.

use super::{
    Content, CuckooFilter, Filter, GrowableCuckooFilter, GrowableCuckooMap,
    GrowableExpiringCuckooFilter,
};
use crate::format::growable::{GrowableExpiringLoader, GrowableLoader, expiring, pieces};
use crate::format::{self, FileKind, ReadError};
use crate::growable::Growing;
use crate::table::traits::Lookup;

impl CuckooFilter {
    /// How many pieces its file has, the header of 128 bytes among them.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        format::piece_count(&self.table, self.hasher())
    }

    /// Piece `number` of the bytes that [`write_to`](Self::write_to) writes, from 0; `None` beyond
    /// the last. The header is the first, all others have 128 KiB. The last ones, of checksums and
    /// spilled copies, take time in proportion to the filter.
    ///
    /// ```
    /// use malkoha::CuckooFilter;
    ///
    /// let filter = CuckooFilter::try_from_iter(0..200_000, 0.001)?;
    /// let file: Vec<u8> = (0..).map_while(|number| filter.piece(number)).flatten().collect();
    /// assert!(file == filter.to_bytes() && filter.piece_count() == 4);
    /// # Ok::<(), malkoha::BuildError>(())
    /// ```
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<Vec<u8>> {
        format::piece(&self.table, self.hasher(), number)
    }
}

impl<C: Content> Filter<Growing, C> {
    /// The bytes that [`write_to`](Self::write_to) writes, in pieces of at most 100 KiB, or 500 KiB
    /// of a map: the header, each segment, the spilled copies. To be put together by a
    /// [`GrowableLoader`](crate::GrowableLoader).
    pub fn pieces(&self) -> impl Iterator<Item = Vec<u8>> {
        pieces::pieces(Growing::kind(C::IS_MAP), &self.table, self.hasher())
    }
}

impl GrowableCuckooFilter {
    /// How many [`pieces`](Self::pieces) there are.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        pieces::count(&self.table)
    }

    /// Piece `number` of [`pieces`](Self::pieces), from 0; `None` beyond the last. O(1) for a
    /// segment, O(segments) for the header, O(spilled copies) for those and their checksum.
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<Vec<u8>> {
        pieces::piece(FileKind::GrowableSet, &self.table, self.hasher(), number)
    }
}

impl GrowableLoader {
    /// The filter, when all its bytes have come.
    ///
    /// # Errors
    ///
    /// If bytes are missing, or do not fit together.
    pub fn into_filter(self) -> Result<GrowableCuckooFilter, ReadError> {
        self.into_table(FileKind::GrowableSet).map(|(table, hasher)| Filter::new(table, hasher))
    }

    /// The map, when all its bytes have come.
    ///
    /// # Errors
    ///
    /// As [`into_filter`](Self::into_filter).
    pub fn into_map(self) -> Result<GrowableCuckooMap, ReadError> {
        self.into_table(FileKind::GrowableMap).map(|(table, hasher)| Filter::new(table, hasher))
    }
}

impl GrowableExpiringCuckooFilter {
    /// How many pieces there are: see [`piece`](Self::piece).
    #[must_use]
    pub fn piece_count(&self) -> usize {
        expiring::count(&self.table)
    }

    /// Piece `number` of the set as it is, from 0; `None` beyond the last. A
    /// [`GrowableExpiringLoader`](crate::GrowableExpiringLoader) makes a set of all of them that
    /// does exactly what this one does from then on. Unlike [`write_to`](Self::write_to) it neither
    /// copies nor sweeps the set, and the pieces are no file. At most 500 KiB, in O(1) for a
    /// segment and O(segments) for the first two pieces.
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<Vec<u8>> {
        expiring::piece(&self.table, self.hasher(), number)
    }
}

impl GrowableExpiringLoader {
    /// The set, when all its bytes have come.
    ///
    /// # Errors
    ///
    /// If bytes are missing, or do not fit together.
    pub fn into_filter(self) -> Result<GrowableExpiringCuckooFilter, ReadError> {
        self.into_table().map(|(set, hasher)| Filter::new(set, hasher))
    }
}
