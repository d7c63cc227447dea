//! Prepares a file of an earlier opening for writing.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::file::{COPY, LogFile, PAGE, SEAL_ROOM};
use super::{files, to_usize};
use crate::error::{Error, Result};
use crate::storage::{Storage, StorageFile};

impl LogFile {
    /// The same file for writing at its end, with room again. Bytes that a crash left behind the
    /// end are zeroed before anything is written there. The file does not get shorter, because
    /// other processes read it.
    pub(crate) fn reopen(&self, storage: &dyn Storage, file_bytes: u64) -> Result<Self> {
        let name = self.name();
        let mut file = storage.open(&name, true).map_err(Error::io("open", &*name))?;
        let end = self.end();
        // Not beyond its slots: another file may have the next one.
        let most = self.length().next_multiple_of(files::SLOT_BYTES);
        let mut room = file_bytes.min(most).max(self.least());
        if file.is_shared().map_err(Error::io("look at", &*name))? {
            file = self.copy(storage)?;
        } else {
            self.clear(&*file)?;
            if file.is_reserved().map_err(Error::io("look at", &*name))? {
                // A copy that a crash interrupted has room for its rest, which fits nowhere else.
                // Asking for more could lose it.
                room = self.length();
            }
        }
        let capacity = self.make_room(&*file, room)?;
        let new = Self::new(file, self.header, self.base)?;
        new.capacity.store(capacity, Ordering::Release);
        new.set_end(end);
        new.set_durable(self.durable());
        new.take_usage(self);
        Ok(new)
    }

    /// Reserves room behind the end until `room`, or as far as there is any, and returns how far.
    /// So a store on a full device can be opened, and the first write that needs more is refused.
    fn make_room(&self, file: &dyn StorageFile, mut room: u64) -> Result<u64> {
        let (end, least) = (self.end(), self.least());
        let failed = || Error::io("extend", self.name());
        loop {
            match file.reserve(end..room).map_err(failed()) {
                Err(Error::NoSpace { .. }) if room > least => {
                    // The system keeps a part that it has already reserved.
                    file.release(least).map_err(failed())?;
                    // A mapping cannot write to a page of which the device has only a part.
                    room = least + (room - least) / 2 / PAGE * PAGE;
                }
                other => return other.map(|()| room),
            }
        }
    }

    /// Rewrites everything that is not known to be durable, and syncs it. An earlier sync may have
    /// failed: the system then regards the pages as written, and a later sync would not write them.
    pub(crate) fn make_durable(&self, storage: &dyn Storage) -> Result<()> {
        let (begin, end) = (self.durable(), self.end());
        // Reading reports unreadable bytes.
        if begin >= end || self.is_lost() {
            return Ok(());
        }
        let name = self.name();
        let file = storage.open(&name, true).map_err(Error::io("open", &*name))?;
        self.write_to(&*file, begin..end, "write")?;
        file.sync().map_err(Error::io("sync", name))?;
        self.set_durable(end);
        Ok(())
    }

    /// Writes bytes of it to the same place in a file, a piece at a time.
    fn write_to(
        &self,
        file: &dyn StorageFile,
        bytes: Range<u64>,
        action: &'static str,
    ) -> Result<()> {
        const PIECE: u64 = 1 << 20;
        let mut at = bytes.start;
        while at < bytes.end {
            let next = bytes.end.min(at + PIECE);
            // A copy, because the mapping of this file might be the destination.
            let piece = self.view.get(at, to_usize(next - at)).unwrap_or_default().into_owned();
            if self.is_lost() {
                return Err(self.lost(at));
            }
            file.write_at(at, &piece).map_err(Error::io(action, self.name()))?;
            at = next;
        }
        Ok(())
    }

    /// Zeroes the bytes behind the end.
    fn clear(&self, file: &dyn StorageFile) -> Result<()> {
        let leftovers: Vec<_> = self.leftovers(self.end()).collect();
        for bytes in &leftovers {
            let zeros = vec![0; to_usize(bytes.end - bytes.start)];
            file.write_at(bytes.start, &zeros).map_err(Error::io("write", self.name()))?;
        }
        if leftovers.is_empty() {
            return Ok(());
        }
        file.sync().map_err(Error::io("sync", self.name()))
    }

    /// Replaces a file that another store shares, such as a backup, by a copy: later writes must
    /// not appear there.
    fn copy(&self, storage: &dyn Storage) -> Result<Box<dyn StorageFile>> {
        let (name, copy) = (self.name(), format!("{}{COPY}", self.name()));
        let failed = || Error::io("copy", &*name);
        let end = self.end();
        let file = storage.create(&copy, end + SEAL_ROOM).map_err(failed())?;
        let written = self.write_to(&*file, 0..end, "copy");
        let copied = written.and_then(|()| {
            let synced = file.sync().and_then(|()| storage.rename(&copy, &name));
            synced.and_then(|()| storage.sync_directory()).map_err(failed())
        });
        copied.inspect_err(|_| {
            // Reports the first error; opening removes the file.
            let _ = storage.remove(&copy);
        })?;
        Ok(file)
    }
}
