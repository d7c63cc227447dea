//! Removes files that are not needed any more.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::index;
use crate::log::{LogFile, file_name, run_name};
use crate::storage::remove_if_there;
use crate::store::{Inner, Maintained};

/// Bytes of files that are removed together, at least.
const TOGETHER: u64 = 256 << 20;
/// The same for a short log.
const TOGETHER_LEAST: u64 = 1 << 20;
/// The last of several waits for room that others still keep, each twice as long as the one before.
const LONGEST_NAP: Duration = Duration::from_millis(128);

impl Inner {
    /// Bytes of files that are removed together, because each time costs a checkpoint. Not all
    /// files are removed at the end, in case there are many.
    pub(super) fn together(&self) -> u64 {
        let index = self.index.size_in_bytes();
        let part = (self.throttle.live() / 8).max(index).max(TOGETHER_LEAST);
        TOGETHER.max(8 * index).min(part)
    }

    /// Bytes that removing these files frees.
    pub(super) fn given(&self, done: &[Arc<LogFile>]) -> u64 {
        done.iter().map(|file| file.least()).sum()
    }

    /// Removes files that are not needed any more, in order.
    pub(super) fn remove_files(
        &self,
        maintained: &mut Maintained,
        files: Vec<Arc<LogFile>>,
    ) -> Result<()> {
        let ids: Vec<u64> = files.iter().map(|file| file.id()).collect();
        // While one is open, it takes space.
        drop(files);
        // A file that could not be removed may have keys that only tombstones in these files hide.
        self.remove_forgotten(maintained)?;
        if ids.is_empty() {
            return Ok(());
        }
        self.forget_files(maintained, &ids)?;
        maintained.forgotten.extend(ids);
        self.remove_forgotten(maintained)?;
        self.restore_reserve(maintained)
    }

    /// Takes back the room that was kept for this compaction, because nothing else can be written
    /// without it. If a new checkpoint has taken it, the checkpoint goes: the log has the same
    /// content.
    pub(super) fn restore_reserve(&self, maintained: &mut Maintained) -> Result<()> {
        let restored = {
            let mut writer = self.writer()?;
            writer.shrink_reserve(&self.files.load());
            writer.restore_reserve()
        };
        if !matches!(restored, Err(Error::NoSpace { .. })) {
            return restored;
        }
        index::remove(&*self.storage)?;
        maintained.checkpoint = None;
        // Readers keep the room of removed files for a moment. So does a process between fork and
        // exec.
        let mut nap = Duration::from_millis(1);
        loop {
            match self.writer()?.restore_reserve() {
                Err(Error::NoSpace { .. }) if nap <= LONGEST_NAP => thread::sleep(nap),
                Err(Error::NoSpace { .. }) => return Ok(()),
                other => return other,
            }
            nap *= 2;
        }
    }

    fn remove_forgotten(&self, maintained: &mut Maintained) -> Result<()> {
        if maintained.forgotten.is_empty() {
            return Ok(());
        }
        let has_order = self.tables.load().have_order();
        while let Some(&id) = maintained.forgotten.front() {
            for name in [Some(file_name(id)), has_order.then(|| run_name(id))].into_iter().flatten()
            {
                remove_if_there(&*self.storage, &name).map_err(Error::io("remove", name))?;
            }
            maintained.forgotten.pop_front();
        }
        self.storage.sync_directory().map_err(Error::io("sync", "."))
    }

    /// Makes it durable that files no longer belong to the store.
    pub(in crate::store) fn forget_files(
        &self,
        maintained: &mut Maintained,
        ids: &[u64],
    ) -> Result<()> {
        match self.write_checkpoint(maintained, self.turn()?, ids) {
            // No room next to the old one. The log is durable now, and has the same content.
            Err(Error::NoSpace { .. }) => {
                index::remove(&*self.storage)?;
                maintained.checkpoint = None;
                match self.write_checkpoint(maintained, self.turn()?, ids) {
                    Err(Error::NoSpace { .. }) => {}
                    other => drop(other?),
                }
            }
            other => drop(other?),
        }
        let mut writer = self.writer()?;
        writer.forget(ids);
        let mut files = self.files.load().as_ref().clone();
        ids.iter().for_each(|&id| files.remove(id));
        self.throttle.note(&files, &writer);
        let before = self.files.swap(Arc::new(files));
        let gone = before.all().iter().filter(|file| ids.contains(&file.id()));
        self.counters.removed.add(ids.len(), gone.map(|file| file.least()).sum());
        Ok(())
    }
}
