//! Checkpoints and copies, while the store is in use.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use super::Store;
use crate::error::{Error, Result};
use crate::index;
use crate::log::{file_name, parse_name};
use crate::recovery::UNFINISHED;
use crate::storage::{LOCK, make_directories, sync_directory};

/// A file that a complete copy has. Its last line is written when everything else is durable.
const FINISHED: &str = "BACKUP";
const NOT_EMPTY: &str = "a backup needs a directory without files";

impl Store {
    /// Syncs and writes the index into a file, so that opening after a crash need not read the log
    /// until here. Writers continue meanwhile.
    ///
    /// # Errors
    ///
    /// If the device is full or the system refuses. Then the previous checkpoint stays.
    pub fn checkpoint(&self) -> Result<()> {
        let mut maintained = self.inner.maintenance();
        self.inner.checkpoint(&mut maintained)
    }

    /// Makes a copy of the store, as it is now, in the directory `path`. The directory must be
    /// empty, missing, or the remains of an interrupted backup. Writers continue meanwhile. The
    /// copy is a store like any other.
    ///
    /// On the same file system the copy consists of hard links, which take no space and next to no
    /// time. Damage to a shared file then damages both: to survive the loss of a disk, copy to
    /// another device.
    ///
    /// Until the copy is whole, the directory has a file `BACKUP.unfinished`, and opening it is an
    /// error. Then it has a file `BACKUP` with the numbers of keys, files and bytes.
    ///
    /// # Errors
    ///
    /// If the directory has files, the device is full or the system refuses. Nothing of the copy
    /// stays then.
    pub fn backup(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let failed = |action| Error::io(action, path.display().to_string());
        make_directories(path).map_err(failed("make"))?;
        let unmarked = !path.join(UNFINISHED).exists();
        if unmarked && has_others(path).map_err(failed("read"))? {
            return Err(Error::Option(NOT_EMPTY));
        }
        let mark = claim(path).map_err(failed("write a copy in"))?;
        let _mark = mark.ok_or(Error::Option("another backup writes into this directory"))?;
        clear(path).map_err(failed("clear"))?;
        if has_others(path).map_err(failed("read"))? {
            return Err(Error::Option(NOT_EMPTY));
        }
        self.copy_into(path).inspect_err(|_| {
            // A part of a store is not a store. Reports the first error.
            let _ = clear(path).and_then(|()| fs::remove_file(path.join(UNFINISHED)));
        })
    }

    fn copy_into(&self, path: &Path) -> Result<()> {
        let failed = |action| Error::io(action, path.display().to_string());
        let mut maintained = self.inner.maintenance();
        // Sealed files are never written again, so both stores may share them. The seal says which
        // part of the log is durable.
        self.inner.sync()?;
        let mut turn = self.inner.turn()?;
        turn.writer.seal()?;
        let keys = self.inner.index.len();
        let files = self.inner.write_checkpoint(&mut maintained, turn, &[])?;
        let mut keeping = None;
        let names = files.iter().map(|file| file_name(file.id));
        for name in names.chain([index::CHECKPOINT.to_owned()]) {
            if !self.inner.storage.link(&name, path).map_err(failed("write a copy in"))? {
                // This may take hours.
                keeping.get_or_insert_with(|| self.inner.keep_files());
                self.inner.storage.copy(&name, path).map_err(failed("write a copy in"))?;
            }
        }
        // The copy has all its files, whatever the store removes from now on.
        drop(keeping);
        drop(maintained);
        sync_directory(path).map_err(failed("sync"))?;
        let bytes: u64 = files.iter().map(|file| file.end).sum();
        let mark = format!("keys {keys}\nfiles {}\nbytes {bytes}\nwhole\n", files.len());
        let finished = File::create(path.join(FINISHED)).and_then(|mut file| {
            file.write_all(mark.as_bytes())?;
            file.sync_all()?;
            sync_directory(path)
        });
        finished.map_err(failed("write a copy in"))?;
        fs::remove_file(path.join(UNFINISHED)).map_err(failed("finish a copy in"))?;
        sync_directory(path).map_err(failed("sync"))
    }
}

/// The mark of a copy that is not whole. It is durable before anything else, or opening would take
/// the directory for a store. The backup locks it, because another backup into this directory would
/// take the copy for interrupted, and remove its files. `None` if there is another backup.
fn claim(directory: &Path) -> io::Result<Option<File>> {
    let name = directory.join(UNFINISHED);
    let mut mark = match File::options().write(true).open(&name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => File::create_new(&name)?,
        mark => mark?,
    };
    if matches!(mark.try_lock(), Err(TryLockError::WouldBlock)) || !name.exists() {
        return Ok(None);
    }
    mark.set_len(0)?;
    mark.write_all(b"this copy of a store is not whole: remove the directory, or make it again\n")?;
    mark.sync_all()?;
    sync_directory(directory)?;
    Ok(Some(mark))
}

/// Whether there is anything but the mark.
fn has_others(directory: &Path) -> io::Result<bool> {
    let mut entries = fs::read_dir(directory)?;
    entries.try_fold(false, |others, entry| Ok(others || entry?.file_name() != UNFINISHED))
}

/// Removes the files of an interrupted backup, except its mark.
fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let ours = |name: &str| {
            [index::CHECKPOINT, LOCK, FINISHED].contains(&name) || parse_name(name).is_some()
        };
        if name.to_str().is_some_and(ours) {
            fs::remove_file(directory.join(name))?;
        }
    }
    sync_directory(directory)
}
