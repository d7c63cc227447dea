//! The end of the log, where everything is written.

use std::sync::Arc;

use super::commit::Unsynced;
use super::file::LogFile;
use super::files::LogFiles;
use super::record::{Content, Placing, encode};
use super::reserve::Reserve;
use super::rotation::Need;
use crate::error::{Error, Result};
use crate::storage::Storage;

/// Values from this size on are written apart from the rest of their records, without a copy.
const LARGE: usize = 1 << 12;
/// Bytes of short records of a batch that are written together. A system call for each record would
/// take as long as the rest of a synced batch.
const GATHERED: usize = 1 << 15;
/// The least room that is left for tombstones, so that a full store can be emptied.
const SPARE: u64 = 1 << 18;
/// Dead bytes from which a file is rewritten on a full device. Until one file has as many, there is
/// room for as many bytes of tombstones per file: a tombstone is no longer than the record that it
/// removes.
pub(crate) const LEAST_DEAD: u64 = 1 << 14;
/// Bytes that deletes write into the room for tombstones before they ask a full device for more
/// again. On ext4 each such request waits until the journal is committed, in case that frees some.
const ASK_AGAIN: u64 = 1 << 12;
/// The part of the log that the room for tombstones is at most while the store is closed.
const SPARE_PART: u64 = 16;

/// Writes records at the end of the log. Used by one thread at a time.
pub(crate) struct Writer {
    pub(super) storage: Arc<dyn Storage>,
    pub(super) file_bytes: u64,
    pub(super) seed: u64,
    /// The last file, if it is not full.
    pub(crate) tail: Option<Arc<LogFile>>,
    pub(crate) next_id: u64,
    /// The sequence number of the next record.
    pub(crate) sequence: u64,
    /// Bytes appended since opening.
    pub(crate) position: u64,
    /// The position behind the last mark.
    marked: Option<u64>,
    /// Files, other than the tail, that may have bytes that are not durable.
    pub(super) sealed: Vec<Arc<LogFile>>,
    pub(super) created: bool,
    scratch: Vec<u8>,
    /// Room for one compaction.
    pub(crate) reserve: Reserve,
    /// The position until which deletes do not ask the device for room, because it had none.
    full_until: u64,
    pub(crate) copying: Copying,
}

/// Whether a compaction copies a file, and the most bytes that it still needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copying {
    No,
    /// Others write for a moment, and leave it this room in the last file.
    Paused(u64),
    /// All writes are copies. They may use the room that is kept for a compaction.
    Writes(u64),
}

/// Where a batch was written.
pub(crate) struct Appended {
    pub(crate) file: Arc<LogFile>,
    /// The offset of its first record.
    pub(crate) offset: u64,
    /// Whether `file` was made for it, and must be added to the files.
    pub(crate) created: bool,
}

impl Writer {
    /// Continues with this file number and this sequence number, in `tail` if there is one. All
    /// earlier files are durable, or left to a repair.
    pub(crate) fn new(
        storage: Arc<dyn Storage>,
        file_bytes: u64,
        seed: u64,
        next_id: u64,
        sequence: u64,
        reserve: Reserve,
    ) -> Self {
        Self {
            storage,
            file_bytes,
            seed,
            tail: None,
            next_id,
            sequence,
            position: 0,
            marked: None,
            sealed: Vec::new(),
            created: true,
            scratch: Vec::new(),
            reserve,
            full_until: 0,
            copying: Copying::No,
        }
    }

    /// Continues in a file of an earlier opening.
    pub(crate) fn set_tail(&mut self, tail: Arc<LogFile>) {
        // Bytes that a crash left are synced together with the next writes.
        self.position = u64::from(tail.durable() < tail.end());
        self.tail = Some(tail);
    }

    /// Whether a compaction writes.
    pub(crate) fn is_copying(&self) -> bool {
        matches!(self.copying, Copying::Writes(_))
    }

    /// Takes back the room for a compaction, if one has used it, or gives back additional room that
    /// it held.
    pub(crate) fn restore_reserve(&mut self) -> Result<()> {
        if self.owed() == 0 || self.reserve.is_short() {
            self.reserve.restore(&*self.storage)?;
        }
        self.full_until = 0;
        Ok(())
    }

    /// Bytes that an interrupted copy still needs.
    pub(super) fn owed(&self) -> u64 {
        if let Copying::Paused(bytes) = self.copying { bytes } else { 0 }
    }

    /// Keeps room for tombstones behind the end of a log of this many bytes while the store is
    /// closed, as far as there is any, because others may fill the device meanwhile.
    pub(crate) fn keep_spare(&self, log: u64) {
        if let Some(tail) = &self.tail {
            tail.keep_room(SPARE.min(log / SPARE_PART));
        }
    }

    /// The files that a sync has to cover now.
    pub(crate) fn unsynced(&mut self) -> Unsynced {
        let files = self.sealed.iter().chain(&self.tail);
        let files = files.map(|file| (Arc::clone(file), file.end())).collect();
        for synced in self.sealed.extract_if(.., |file| file.durable() >= file.end()) {
            synced.close();
        }
        Unsynced { files, directory: std::mem::take(&mut self.created), position: self.position }
    }

    /// Drops removed files: while one is open, it takes space.
    pub(crate) fn forget(&mut self, ids: &[u64]) {
        self.sealed.retain(|file| !ids.contains(&file.id()));
    }

