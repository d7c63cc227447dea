//! The value of a usual record, which most lookups want.
//!
//! The fewer instructions a lookup takes, the more of the next one a processor begins while this
//! one waits for memory.

use super::checksum::checksum;
use super::file::LogFile;
use super::key::Key;
use super::record::{HEAD, usual_value_bytes};
use super::{UNIT, to_usize};
use crate::storage::View;

/// Longer records are rarely usual.
const MOST_BYTES: usize = 4096;
/// Lines of a record that are prefetched: those of about a hundred bytes.
pub(super) const LINES: usize = 3;

impl LogFile {
    /// The value of the record at a location that the index has, if the file is mapped, and if this
    /// is a short put of this key, of the store itself, without an end and not compressed. `None`
    /// tells nothing.
    #[inline(always)]
    pub(crate) fn usual_value(&self, location: u64, key: Key<'_>) -> Option<&[u8]> {
        let View::Mapped(map) = &self.view else { return None };
        let offset = self.offset(location);
        // Loads its lines together, not one after the other.
        map.prefetch(offset, LINES);
        let head: &[u8; HEAD] = map.get(offset, HEAD)?.first_chunk()?;
        let value = usual_value_bytes(head, key)?;
        let before = HEAD + key.name.len();
        let bytes = (before + value).next_multiple_of(to_usize(UNIT));
        if bytes > MOST_BYTES {
            return None;
        }
        let record = map.get(offset, bytes)?;
        let sum = u32::from_le_bytes(*head.first_chunk()?);
        if checksum(self.checksum_seed(), &record[4..]) != sum || record[HEAD..before] != *key.name
        {
            return None;
        }
        Some(&record[before..before + value])
    }
}
