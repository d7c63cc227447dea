//! Reading records of a log file.

use std::borrow::Cow;

use super::checksum::checksum;
use super::file::{LogFile, PAGE};
use super::record::{HEAD, Head, Record, plain_value_bytes};
use super::{Key, UNIT, to_usize};
use crate::error::Result;
use crate::storage::{Sequential, View, any_lost};

/// Records from this size on are worth some system calls.
const LONG: u64 = 16 * PAGE;
/// Cache lines of a record that are prefetched: those of about a hundred bytes.
pub(crate) const LINES: usize = 3;

impl LogFile {
    /// The location of the record at `offset`.
    pub(crate) fn location(&self, offset: u64) -> u64 {
        self.base + offset / UNIT
    }

    /// The offset of a location in this file.
    pub(crate) fn offset(&self, location: u64) -> u64 {
        (location - self.base) * UNIT
    }

    /// The head at `offset`, if there is one and its record ends inside the file.
    #[inline(always)]
    pub(crate) fn head(&self, offset: u64) -> Option<Head> {
        if offset + HEAD as u64 > self.capacity() {
            return None;
        }
        self.inside(offset, Head::parse(&self.view.get(offset, HEAD)?)?)
    }

    /// A head, if its record ends inside the file.
    #[inline(always)]
    fn inside(&self, offset: u64, head: Head) -> Option<Head> {
        (offset + head.shape.bytes() <= self.capacity()).then_some(head)
    }

    /// The record at `offset`, if there is an undamaged one.
    #[inline(always)]
    pub(crate) fn try_record(&self, offset: u64) -> Option<Record<'_>> {
        self.whole(offset, self.head(offset)?)
    }

    /// The same, for sequential access.
    #[inline(always)]
    pub(super) fn next_record<'f>(
        &'f self,
        bytes: &mut Sequential<'f>,
        offset: u64,
    ) -> Option<Record<'f>> {
        let head = self.inside(offset, Head::parse(&bytes.get(offset, HEAD)?)?)?;
        Record::checked(head, bytes.get(offset, to_usize(head.shape.bytes()))?, self.seed)
    }

    /// The rest of the record with this head.
    #[inline(always)]
    fn whole(&self, offset: u64, head: Head) -> Option<Record<'_>> {
        let bytes = self.view.get(offset, to_usize(head.shape.bytes()))?;
        Record::checked(head, bytes, self.seed)
    }

    /// The key of a record whose head and key are readable; the rest might be anything.
    pub(crate) fn key_of_damaged(&self, offset: u64) -> Option<(u32, Vec<u8>)> {
        let head = self.head(offset)?;
        let bytes = self.view.get(offset, to_usize(head.shape.bytes()))?;
        head.key(&bytes).map(|key| (key.table, key.name.to_vec()))
    }

    /// The name of the key of a record that was whole before. The record might be damaged since.
    #[inline(always)]
    pub(crate) fn name_at(&self, offset: u64) -> Option<Cow<'_, [u8]>> {
        let name = self.head(offset)?.shape.name();
        self.view.get(offset + name.start as u64, name.len())
    }

    /// Bytes at an offset, as many as the file has.
    pub(crate) fn piece(&self, offset: u64, bytes: u64) -> Cow<'_, [u8]> {
        let bytes = bytes.min(self.capacity().saturating_sub(offset));
        self.view.get(offset, to_usize(bytes)).unwrap_or_default()
    }

    /// The record at a location that the index has.
    #[inline(always)]
    pub(crate) fn record(&self, location: u64) -> Result<Record<'_>> {
        let offset = self.offset(location);
        let record = match self.head(offset) {
            Some(head) if head.shape.bytes() >= LONG => self.long_record(offset, head),
            Some(head) => self.whole(offset, head),
            None => None,
        };
        record.ok_or_else(|| self.no_record(offset))
    }

    /// If a long record is not in memory, the system reads it as a whole. Otherwise each page would
    /// be waited for.
    #[inline(never)]
    fn long_record(&self, offset: u64, head: Head) -> Option<Record<'_>> {
        let bytes = head.shape.bytes();
        let ask = || self.will_need(offset, bytes);
        self.readahead.read(to_usize(bytes / PAGE), ask, || self.whole(offset, head))
    }

    /// The value of the record at a location that the index has, if the file is mapped and this is
    /// a short, uncompressed put without an end, of this key of the store itself. Most lookups find
    /// one, and take few instructions, so a processor begins the next lookup while this one waits
    /// for memory. `None` means that another way must be used.
    #[inline(always)]
    pub(crate) fn plain_value(&self, location: u64, key: Key<'_>) -> Option<&[u8]> {
        let View::Mapped(map) = &*self.view else { return None };
        let offset = self.offset(location);
        // Loads its lines together, not one after the other.
        map.prefetch(offset, LINES);
        let head: &[u8; HEAD] = map.get(offset, HEAD)?.first_chunk()?;
        let value = plain_value_bytes(head, key)?;
        let before = HEAD + key.name.len();
        let bytes = (before + value).next_multiple_of(to_usize(UNIT));
        if bytes as u64 > PAGE {
            return None;
        }
        let record = map.get(offset, bytes)?;
        let sum = u32::from_le_bytes(*head.first_chunk()?);
        let is_it = checksum(self.seed, &record[4..]) == sum && record[HEAD..before] == *key.name;
        is_it.then(|| &record[before..before + value])
    }

    /// The value of a record at an offset of this file.
    #[inline(always)]
    pub(crate) fn value<'r>(&self, record: &'r Record<'_>, offset: u64) -> Result<Cow<'r, [u8]>> {
        record.value().ok_or_else(|| self.no_value(offset))
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, location: u64, lines: usize) {
        self.view.prefetch(self.offset(location), lines);
    }

    /// Asks the system to read these bytes, if they exist and are not in memory.
    pub(crate) fn will_need(&self, offset: u64, bytes: u64) {
        self.view.will_need(offset..self.capacity().min(offset + bytes));
    }

    /// Checks that a record could be read for as long as it was used.
    #[inline(always)]
    pub(crate) fn check_read(&self, location: u64) -> Result<()> {
        if any_lost() && self.view.is_lost() {
            // Lost bytes stay lost, so a record that is readable now was readable before.
            self.record(location)?;
        }
        Ok(())
    }
}
