//! Room on the device that is kept for one compaction. Without it, a store that fills the device
//! could never become smaller, because compaction copies before it removes.

use std::io;

use super::MIN_FILE_BYTES;
use crate::error::{Error, Result};
use crate::storage::{Storage, StorageFile, free_bytes, remove_if_there};

/// The name of the file that keeps it. Nothing reads its content.
pub(crate) const NAME: &str = "RESERVE";

#[derive(Default)]
pub(crate) struct Reserve {
    held: u64,
    /// Bytes that it should have: the length of the longest file that may have to be copied.
    wanted: u64,
}

impl Reserve {
    /// The room that an earlier opening left. An error if the file has content, because then it is
    /// not the store's.
    pub(crate) fn found(storage: &dyn Storage) -> Result<Self> {
        // If it is no file, the first caller that needs it reports that.
        let Ok(file) = storage.open(NAME, true) else { return Ok(Self::default()) };
        let failed = || Error::io("look at", NAME);
        // The room of one that has a second name is not given back by removing it.
        if file.is_shared().map_err(failed())? {
            return Ok(Self::default());
        }
        if !is_blank(&*file).map_err(failed())? {
            let what = "it has content, so it is not the store's: move it elsewhere";
            return Err(failed()(io::Error::other(what)));
        }
        let wanted = file.length().map_err(failed())?;
        let held = match fill(&*file, wanted).map_err(failed()) {
            Err(Error::NoSpace { .. }) => 0,
            filled => filled.map(|()| wanted)?,
        };
        Ok(Self { held, wanted })
    }

    /// Whether a compaction has used it, and it could not be replaced yet.
    pub(crate) fn is_short(&self) -> bool {
        self.missing() > 0
    }

    pub(crate) fn missing(&self) -> u64 {
        self.wanted.saturating_sub(self.held)
    }

    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Ensures that there is room for a copy of a file of `wanted` bytes.
    pub(crate) fn hold(&mut self, storage: &dyn Storage, wanted: u64) -> Result<()> {
        if self.held != wanted {
            let failed = || Error::io("reserve room in", NAME);
            match storage.open(NAME, true) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    storage.create(NAME, wanted).map(drop)
                }
                // Its second name might be another user's file.
                Ok(file) if file.is_shared().map_err(Error::io("look at", NAME))? => {
                    storage.remove(NAME).and_then(|()| storage.create(NAME, wanted).map(drop))
                }
                file => file.and_then(|file| {
                    let filled = file.set_len(wanted).and_then(|()| fill(&*file, wanted));
                    filled.inspect_err(|_| {
                        // The system may have reserved a part, which nobody would use.
                        let _ = file.set_len(self.held);
                    })
                }),
            }
            .map_err(failed())?;
            self.held = wanted;
        }
        self.wanted = wanted;
        Ok(())
    }

    /// Ensures that there is room for a copy of this many bytes as soon as there can be. Until then
    /// there is as much as possible, which is enough for shorter files.
    pub(crate) fn want(&mut self, storage: &dyn Storage, wanted: u64) -> Result<()> {
        let mut more = wanted.saturating_sub(self.held);
        while more >= MIN_FILE_BYTES && self.held < wanted {
            match self.hold(storage, wanted.min(self.held + more)) {
                Err(Error::NoSpace { .. }) => more = more / 2 / MIN_FILE_BYTES * MIN_FILE_BYTES,
                held => held?,
            }
        }
        self.wanted = wanted;
        Ok(())
    }

    /// No file is longer than this any more.
    pub(crate) fn shrink(&mut self, longest: u64) {
        self.wanted = self.wanted.min(longest);
    }

    /// Ensures that there is this much room for one copy. The usual amount stays the same.
    pub(crate) fn extend(&mut self, storage: &dyn Storage, bytes: u64) -> Result<()> {
        let usual = self.wanted;
        let held = self.hold(storage, bytes);
        self.wanted = usual;
        held
    }

    /// Replaces room that a compaction has used, or gives back additional room.
    pub(crate) fn restore(&mut self, storage: &dyn Storage) -> Result<()> {
        if self.wanted == 0 && self.held > 0 {
            return self.release(storage).map(drop);
        }
        self.hold(storage, self.wanted)
    }

    /// Releases the room for a copy. Returns whether there was any.
    pub(crate) fn release(&mut self, storage: &dyn Storage) -> Result<bool> {
        let held = std::mem::take(&mut self.held) > 0;
        remove_if_there(storage, NAME).map_err(Error::io("remove", NAME))?;
        Ok(held)
    }

    /// Gives the room back if the device has plenty.
    pub(crate) fn close(&mut self, storage: &dyn Storage) -> Result<()> {
        const PLENTY: u64 = 16;
        if self.held > 0 && free_bytes(storage) / PLENTY >= self.held {
            self.release(storage)?;
        }
        Ok(())
    }
}

/// Whether a file has only zeros. Room that was never written is not read.
fn is_blank(file: &dyn StorageFile) -> io::Result<bool> {
    let (view, mut at) = (file.view()?, 0);
    while let Some(written) = file.written(at)? {
        at = written.end;
        if view.nonzero(written).next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Reserves the room of a file that has holes: a copy may have some where the file had room.
fn fill(file: &dyn StorageFile, bytes: u64) -> io::Result<()> {
    // If the system reserves room by writing zeros, these were written.
    let is_written = file.written(0)?.is_some_and(|written| written == (0..bytes));
    if is_written { Ok(()) } else { file.reserve(0..bytes) }
}
