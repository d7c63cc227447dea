//! Pieces by number: for who takes them one by one, with other things between.

use super::SPILL_PIECE;
use super::write::{pieces, segment, spill};
use crate::filter::GrowableCuckooFilter;
use crate::format::FileKind;

impl GrowableCuckooFilter {
    /// How many [`pieces`](Self::pieces) there are.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        1 + self.table.segments() + self.spilled_entries().div_ceil(SPILL_PIECE) + 1
    }

    /// Piece `number` of [`pieces`](Self::pieces), from 0; `None` beyond the last. O(1) for a
    /// segment, O(segments) for the header, O(spilled copies) for those and their checksum.
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<Vec<u8>> {
        let table = &self.table;
        let Some(beyond) = number.checked_sub(1) else {
            return pieces(FileKind::GrowableSet, table, self.hasher()).next();
        };
        match beyond.checked_sub(table.segments()) {
            None => Some(segment(beyond, table.record(beyond), table.bytes(beyond))),
            Some(beyond) => spill(table, self.spilled_entries() as u64).nth(beyond),
        }
    }

    fn spilled_entries(&self) -> usize {
        self.table.spill().iter().count()
    }
}
