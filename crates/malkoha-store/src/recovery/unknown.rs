//! Files that the checkpoint does not know: written after it, or created and never written.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use super::read::{Ended, Read};
use super::{OnDamage, Opening};
use crate::error::{Error, Result};
use crate::log::{FileHeader, HEADER_BYTES, LogFile, file_name, find_record};
use crate::replay::Changes;

/// A file that the checkpoint does not know.
pub(super) enum Opened {
    /// Only zeros: created before a crash, and not written.
    Unwritten,
    /// Content without a header, not even a damaged one.
    Headless,
    File(Box<LogFile>),
}

impl Opening<'_> {
    /// Opens a file that the checkpoint does not know.
    pub(super) fn open(&self, id: u64) -> Result<Opened> {
        let mut file = LogFile::with_header(self.storage, FileHeader::new(id, 0, 0, 0))?;
        if file.piece(0, HEADER_BYTES as u64).iter().any(|&byte| byte != 0) {
            file.read_header()?;
            return Ok(Opened::File(Box::new(file)));
        }
        // All of it is read: a page that cannot be read is zeros too.
        let has_content = file.leftovers(0).count() > 0;
        if file.is_lost() {
            return Err(file.lost(0));
        }
        Ok(if has_content { Opened::Headless } else { Opened::Unwritten })
    }

    pub(super) fn written_bytes(&self, id: u64) -> Result<u64> {
        Ok(match self.open(id) {
            Ok(Opened::File(file)) => file.written_bytes(0),
            Err(error) if !error.is_unreadable() => return Err(error),
            _ => 0,
        })
    }

    /// Opens a file that the checkpoint does not know, and reads its first stretch.
    pub(super) fn read_unknown(&self, id: u64, later: &[u64]) -> Result<(Opened, Option<Read>)> {
        let opened = self.open(id)?;
        let begin = HEADER_BYTES as u64;
        let read = match &opened {
            Opened::File(file) => {
                Some(self.read(file, begin, file.header.first_sequence, later)?)
            }
            _ => None,
        };
        Ok((opened, read))
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
        let begin = HEADER_BYTES as u64;
        // Opened once: a page that cannot be read is tried once, because that can take seconds.
        let likely = FileHeader::new(id, self.found.sequence, seed, 0);
        let mut file = LogFile::with_header(self.storage, likely)?;
        let bytes = file.piece(0, begin + 8).into_owned();
        let guesses = FileHeader::guesses(&bytes, id, self.found.sequence, seed);
        for header in guesses.take(if repairing { usize::MAX } else { 1 }) {
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

    /// The seed in the first header that is whole.
    pub(super) fn any_seed(&self, ids: &[u64]) -> Option<u64> {
        ids.iter().find_map(|&id| match self.open(id) {
            Ok(Opened::File(file)) => Some(file.header.seed),
            _ => None,
        })
    }

    /// Processes the result of [`read_unknown`](Self::read_unknown). Breaks with the tail if the
    /// log ends here.
    pub(super) fn take_unknown(
        &mut self,
        taken: &mut Vec<(Arc<LogFile>, Changes)>,
        id: u64,
        opened: Result<(Opened, Option<Read>)>,
        later: &[u64],
    ) -> Result<ControlFlow<Option<Arc<LogFile>>>> {
        let repairing = self.on_damage == OnDamage::Skip;
        let blank = |what| Error::Damaged { file: file_name(id), offset: 0, what };
        let found = match opened {
            Ok((Opened::File(file), read)) => Ok(Some(*file).zip(read)),
            Ok((Opened::Headless, _)) => {
                self.read_headless(id, later, blank("its header is blank, but not what follows"))
            }
            Ok(_) if self.is_synced_later(id, 0, later)? => Err(blank("it is blank")),
            Ok(_) => Ok(None),
            Err(error) if error.is_unreadable() && repairing => {
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
            Err(error) if error.is_damage() || error.is_unreadable() && repairing => {
                return self.damage(error).map(Continue);
            }
            Err(error) => return Err(error),
        };
        if file.header.seed != *self.seed.get_or_insert(file.header.seed) {
            return self.damage(file.damaged(32, "it belongs to another store")).map(Continue);
        }
        if file.header.first_sequence < self.found.sequence {
            self.damage(file.damaged(24, "its records have the numbers of older ones"))?;
            file.header.first_sequence = self.found.sequence;
            begin_with_first_record(&mut file, self.found.sequence);
            read = self.read(&file, HEADER_BYTES as u64, file.header.first_sequence, later)?;
        }
        file.base = self.found.files.free_base(file.length());
        let file = Arc::new(file);
        self.found.files.insert(Arc::clone(&file));
        Ok(match self.take(taken, &file, read, later)? {
            Ended::Log => Break(Some(file)),
            _ => {
                // Another descriptor rewrites the part of it that must be rewritten.
                file.close();
                Continue(())
            }
        })
    }
}

/// Takes the number of the first record from that record itself, if it is whole, because later
/// readers of the file begin with it. It is this one or a little more. Returns whether there is any
/// whole record.
fn begin_with_first_record(file: &mut LogFile, sequence: u64) -> bool {
    let begin = HEADER_BYTES as u64;
    let found = find_record(file, begin, sequence);
    if let Some((_, sequence)) = found.filter(|&(at, _)| at == begin) {
        file.header.first_sequence = sequence;
    }
    found.is_some()
}
