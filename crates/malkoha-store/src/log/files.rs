//! From a location to its file, and the lengths of files.
//!
//! Locations are numbers of 8-byte units in one row of *slots* of 8 MiB. A file takes as many slots
//! as it needs. Slots of a removed file are used again, so that locations, and with them the index,
//! stay small.

use std::sync::Arc;

use super::file::LogFile;
use super::read::LINES;
use super::{MAX_FILE_BYTES, MIN_FILE_BYTES, UNIT, to_usize};

const SLOT_BITS: u32 = 20;
/// Slots for which there are locations: those of 8 TiB.
const SLOTS: u64 = 1 << 20;
pub(crate) const SLOT_BYTES: u64 = UNIT << SLOT_BITS;

/// The size of the first file; later ones grow with the log.
const FIRST_FILE: u64 = 1 << 20;
/// The part of a small log that one file is. The room that is reserved for the last file and for
/// the copy of one is then a small part of the log.
const PART_OF_LOG: u64 = 32;
/// The least part of the log that one file is, whatever size was requested. Each file takes a
/// mapping, and Linux lets a process have 65,530 of them. With this part a store takes at most
/// 31,000.
const LEAST_PART_OF_LOG: u64 = 2048;

/// The log files of a store at one time. A reader keeps those that it began with. So nobody waits
/// for a reader, and no file disappears while it is read.
#[derive(Clone, Default)]
pub(crate) struct LogFiles {
    slots: Vec<Option<Arc<LogFile>>>,
    /// By number.
    files: Vec<Arc<LogFile>>,
}

impl LogFiles {
    /// The file of a location that the index has.
    #[inline(always)]
    pub(crate) fn at(&self, location: u64) -> Option<&Arc<LogFile>> {
        self.slots.get(to_usize(location >> SLOT_BITS))?.as_ref()
    }

    /// Prefetches the first lines of a record.
    #[inline(always)]
    pub(crate) fn prefetch(&self, location: u64) {
        if let Some(file) = self.at(location) {
            file.prefetch(location, LINES);
        }
    }

    /// Has the system read the beginning of a record, if it is not in memory.
    pub(crate) fn will_need(&self, location: u64) {
        if let Some(file) = self.at(location) {
            file.will_need(file.offset(location), LINES as u64 * 64);
        }
    }

    /// All files, in the order in which they were written.
    pub(crate) fn all(&self) -> &[Arc<LogFile>] {
        &self.files
    }

    /// The bytes of the log.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.end()).sum()
    }

    fn slots_for(bytes: u64) -> usize {
        to_usize(bytes.max(1).div_ceil(SLOT_BYTES))
    }

    /// The location at which a file of this many bytes can begin.
    pub(crate) fn free_base(&self, bytes: u64) -> u64 {
        let wanted = Self::slots_for(bytes);
        let mut free = 0;
        for (i, slot) in self.slots.iter().enumerate() {
            free = if slot.is_none() { free + 1 } else { 0 };
            if free == wanted {
                return ((i + 1 - wanted) as u64) << SLOT_BITS;
            }
        }
        ((self.slots.len() - free) as u64) << SLOT_BITS
    }

    /// Whether there are locations for a file of this many bytes there.
    pub(crate) fn has_locations(base: u64, bytes: u64) -> bool {
        (base >> SLOT_BITS) + Self::slots_for(bytes) as u64 <= SLOTS
    }

    /// Whether a file of this many bytes can begin there.
    pub(crate) fn is_free(&self, base: u64, bytes: u64) -> bool {
        let first = base >> SLOT_BITS;
        base == first << SLOT_BITS
            && first < SLOTS
            && (first..first + Self::slots_for(bytes) as u64)
                .all(|slot| self.slots.get(to_usize(slot)).is_none_or(Option::is_none))
    }

    pub(crate) fn insert(&mut self, file: Arc<LogFile>) {
        let first = to_usize(file.base >> SLOT_BITS);
        let end = first + Self::slots_for(file.length());
        if self.slots.len() < end {
            self.slots.resize(end, None);
        }
        self.slots[first..end].fill(Some(Arc::clone(&file)));
        let at = self.files.partition_point(|other| other.id() < file.id());
        self.files.insert(at, file);
    }

    pub(crate) fn remove(&mut self, id: u64) {
        self.files.retain(|file| file.id() != id);
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|file| file.id() == id) {
                *slot = None;
            }
        }
    }
}

/// The size of a new file after `log` bytes of log.
pub(super) fn file_size(log: u64, asked: u64) -> u64 {
    let most = longest_file(log, asked);
    (log / PART_OF_LOG).next_multiple_of(MIN_FILE_BYTES).clamp(FIRST_FILE.min(most), most)
}

/// The largest size of a file with more than one batch in a log of `log` bytes.
pub(super) fn longest_file(log: u64, asked: u64) -> u64 {
    let least = (log / LEAST_PART_OF_LOG).next_multiple_of(MIN_FILE_BYTES);
    asked.max(least).min(MAX_FILE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 4 KiB per file there would be 2^31 of them, and a store once failed at 65,530.
    #[test]
    fn the_longest_log_has_few_files() {
        for asked in [MIN_FILE_BYTES, 1 << 20, 64 << 20, MAX_FILE_BYTES] {
            let (mut log, mut files) = (0, 0);
            while log < 8 << 40 {
                log += file_size(log, asked);
                files += 1;
            }
            assert!(files < 33_000, "{files} of {asked} bytes");
        }
    }
}
