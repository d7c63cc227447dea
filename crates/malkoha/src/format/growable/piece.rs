//! Pieces by number, for callers that take them one by one, with other work in between.

use super::SPILL_PIECE;
use super::write::{pieces, segment, spill};
use crate::filter::GrowableCuckooFilter;
use crate::format::FileKind;
use crate::growable::Growing;
use crate::key::KeyHasher;

impl GrowableCuckooFilter {
    /// How many [`pieces`](Self::pieces) there are.
    #[must_use]
    pub fn piece_count(&self) -> usize {
        count(&self.table)
    }

    /// Piece `number` of [`pieces`](Self::pieces), from 0; `None` beyond the last. O(1) for a
    /// segment, O(segments) for the header, O(spilled copies) for those and their checksum.
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<Vec<u8>> {
        piece(FileKind::GrowableSet, &self.table, self.hasher(), number)
    }
}

pub(super) fn count(table: &Growing) -> usize {
    1 + table.segments() + spilled_entries(table).div_ceil(SPILL_PIECE) + 1
}

pub(super) fn piece(
    kind: FileKind,
    table: &Growing,
    hasher: KeyHasher,
    number: usize,
) -> Option<Vec<u8>> {
    let Some(beyond) = number.checked_sub(1) else {
        return pieces(kind, table, hasher).next();
    };
    match beyond.checked_sub(table.segments()) {
        None => Some(segment(beyond, table.record(beyond), table.bytes(beyond))),
        Some(beyond) => spill(table, spilled_entries(table) as u64).nth(beyond),
    }
}

fn spilled_entries(table: &Growing) -> usize {
    table.spill().iter().count()
}
