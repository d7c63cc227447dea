//! Ensures that one process at a time writes.
//!
//! Locks the directory and a file in it. On a network file system a lock of a directory usually
//! holds within one machine only, so the file excludes other machines. But a copy by hard links has
//! the same file, which its own users lock. So the file contains the directory in which it was last
//! locked.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::fs::OFlags;

use super::file::{is_shared, read_at, write_all_at};
use super::held::{Held, Identity};
use super::os::OsStorage;
use super::{LOCK, Storage};

/// The right to write, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    directory: File,
    held: Held,
}

impl Lock {
    /// Whether this process was forked by the one that has the right.
    pub(crate) fn is_inherited(&self) -> bool {
        self.held.is_inherited()
    }
}

impl Drop for Lock {
    /// Closing is not enough while another thread starts a program: until that runs, its process
    /// has the files too. But a process that was forked has no right to give it up.
    fn drop(&mut self) {
        if !self.is_inherited() {
            let _ = self.file.unlock();
            let _ = self.directory.unlock();
        }
    }
}

impl OsStorage {
    /// The right to write: `None` if somebody has it.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let open = || self.open_at(LOCK, OFlags::RDWR | OFlags::CREATE);
        let directory = self.reopen()?;
        // Not every file system locks directories.
        let is_alone = match try_lock(&directory) {
            Ok(false) => return Ok(None),
            locked => locked.is_ok(),
        };
        let number = directory.metadata()?.ino().to_string();
        let mut file = open()?;
        let mut is_locked = try_lock(&file)?;
        // A user in another directory is not in this one. Locked exclusively, because two must not
        // do this at once.
        if !is_locked && is_alone && is_shared(&file)? && is_of_another(&file, &number)? {
            self.remove(LOCK)?;
            file = open()?;
            is_locked = try_lock(&file)?;
        }
        if !is_locked {
            return Ok(None);
        }
        // If there is no room for that, a copy by hard links waits until this ends.
        let _ = sign(&file, &number);
        let held = Held::new(identity(&directory)?);
        Ok(Some(Lock { file, directory, held }))
    }

    /// Whether it is this process that has the right.
    pub(crate) fn is_held_here(&self) -> io::Result<bool> {
        Ok(Held::is_here(&identity(&self.reopen()?)?))
    }
}

fn identity(directory: &File) -> io::Result<Identity> {
    let metadata = directory.metadata()?;
    Ok(Identity([metadata.dev(), metadata.ino()]))
}

/// Whether nobody else has it.
fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a file was locked in another directory than that of this number.
fn is_of_another(file: &File, number: &str) -> io::Result<bool> {
    let last = signature(file)?;
    Ok(!last.is_empty() && last != number.as_bytes())
}

/// Notes the directory in which a file is locked. Synced, as others may look from other machines.
fn sign(file: &File, number: &str) -> io::Result<()> {
    let last = signature(file)?;
    // Anything else might be another user's file, by a second name.
    if last != number.as_bytes() && last.iter().all(u8::is_ascii_digit) {
        file.set_len(0)?;
        write_all_at(file, number.as_bytes(), 0)?;
        file.sync_data()?;
    }
    Ok(())
}

fn signature(file: &File) -> io::Result<Vec<u8>> {
    // More than the digits of any number.
    let mut bytes = [0; 32];
    let len = read_at(file, &mut bytes, 0)?;
    Ok(bytes[..len].to_vec())
}
