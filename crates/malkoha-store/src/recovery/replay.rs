//! The log beyond the checkpoint.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::Arc;

use malkoha::side_by_side;

use crate::error::{Error, Result};
use crate::log::{FileHeader, LogFile, file_name};
use crate::replay::{Changes, apply, reserve, threads, threads_for};

use super::read::{Ended, Read};
use super::{Cut, Opening, Start};

impl Opening<'_> {
    /// Replays the log behind the checkpoint. Returns the file in which it ends, unless that is
    /// full.
    pub(super) fn replay_all(&mut self, ids: &[u64], start: Start) -> Result<Option<Arc<LogFile>>> {
        let new = &ids[ids.partition_point(|&id| id < start.from_id)..];
        // Compaction removes a file only after it has written a checkpoint without it.
        let missing = (start.from_id..).zip(new).find(|&(id, &found)| id != found);
        if let Some((id, _)) = missing.filter(|_| start.from_id > 0) {
            let (file, what) = (file_name(id), "the file is missing");
            self.damage(Error::Damaged { file, offset: 0, what })?;
        }
        if let Some(file) = start.resumed {
            let read = self.read(&file, file.end(), self.found.sequence, new)?;
            self.replayed |= read.end > file.end();
            let mut taken = Vec::new();
            let ended = self.take(&mut taken, &file, read, new)?;
            self.apply(&mut taken, 0)?;
            if ended == Ended::Log {
                return Ok(Some(file));
            }
        }
        // Files are opened and read in parallel, and then processed in order: a file only counts if
        // the log continues until there.
        self.replayed |= !new.is_empty();
        let mut unread = new.iter().map(|&id| self.written_bytes(id)).sum::<Result<u64>>()?;
        for (group, ids) in new.chunks(threads()).enumerate() {
            let later = |i: usize| &new[group * threads() + i + 1..];
            let (numbers, read) = (0..ids.len(), |i| self.read_unknown(ids[i], later(i)));
            // Assumes records of a hundred bytes.
            let opened = match threads_for(unread / 100) {
                1 => numbers.map(read).collect(),
                _ => side_by_side(numbers.collect(), read),
            };
            let mut taken = Vec::new();
            for (i, opened) in opened.into_iter().enumerate() {
                match self.take_unknown(&mut taken, ids[i], opened, later(i))? {
                    Continue(()) => {}
                    Break(tail) => {
                        self.apply(&mut taken, 0)?;
                        return Ok(tail);
                    }
                }
            }
            let read: u64 = taken.iter().map(|(file, _)| file.end()).sum();
            unread = unread.saturating_sub(read);
            self.apply(&mut taken, unread)?;
        }
        Ok(None)
    }

    /// Processes the rest of a file after its first stretch, and sets its end.
    pub(super) fn take(
        &mut self,
        taken: &mut Vec<(Arc<LogFile>, Changes)>,
        file: &Arc<LogFile>,
        mut read: Read,
        later: &[u64],
    ) -> Result<Ended> {
        loop {
            for error in read.damage {
                self.damage(error)?;
            }
            file.set_end(read.end);
            self.note_durable(file, read.durable);
            file.add_tombstones(read.changes.tombstones);
            file.add_dead(read.changes.marks);
            file.add_expiring(&read.changes.expiring);
            self.found.sequence = read.sequence;
            taken.push((Arc::clone(file), read.changes));
            if read.ended != Ended::Stretch {
                break;
            }
            self.apply(taken, file.written_bytes(read.end))?;
            read = self.read(file, read.end, read.sequence, later)?;
        }
        if read.ended == Ended::Log {
            self.cut_off(later)?;
        }
        Ok(read.ended)
    }

    /// Notes which part was durable when a file was written.
    fn note_durable(&self, file: &LogFile, durable: Option<u64>) {
        let before = self.found.files.all().iter().rev().filter(|it| it.id() < file.id());
        if let Some(durable) = durable {
            file.set_durable(durable.min(file.end()));
            // Earlier files were noted at that time.
            before.take_while(|it| it.durable() < it.end()).for_each(|it| it.set_durable(it.end()));
        } else if let Some(last) = before.take(1).find(|it| it.id() + 1 == file.id()) {
            last.set_durable(file.header.durable_before.min(last.end()));
        }
    }

    /// Abandons files behind the end of the log, where nothing was ever acknowledged. The last one
    /// is removed first, because a gap after a crash would mean that a compaction had synced the
    /// log before it.
    pub(super) fn cut_off(&mut self, ids: &[u64]) -> Result<()> {
        for &id in ids.iter().rev() {
            // Any header will do to see which bytes of a file are not zero.
            let file = LogFile::with_header(self.storage, FileHeader::new(id, 0, 0, 0))?;
            self.found.recovery.cut_files.extend(Cut::from(&file, 0));
            self.found.useless.push(file.name());
        }
        Ok(())
    }

    /// Adds the changes to the index. About `unread` bytes of the log will follow.
    fn apply(&mut self, taken: &mut Vec<(Arc<LogFile>, Changes)>, unread: u64) -> Result<()> {
        let index = &self.found.index;
        if self.reserved.is_none() && index.len() == 0 {
            self.reserved = Some(reserve(index, taken, unread)?);
        }
        apply(index, &self.found.files, taken)?;
        taken.clear();
        Ok(())
    }
}
