//! Files that the checkpoint does not know: written after it, or created and never written.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use super::read::{Ended, Read};
use super::{OnDamage, Opening};
use crate::error::{Error, Result};
use crate::index::Index;
use crate::log::{FileHeader, HEADER_BYTES, LogFile, file_name, find_record, lost};
use crate::replay::Changes;

/// The kinds of files that the checkpoint does not know.
pub(super) enum Opened {
    /// Only zeros: created before a crash, and not written.
    Unwritten,
    /// Content without a header, not even a damaged one.
    Headless,
    File(Box<LogFile>),
}

/// A file that the checkpoint does not know, and its first stretch.
pub(super) enum Unknown {
    Unwritten,
    Headless,
    File(Box<(LogFile, Read)>),
}

impl Opening<'_> {
    /// Opens a file that the checkpoint does not know.
    pub(super) fn open(&self, id: u64) -> Result<Opened> {
        let name = file_name(id);
        let file = self.storage.open(&name, false).map_err(Error::opening(&*name))?;
        let map = file.view().map_err(Error::io("map", &*name))?;
        let length = map.len();
        if !map.is_zero(0..HEADER_BYTES as u64) {
            return LogFile::with_header(file, id, 0).map(|file| Opened::File(Box::new(file)));
        }
        if map.is_lost() {
            return Err(lost(&name, 0));
        }
        let mut at = 0;
        // Where the system cannot tell what was written, all of it.
        while let Some(written) = file.written(at).unwrap_or((at < length).then_some(at..length)) {
            at = written.end;
            if !map.is_zero(written) {
                return Ok(Opened::Headless);
            }
        }
        // Zeros, although the device does not report a hole.
        if map.is_lost() {
            return Err(lost(&name, 0));
        }
        Ok(Opened::Unwritten)
    }

    pub(super) fn written_bytes(&self, id: u64) -> Result<u64> {
        Ok(match self.open(id) {
            Ok(Opened::File(file)) => file.written_bytes(0),
            Err(error) if !error.is_unreadable() => return Err(error),
            _ => 0,
        })
    }

    /// Opens a file that the checkpoint does not know, and reads its first stretch.
    pub(super) fn read_unknown(&self, id: u64, later: &[u64]) -> Result<Unknown> {
        Ok(match self.open(id)? {
            Opened::Unwritten => Unknown::Unwritten,
            Opened::Headless => Unknown::Headless,
            Opened::File(file) => {
                let first = file.header.first_sequence;
                let read = self.read(&file, HEADER_BYTES as u64, first, later)?;
                Unknown::File(Box::new((*file, read)))
            }
        })
    }

    /// Reads a file whose header is lost. The header can be derived, because its records follow the
    /// earlier ones. `None` if nothing in the file was ever acknowledged, as after a crash.
    fn read_headless(
        &mut self,
        id: u64,
        later: &[u64],
        lost: Error,
    ) -> Result<Option<(LogFile, Read)>> {
        // The first header of a store is durable before anything follows it.
        let Some(seed) = self.seed else { return Err(lost) };
        let repairing = self.on_damage == OnDamage::Skip;
        let likely = FileHeader::new(id, self.sequence, seed, 0);
        let bytes = self.header_bytes(id)?;
        let guesses = FileHeader::guesses(&bytes, id, self.sequence, seed);
        let guesses = guesses.filter(|_| repairing);
        let begin = HEADER_BYTES as u64;
        // Opened once: a page that cannot be read is tried once, as that can take seconds.
        let mut file = LogFile::headless(self.storage, likely)?;
        for header in std::iter::once(likely).chain(guesses) {
            file.set_header(header);
            if !begin_with_first_record(&mut file, header.first_sequence) {
                continue;
            }
            let read = self.read(&file, begin, file.header.first_sequence, later)?;
            if repairing || read.ended != Ended::Log || read.end > begin {
                self.damage(lost)?;
                return Ok(Some((file, read)));
            }
        }
        if repairing { Err(lost) } else { Ok(None) }
    }

    fn header_bytes(&self, id: u64) -> Result<[u8; HEADER_BYTES]> {
        let name = file_name(id);
        let file = self.storage.open(&name, false).map_err(Error::opening(&*name))?;
        let map = file.view().map_err(Error::io("map", name))?;
        Ok(map.get_array(0).unwrap_or([0; HEADER_BYTES]))
    }

    /// The seed in the first header that is whole.
    pub(super) fn any_seed(&self, ids: &[u64]) -> Option<u64> {
        ids.iter().find_map(|&id| match self.open(id) {
            Ok(Opened::File(file)) => Some(file.header.seed),
            _ => None,
        })
    }

    /// Processes what `read_unknown` found. Breaks with the tail if the log ends here.
    pub(super) fn take_unknown(
        &mut self,
        index: &Index,
        taken: &mut Vec<(Arc<LogFile>, Changes)>,
        id: u64,
        opened: Result<Unknown>,
        later: &[u64],
    ) -> Result<ControlFlow<Option<Arc<LogFile>>>> {
        let found = match opened {
            Ok(Unknown::File(found)) => Ok(Some(*found)),
            Ok(Unknown::Headless) => {
                let (file, what) = (file_name(id), "its header is blank, but not what follows");
                self.read_headless(id, later, Error::Damaged { file, offset: 0, what })
            }
            Ok(Unknown::Unwritten) if self.is_synced_later(id, 0, later)? => {
                Err(Error::Damaged { file: file_name(id), offset: 0, what: "it is blank" })
            }
            Ok(Unknown::Unwritten) => Ok(None),
            Err(error) if error.is_unreadable() && self.on_damage == OnDamage::Skip => {
                self.read_headless(id, later, error)
            }
            Err(error) => Err(error),
        };
        let (mut file, mut read) = match found {
            Ok(Some(found)) => found,
            Ok(None) => {
                // Created, but not written before a crash: nothing behind it was ever acknowledged.
                self.cut_off(later)?;
                self.cut_off(&[id])?;
                return Ok(Break(None));
            }
            Err(error)
                if error.is_unreadable()
                    && (error.is_damage() || self.on_damage == OnDamage::Skip) =>
            {
                return self.damage(error).map(Continue);
            }
            Err(error) => return Err(error),
        };
        if file.header.seed != *self.seed.get_or_insert(file.header.seed) {
            return self.damage(file.damaged(32, "it belongs to another store")).map(Continue);
        }
        let first = file.header.first_sequence;
        if first < self.sequence {
            self.damage(file.damaged(24, "its records have the numbers of older ones"))?;
            file.header.first_sequence = self.sequence;
            begin_with_first_record(&mut file, self.sequence);
            read = self.read(&file, HEADER_BYTES as u64, file.header.first_sequence, later)?;
        }
        file.base = self.table.free_base(file.length());
        let file = Arc::new(file);
        self.table.insert(Arc::clone(&file));
        Ok(match self.take(index, taken, &file, read, later)? {
            Ended::Log => Break(Some(file)),
            _ => {
                // Another descriptor rewrites the part of it that must be rewritten.
                file.close();
                Continue(())
            }
        })
    }
}

/// Takes the number of the first record from that record itself, if it is whole, because whoever
/// reads the file later begins with it. It is this one or not much more. Returns whether there is
/// any whole record.
fn begin_with_first_record(file: &mut LogFile, sequence: u64) -> bool {
    let begin = HEADER_BYTES as u64;
    let found = find_record(file, begin, sequence);
    if let Some((_, sequence)) = found.filter(|&(at, _)| at == begin) {
        file.header.first_sequence = sequence;
    }
    found.is_some()
}
