//! The directory of a store: one of the operating system, or one that a test simulates.

mod directory;
mod file;
mod held;
#[cfg(unix)]
mod lock;
mod mapping;
#[cfg(unix)]
mod os;
mod readahead;
#[cfg(unix)]
mod sigbus;
mod view;
#[cfg(windows)]
mod windows;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub(crate) use directory::{make_directories, sync_directory};
pub use file::Writing;
#[cfg(unix)]
pub use lock::Lock;
pub use mapping::Mapping;
pub(crate) use mapping::any_lost;
#[cfg(unix)]
pub use os::OsStorage;
pub(crate) use readahead::Readahead;
pub(crate) use view::Sequential;
pub use view::View;
#[cfg(windows)]
pub use windows::{Lock, OsStorage};

/// The file whose lock is the right to write.
pub(crate) const LOCK: &str = "LOCK";

/// A directory of files. All errors are those of the operating system.
pub trait Storage: Send + Sync + 'static {
    /// The names of all files.
    fn list(&self) -> io::Result<Vec<String>>;

    /// A new file of `bytes` zero bytes for which there is room on the device, for writing.
    fn create(&self, name: &str, bytes: u64) -> io::Result<Box<dyn StorageFile>>;

    /// An existing file.
    fn open(&self, name: &str, writable: bool) -> io::Result<Box<dyn StorageFile>>;

    /// Renames a file, and replaces a file that has the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file. A [`View`] of it stays readable.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes creations, renamings and removals durable, in their order.
    fn sync_directory(&self) -> io::Result<()>;

    /// An error if the file system has stopped writing. Ask this after syncing files: a sync during
    /// which the journal fails may report success although the bytes are lost. They lie in blocks
    /// that were reserved, and these are still marked as never written.
    fn still_writes(&self) -> io::Result<()> {
        Ok(())
    }

    /// The free room of the device, if the system reports it.
    fn room(&self) -> io::Result<Option<Room>> {
        Ok(None)
    }

    /// Gives a file a second name in another directory. Returns whether that is possible: on
    /// another device, or on a file system without links, it is not.
    fn link(&self, name: &str, directory: &Path) -> io::Result<bool>;

    /// Copies a file into another directory. Durable when it returns.
    fn copy(&self, name: &str, directory: &Path) -> io::Result<()>;
}

/// Room of a device, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// All room.
    pub total: u64,
    /// Room that is left for the user of this process.
    pub free: u64,
}

/// Free bytes of the device: all that a number can have, if the system does not report it.
pub(crate) fn free_bytes(storage: &dyn Storage) -> u64 {
    storage.room().ok().flatten().map_or(u64::MAX, |room| room.free)
}

/// Removes a file, unless it is gone.
pub(crate) fn remove_if_there(storage: &dyn Storage, name: &str) -> io::Result<()> {
    match storage.remove(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A file of a [`Storage`].
pub trait StorageFile: Send + Sync {
    /// Its length in bytes.
    fn length(&self) -> io::Result<u64>;

    /// Changes its length. New bytes are zero, and there is room for them on the device. A file
    /// that another process may have mapped must not get shorter: reading there would end that
    /// process.
    fn set_len(&self, bytes: u64) -> io::Result<()>;

    /// Reserves room on the device for these bytes. The file gets longer if it ends before; new
    /// bytes are zero.
    fn reserve(&self, bytes: Range<u64>) -> io::Result<()>;

    /// Returns the room from an offset on, if the system can. The bytes there are then zero, and
    /// the length stays.
    fn release(&self, from: u64) -> io::Result<()>;

    /// The first bytes at an offset or behind it that were written; all others there are zero. May
    /// have more bytes than that.
    fn written(&self, from: u64) -> io::Result<Option<Range<u64>>>;

    /// Whether the device has room for all of it, if the system reports that.
    fn is_reserved(&self) -> io::Result<bool> {
        Ok(false)
    }

    /// Whether the file has another name too, and so another user.
    fn is_shared(&self) -> io::Result<bool>;

    /// The whole file, for reading. Later writes appear in it.
    fn view(&self) -> io::Result<Arc<View>>;

    /// Writes inside its length.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Prepares memory for bytes that will be written, if writing would wait for it.
    fn prepare(&self, _bytes: Range<u64>) {}

    /// Makes its bytes and its length durable.
    fn sync(&self) -> io::Result<()>;

    /// Closes its descriptor, because a process may not have many, unless the file is read through
    /// it. A mapping stays, and can be synced if [`Mapping::SYNCS_FILES`]. Everything else is an
    /// error from now on.
    fn close(&self);
}
