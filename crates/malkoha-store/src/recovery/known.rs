//! The files that the checkpoint knows.

use std::io;
use std::mem;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::index::{Checkpoint, FileEntry};
use crate::log::{HEADER_BYTES, LogFile, UNIT, file_name, parse_name};

use super::unknown::Opened;
use super::{Opening, Recovered, Start};

impl Opening<'_> {
    /// Opens the files of a checkpoint, at their places in it.
    pub(super) fn known_files(&mut self, checkpoint: &Checkpoint, ids: &[u64]) -> Result<Start> {
        for entry in &checkpoint.files {
            let file = self.known_file(entry)?;
            // Only the last one may have more to read.
            if Some(entry) != checkpoint.files.last() {
                file.close();
            }
            self.found.files.insert(Arc::new(file));
        }
        let known = |id: &u64| checkpoint.files.iter().any(|file| file.id == *id);
        let leftover = ids.iter().filter(|&id| *id < checkpoint.next_id && !known(id));
        self.found.useless.extend(leftover.map(|&id| file_name(id)));
        let resumed = self.found.files.all().last().filter(|_| checkpoint.open_tail).cloned();
        Ok(Start { from_id: checkpoint.next_id, resumed })
    }

    fn known_file(&self, entry: &FileEntry) -> Result<LogFile> {
        let mut file = match LogFile::open(self.storage, entry.id) {
            Err(Error::Io { source, file, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Damaged { file, offset: 0, what: "the file is missing" });
            }
            file => file?,
        };
        if file.header.seed != self.seed.unwrap_or(file.header.seed) {
            return Err(file.damaged(32, "it belongs to another store"));
        }
        if entry.end > file.length() {
            return Err(file.damaged(file.length(), "the end of the file is missing"));
        }
        if entry.end < HEADER_BYTES as u64 || !entry.end.is_multiple_of(UNIT) {
            return Err(file.damaged(entry.end, "the checkpoint has an end where no record ends"));
        }
        if !self.found.files.is_free(entry.base, file.length()) {
            return Err(file.damaged(0, "the checkpoint has another file in its place"));
        }
        file.base = entry.base;
        file.set_end(entry.end);
        file.set_durable(entry.end);
        file.add_dead(entry.dead.min(entry.end));
        file.add_tombstones(entry.tombstones.min(entry.end));
        file.add_expiring(&entry.expiring);
        Ok(file)
    }

    /// Counts as damage those files and ends of files that the checkpoint knows and that are
    /// missing. The log alone does not show it.
    pub(super) fn note_lost_ends(&mut self, ids: &[u64]) {
        let Recovered { files, recovery, useless, .. } = &mut self.found;
        for entry in &self.known {
            let (name, found) = (file_name(entry.id), files.all().iter());
            let (offset, what) =
                match found.map(|it| (it.id(), it.end())).find(|it| it.0 == entry.id) {
                    Some((_, end)) if end >= entry.end => continue,
                    Some((_, end)) => (end, "the end of the file is missing"),
                    None if ids.contains(&entry.id) => (0, "its records are missing"),
                    None => (0, "the file is missing"),
                };
            let is_of_it = |it: &Error| match it {
                Error::Damaged { file, .. } | Error::Io { file, .. } => *file == name,
                _ => false,
            };
            if !recovery.skipped.iter().any(is_of_it) {
                useless.retain(|useless| *useless != name);
                recovery.skipped.push(Error::Damaged { file: name, offset, what });
            }
        }
    }

    /// Counts files that a repair would remove as damage, unless they are all zeros. They then get
    /// other names.
    pub(super) fn keep_useless(&mut self) -> Result<()> {
        for name in mem::take(&mut self.found.useless) {
            let written = match parse_name(&name).map(|id| self.open(id)) {
                None | Some(Ok(Opened::Unwritten)) => false,
                Some(Err(error)) if !error.is_unreadable() => return Err(error),
                Some(_) => true,
            };
            if written {
                let what = "it lies behind the end of the log";
                self.found.recovery.skipped.push(Error::Damaged { file: name, offset: 0, what });
            } else {
                self.found.useless.push(name);
            }
        }
        Ok(())
    }
}
