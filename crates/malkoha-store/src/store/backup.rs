//! Checkpoints and copies, while the store is in use.

use std::fs::{self, File};
use std::path::Path;

use super::Store;
use crate::error::{Error, Result};
use crate::index;
use crate::log::file_name;

impl Store {
    /// Syncs and writes the index into a file, so that opening after a crash need not read what was
    /// written until now. Writers go on meanwhile.
    ///
    /// # Errors
    ///
    /// If the device is full or the system refuses. The checkpoint before it stays then.
    pub fn checkpoint(&self) -> Result<()> {
        let mut maintained = self.inner.maintenance();
        self.inner.checkpoint(&mut maintained)
    }

    /// Makes a copy of the store, as it is now, in the directory `path`, which must be empty or not
    /// there. On the same device it takes hard links, no space and next to no time; writers go on
    /// meanwhile. The copy is a store like any other.
    ///
    /// # Errors
    ///
    /// If the directory has files, the device is full or the system refuses.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let failed = |action| Error::io(action, path.display().to_string());
        fs::create_dir_all(path).map_err(failed("make"))?;
        if fs::read_dir(path).map_err(failed("read"))?.next().is_some() {
            return Err(Error::Option("a backup needs a directory without files"));
        }
        let mut maintained = self.inner.maintenance();
        // What is sealed is never written again, so both stores may have it. The seal says what of
        // the log is durable.
        self.inner.sync()?;
        let mut writer = self.inner.writer()?;
        writer.seal()?;
        let files = self.inner.write_checkpoint(&mut maintained, writer, &[])?;
        let names = files.iter().map(|file| file_name(file.id));
        let names: Vec<_> = names.chain([index::CHECKPOINT.to_owned()]).collect();
        for (done, name) in names.iter().enumerate() {
            let linked = self.inner.storage.link(name, path).map_err(failed("write a copy in"));
            linked.inspect_err(|_| {
                // A part of a store is none. The first error is the one to tell.
                names[..done].iter().for_each(|name| drop(fs::remove_file(path.join(name))));
            })?;
        }
        File::open(path).and_then(|directory| directory.sync_all()).map_err(failed("sync"))
    }
}