    /// Writes a batch, which a crash leaves whole or not at all. It must not be empty.
    pub(crate) fn append(&mut self, files: &LogFiles, batch: &[Content<'_>]) -> Result<Appended> {
        let spare = if self.is_copying() && self.reserve.is_short() {
            0
        } else {
            SPARE.max(files.all().len() as u64 * LEAST_DEAD)
        };
        let need = Need {
            bytes: batch.iter().map(|content| content.shape().bytes()).sum(),
            // A copy may take the room for tombstones too: the removal that follows gives it back,
            // and a copy that ends in the middle gives nothing.
            removes: self.is_copying() || batch.iter().all(Content::removes),
            spare,
        };
        // Deletes may use the room for tombstones, without the part that a copy needs.
        let may = need.removes && self.fits(need.bytes + self.owed());
        let last = self.tail.clone().filter(|_| may);
        let found = match &last {
            Some(last) if self.is_known_full() => Ok((Arc::clone(last), false)),
            _ => self.find_room(files, need),
        };
        let (tail, created) = match (found, last) {
            (Err(Error::NoSpace { .. }), Some(last)) => {
                self.full_until = self.position + ASK_AGAIN;
                (last, false)
            }
            (found, _) => found?,
        };
        let offset = tail.end();
        self.write(&tail, batch)?;
        Ok(Appended { file: tail, offset, created })
    }

    /// Whether there was no room for another file a moment ago. That does not matter to a
    /// compaction that has room kept for it.
    fn is_known_full(&self) -> bool {
        let keeps_none = !self.is_copying() || self.reserve.held() == 0;
        self.position < self.full_until && keeps_none
    }

    /// Records behind the last record how much of the log is durable, unless this is recorded
    /// already.
    pub(crate) fn mark(&mut self) -> Result<()> {
        if self.marked == Some(self.position) {
            return Ok(());
        }
        let bytes = Content::MARK.shape().bytes();
        // Not in the room that an interrupted copy needs.
        let fits = self.fits(bytes + self.owed());
        if let Some(tail) = self.tail.clone().filter(|_| fits) {
            self.write(&tail, &[Content::MARK])?;
            tail.add_dead(bytes);
            self.marked = Some(self.position);
        }
        Ok(())
    }

    /// Writes a batch at the end of a file that has room for it.
    pub(super) fn write(&mut self, file: &LogFile, batch: &[Content<'_>]) -> Result<()> {
        let (begin, durable) = (file.end(), file.durable());
        let mut offset = begin;
        // After a failed write it may have content.
        self.scratch.clear();
        for (i, content) in batch.iter().enumerate() {
            let placing = Placing {
                sequence: self.sequence + i as u64,
                more: i + 1 < batch.len(),
                unsynced: (durable > 0).then(|| offset.saturating_sub(durable)),
                seed: file.seed,
            };
            let apart = content.value.len() >= LARGE;
            let gathered_at = offset - self.scratch.len() as u64;
            let padding = encode(content, placing, apart, &mut self.scratch);
            if apart {
                // The head is written last, so concurrent readers see no record before it is whole.
                let value_at = gathered_at + self.scratch.len() as u64;
                file.write_at(value_at, content.value)?;
                file.write_at(value_at + content.value.len() as u64, padding)?;
            }
            if apart || !placing.more || self.scratch.len() >= GATHERED {
                file.write_at(gathered_at, &self.scratch)?;
                self.scratch.clear();
            }
            offset += content.shape().bytes();
        }
        file.set_end(offset);
        self.sequence += batch.len() as u64;
        self.position += offset - begin;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::file::file_name;
    use crate::log::{FileHeader, Key, MIN_FILE_BYTES};
    use crate::storage::OsStorage;

    /// A file is rewritten for its dead bytes once there are enough, so each of many files may have
    /// nearly as many before any is: room for the tombstones of one file alone was used up first.
    #[test]
    fn room_for_tombstones_grows_with_the_number_of_files() {
        const FILES: u64 = 40;
        let directory = tempfile::tempdir().unwrap();
        let storage = Arc::new(OsStorage::open(directory.path()).unwrap());
        let mut files = LogFiles::default();
        for id in 1..=FILES {
            let file = storage.create(&file_name(id), MIN_FILE_BYTES).unwrap();
            let base = files.free_base(MIN_FILE_BYTES);
            let file = LogFile::new(file, FileHeader::new(id, 1, 1, 0), base).unwrap();
            // As if they were long: then the next one is, too.
            file.set_end(8 << 20);
            files.insert(Arc::new(file));
        }
        let mut writer = Writer::new(storage, 64 << 20, 1, FILES + 1, 1, Reserve::default());
        let put = [Content::put(Key::main(b"koel"), &[7; 4000], None)];
        let first = writer.append(&files, &put).unwrap().file;
        let capacity = first.capacity();
        while !writer.append(&files, &put).unwrap().created {}
        let left = capacity - first.end();
        assert!(left >= FILES * LEAST_DEAD, "{left} of {capacity} bytes are left");
        assert!(left <= capacity / 8, "{left} of {capacity} bytes are left");
    }

    /// A full device had room for such a batch, and for none of its tombstones.
    #[test]
    fn a_batch_longer_than_a_file_leaves_room_for_tombstones() {
        let directory = tempfile::tempdir().unwrap();
        let storage = Arc::new(OsStorage::open(directory.path()).unwrap());
        let mut writer = Writer::new(storage, 1 << 16, 1, 1, 1, Reserve::default());
        for many in [100, 1000] {
            let batch = vec![Content::put(Key::main(b"koel"), &[7; 4000], None); many];
            let file = writer.append(&LogFiles::default(), &batch).unwrap().file;
            let left = file.capacity() - file.end();
            assert!(left >= SPARE.min(file.end() / 8), "{left} of {} are left", file.capacity());
        }
    }
}
