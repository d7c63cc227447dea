//! The next file of the log, also on a device that is nearly full.

use std::sync::Arc;

use super::file::{LogFile, file_name};
use super::files::{LogFiles, file_size, longest_file};
use super::header::{FileHeader, HEADER_BYTES};
use super::record::Content;
use super::run_file::run_name;
use super::writer::{Copying, Writer};
use super::{MAX_FILE_BYTES, MIN_FILE_BYTES};
use crate::error::{Error, Result};
use crate::storage::{Mapping, Room, Storage, free_bytes, remove_if_there};

/// The part of a device that one file may take, because room for the copy of one is kept.
const PART_OF_DEVICE: u64 = 32;
/// A device with this many times the room for a copy is not full.
const PLENTY: u64 = 4;
/// The size of a file when there is hardly any room.
const SMALL_FILE: u64 = 16 * MIN_FILE_BYTES;
/// The part of a file that room for tombstones is at most.
const SPARE_OF_FILE: u64 = 8;

#[derive(Clone, Copy)]
pub(super) struct Need {
    pub(super) bytes: u64,
    /// Whether it only deletes, or is a copy.
    pub(super) removes: bool,
    /// Bytes reserved behind it for tombstones.
    pub(super) spare: u64,
}

impl Need {
    /// The end of a file that has the batch and a seal behind an offset.
    pub(super) fn end(self, offset: u64) -> u64 {
        offset + self.bytes + Content::SEAL.shape().bytes()
    }
}

impl Writer {
    /// The length of files on this device, at most the requested one.
    pub(crate) fn file_bytes(storage: &dyn Storage, asked: u64) -> u64 {
        let part = |room: Room| room.total / PART_OF_DEVICE / MIN_FILE_BYTES * MIN_FILE_BYTES;
        let most = storage.room().ok().flatten().map_or(asked, part);
        asked.min(most.max(SMALL_FILE))
    }

    /// Refuses a copy that does not fit, before any of it takes the room for tombstones. A copy of
    /// a file that is longer than the reserve extends the reserve until it ends.
    pub(crate) fn hold_copy(&mut self, bytes: u64) -> Result<()> {
        let seal = Content::SEAL.shape().bytes();
        // No record but the seal is left.
        let is_empty = bytes < 2 * (HEADER_BYTES as u64 + seal);
        let pages = in_pages(bytes);
        // The last file has a header already.
        if is_empty || pages <= self.reserve.held() || self.fits(bytes - HEADER_BYTES as u64) {
            return Ok(());
        }
        if self.is_nearly_full(pages) { self.reserve.extend(&*self.storage, pages) } else { Ok(()) }
    }

    /// The room that is kept for a copy, if the last file has this length.
    fn room_for_copy(&self, files: &LogFiles, last: u64) -> u64 {
        let lengths = files.all().iter().map(|file| file.least());
        let longest = lengths.chain([last]).max().unwrap_or(0);
        if self.is_nearly_full(longest) {
            return longest;
        }
        // A file can be longer for a single batch, and there is room for its copy without this.
        longest.min(longest_file(files.bytes(), self.file_bytes))
    }

    /// Takes back the room for a copy that a crash may have left used, if the device is nearly
    /// full.
    pub(crate) fn want_reserve(&mut self, files: &LogFiles) -> Result<()> {
        let wanted = self.room_for_copy(files, self.last_length());
        if wanted > self.reserve.held() && self.is_nearly_full(wanted) {
            self.reserve.want(&*self.storage, wanted)?;
        }
        Ok(())
    }

    /// The bytes of the last file of an earlier opening, which has `least`. No more than can be
    /// copied, if the device is nearly full.
    pub(crate) fn tail_bytes(&self, files: &LogFiles, least: u64) -> u64 {
        let usual = file_size(files.bytes(), self.file_bytes);
        if least <= self.reserve.held() && self.is_nearly_full(usual) {
            return usual.min(self.reserve.held());
        }
        usual
    }

    /// The bytes beyond those that are free which the room for a copy lacks, if it is used up.
    pub(crate) fn lacks(&self) -> Option<u64> {
        let lacks = || self.reserve.missing().saturating_sub(free_bytes(&*self.storage));
        self.reserve.is_short().then(lacks)
    }

    /// Keeps no more room for a copy than the longest file needs.
    pub(crate) fn shrink_reserve(&mut self, files: &LogFiles) {
        self.reserve.shrink(self.room_for_copy(files, self.last_length()));
    }

    /// The room for a copy, without the part that only a long batch needs: compaction cannot
    /// reclaim it.
    pub(crate) fn usual_reserve(&self, files: &LogFiles) -> u64 {
        self.reserve.held().min(file_size(files.bytes(), self.file_bytes))
    }

    fn last_length(&self) -> u64 {
        self.tail.as_ref().map_or(0, |tail| tail.capacity())
    }

    /// Whether the last file has room for a copy of this many bytes.
    pub(crate) fn fits(&self, bytes: u64) -> bool {
        let seal = Content::SEAL.shape().bytes();
        self.tail.as_ref().is_some_and(|tail| tail.end() + bytes + seal <= tail.capacity())
    }

    /// Whether the device may lack room for a copy of this many bytes.
    pub(crate) fn is_nearly_full(&self, bytes: u64) -> bool {
        free_bytes(&*self.storage) / PLENTY < bytes
    }

    /// The file for a batch, and whether it was made for it: the last one, if it has room.
    pub(super) fn find_room(
        &mut self,
        files: &LogFiles,
        need: Need,
    ) -> Result<(Arc<LogFile>, bool)> {
        if !self.is_copying() {
            // Until that room is back, only compaction writes, and deletes that have room already.
            self.restore_reserve()?;
        }
        let has_room = |tail: &Arc<LogFile>| {
            let capacity = tail.capacity();
            let spare = need.spare.min(capacity / SPARE_OF_FILE);
            need.end(tail.end()) + spare <= capacity
        };
        match self.tail.clone().filter(has_room) {
            Some(tail) => Ok((tail, false)),
            None => Ok((self.rotate(files, need)?, true)),
        }
    }

    /// Seals the tail and makes a new one with room for a batch.
    fn rotate(&mut self, files: &LogFiles, need: Need) -> Result<Arc<LogFile>> {
        let removes = need.removes;
        let mut least = need.end(HEADER_BYTES as u64) + Content::SEAL.shape().bytes();
        if least > MAX_FILE_BYTES {
            return Err(Error::BatchTooLong(need.bytes));
        }
        if !removes {
            // Of the file with that room.
            let most = least / (SPARE_OF_FILE - 1);
            least = (least + need.spare.min(most)).min(MAX_FILE_BYTES);
        }
        let usual = match self.copying {
            // Others wait for the rest.
            Copying::Writes(bytes) if self.reserve.is_short() => in_pages(bytes),
            _ => file_size(files.bytes(), self.file_bytes),
        };
        let new = match self.create(files, usual.max(least)) {
            Err(Error::NoSpace { .. }) => self.create_in_need(files, least, removes)?,
            other => other?,
        };
        if !self.is_copying() {
            let wanted = self.room_for_copy(files, new.length()).max(in_pages(self.owed()));
            match self.reserve.hold(&*self.storage, wanted) {
                // The room that there is suffices: without this file nothing could be removed.
                Err(Error::NoSpace { .. }) if removes && self.reserve.held() > 0 => {}
                held => held.inspect_err(|_| {
                    let _ = self.storage.remove(&new.name());
                })?,
            }
        }
        self.seal().inspect_err(|_| {
            // Reports the first error; opening removes what stays.
            let _ = self.storage.remove(&new.name());
        })?;
        self.next_id += 1;
        self.created = true;
        Ok(Arc::clone(self.tail.insert(new)))
    }

    /// A file on a device without room for one of the usual length. Puts leave that room to
    /// deletes.
    fn create_in_need(
        &mut self,
        files: &LogFiles,
        least: u64,
        removes: bool,
    ) -> Result<Arc<LogFile>> {
        match self.copying {
            Copying::Writes(bytes) => {
                self.reserve.release(&*self.storage)?;
                // No more than is necessary: the removal that follows makes up for it.
                self.create(files, in_pages(bytes).max(least)).inspect_err(|_| {
                    // A copy that does not fit as a whole gives nothing back.
                    let _ = self.reserve.restore(&*self.storage);
                })
            }
            _ if removes => self.create(files, SMALL_FILE.max(least)),
            _ => Err(Error::NoSpace { file: file_name(self.next_id) }),
        }
    }

    fn create(&self, files: &LogFiles, bytes: u64) -> Result<Arc<LogFile>> {
        let name = file_name(self.next_id);
        let base = files.free_base(bytes);
        // The last locations are left to compaction, as room on the device is.
        let kept = if self.is_copying() { 0 } else { MAX_FILE_BYTES };
        if !LogFiles::has_locations(base, bytes + kept) {
            return Err(Error::NoSpace { file: name });
        }
        // One that was left over would have the order of other records.
        let stale = run_name(self.next_id);
        remove_if_there(&*self.storage, &stale).map_err(Error::io("remove", stale))?;
        let file = self.storage.create(&name, bytes).map_err(Error::io("create", &*name))?;
        // The seal of the tail has a sequence number of its own.
        let first_sequence = self.sequence + u64::from(self.tail.is_some());
        let durable_before = self.tail.as_ref().map_or(0, |tail| tail.durable());
        let header = FileHeader::new(self.next_id, first_sequence, self.seed, durable_before);
        let made = LogFile::new(file, header, base).and_then(|file| {
            file.write_at(0, &header.to_bytes())?;
            // Without the seed, which is not stored elsewhere yet, nothing behind the header can be
            // read.
            if files.all().is_empty() { file.sync() } else { Ok(()) }?;
            Ok(file)
        });
        made.map(Arc::new).inspect_err(|_| {
            // Reports the first error; opening removes what stays.
            let _ = self.storage.remove(&name);
        })
    }

    /// Seals the tail, which always has room for this. Then it can be compacted like any file.
    pub(crate) fn seal(&mut self) -> Result<()> {
        if let Some(tail) = self.tail.clone() {
            self.write(&tail, &[Content::SEAL])?;
            // From now on nothing may follow in it, whatever happens to its room.
            self.tail = None;
            let _ = tail.trim();
            if Mapping::SYNCS_FILES {
                tail.close();
            }
            self.sealed.push(tail);
        }
        Ok(())
    }
}

/// The length of a file that takes this many bytes.
const fn in_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(MIN_FILE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::reserve::Reserve;
    use crate::storage::OsStorage;

    /// The room for the copy of a long batch counted as log: with 100 MiB of other records,
    /// overwriting 500 MiB took four times as long.
    #[test]
    fn the_room_for_a_long_copy_does_not_count_as_log() {
        const LONG: u64 = 1 << 24;
        let directory = tempfile::tempdir().unwrap();
        let storage = Arc::new(OsStorage::open(directory.path()).unwrap());
        let mut reserve = Reserve::default();
        reserve.hold(&*storage, LONG).unwrap();
        let writer = Writer::new(storage, 1 << 26, 1, 1, 1, reserve);
        assert_eq!(writer.reserve.held(), LONG);
        assert_eq!(writer.usual_reserve(&LogFiles::default()), file_size(0, 1 << 26));
    }
}
