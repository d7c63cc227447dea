//! Errors: what failed, where, and the remedy.

use std::io;

use malkoha::InsertError;

use crate::log::{MAX_KEY, MAX_VALUE};

/// The operation that failed when bytes could not be read.
pub(crate) const READ: &str = "read";

/// The result of an operation of a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An operation that failed. Unless the variant says otherwise, the store is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} '{file}': {source}")]
    Io {
        /// The operation.
        action: &'static str,
        /// The file, inside the store's directory where it lies there.
        file: String,
        /// The reason.
        source: io::Error,
    },
    /// No room on the device. Reading continues, and so does writing once there is room.
    #[error("no room left on the device for '{file}': free some space and try again")]
    NoSpace {
        /// The file that found no room.
        file: String,
    },
    /// Another process has the store open for writing.
    #[error("the store is in use by another process: close it there, or open it read-only")]
    Locked,
    /// This process has the store open for writing already.
    #[error("this process has the store open already: share that one between its threads")]
    OpenAlready,
    /// The directory may not be written to.
    #[error(
        "'{directory}' may not be written to ({source}): open it read-only, or change its rights"
    )]
    NotWritable {
        /// The directory of the store.
        directory: String,
        /// The reason.
        source: io::Error,
    },
    /// A write to a store that was opened read-only.
    #[error("the store was opened read-only")]
    ReadOnly,
    /// There is no store in the directory.
    #[error("there is no store in '{0}': nothing was written yet, or it is another directory")]
    NoStore(String),
    /// The directory has a part of a store: its backup was interrupted.
    #[error("it is a backup that did not come to its end: make it again, or remove the directory")]
    UnfinishedBackup,
    /// Bytes that are not the ones that were written.
    #[error("'{file}' is damaged at byte {offset}: {what}; restore it, or run repair")]
    Damaged {
        /// The file, inside the store's directory.
        file: String,
        /// Where in the file, in bytes.
        offset: u64,
        /// The kind of damage.
        what: &'static str,
    },
    /// A file of another version of the format.
    #[error(
        "'{file}' has format version {found}, and only version {supported} is supported: use a newer malkoha"
    )]
    Version {
        /// The file, inside the store's directory.
        file: String,
        /// Its version.
        found: u16,
        /// The version of this release.
        supported: u16,
    },
    /// The key is too long.
    #[error("the key has {0} bytes, more than the {MAX_KEY} that a key may have")]
    KeyTooLong(usize),
    /// The value is too long.
    #[error("the value has {0} bytes, more than the {MAX_VALUE} that a value may have")]
    ValueTooLong(usize),
    /// The operations of a batch are too large together.
    #[error("the batch takes {0} bytes, more than the {max} of one log file: split it", max = crate::log::MAX_FILE_BYTES)]
    BatchTooLong(u64),
    /// An option that makes no sense.
    #[error("{0}")]
    Option(&'static str),
    /// The call asks for keys in order, and they are in none, or the reverse.
    #[error("{0}: open it as it is, or change that ('set_ordered', or 'malkoha store order')")]
    Order(String),
    /// A sync failed earlier, or a thread of the store panicked. Writes since the last successful
    /// sync can be lost, and the system may not report it again. Only opening the store again finds
    /// out.
    #[error(
        "writing stopped after a failed sync or a panic ({0}): close the store, \
         look after the device, and open it again"
    )]
    Stopped(String),
    /// The index cannot take the key.
    #[error("the index cannot take another key: {0}")]
    Index(#[from] InsertError),
    /// No table of this name was made.
    #[error("there is no table '{0}' in the store: 'tables' lists those that it has")]
    NoTable(String),
    /// The table was removed.
    #[error("the table was removed: nothing can be read from it or written to it any more")]
    TableRemoved,
    /// No file of this name was imported.
    #[error("there is no file '{0}' in the store: 'ls' lists those that it has")]
    NoFile(String),
    /// Another user's value has the key that a file would get.
    #[error(
        "'{0}' cannot be stored: the key 'f{0}' has a value that is no file's: delete that, or keep files in a store of their own"
    )]
    Taken(String),
    /// A file that was imported cannot be given back as it was.
    #[error("'{name}' cannot be restored: {what}")]
    Broken {
        /// The file.
        name: String,
        /// The reason.
        what: &'static str,
    },
}

impl Error {
    /// An error of the operating system.
    pub(crate) fn io(
        action: &'static str,
        file: impl Into<String>,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            let file = file.into();
            match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { file },
                _ => Self::Io { action, file, source },
            }
        }
    }

    /// An error of the operating system when a file of the store was opened. A file that the file
    /// system cannot open because of damage counts as one whose bytes cannot be read.
    pub(crate) fn opening(file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            let action = if is_device_error(&source) { READ } else { "open" };
            Self::io(action, file)(source)
        }
    }

    /// An error of the operating system at the first write to a store.
    pub(crate) fn not_writable(
        action: &'static str,
        directory: String,
    ) -> impl FnOnce(io::Error) -> Self {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        move |source| match source.kind() {
            PermissionDenied | ReadOnlyFilesystem => Self::NotWritable { directory, source },
            _ => Self::io(action, directory)(source),
        }
    }

    /// Whether bytes are damaged or cannot be read. Other bytes might be fine.
    pub(crate) const fn is_unreadable(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Io { action, .. } => matches!(action.as_bytes(), b"read"),
            _ => false,
        }
    }

    /// Whether bytes are not the ones that were written.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. })
    }
}

/// Whether the device failed, or the file system found its own data about a file damaged. Refusals,
/// limits and missing names are no such errors.
pub(crate) fn is_device_error(error: &io::Error) -> bool {
    // A checksum that does not match: ext4 reports EBADMSG, XFS and Btrfs EUCLEAN.
    #[cfg(target_os = "linux")]
    const CODES: &[i32] = &[libc::EIO, libc::EBADMSG, libc::EUCLEAN];
    #[cfg(all(unix, not(target_os = "linux")))]
    const CODES: &[i32] = &[libc::EIO];
    // ERROR_CRC, ERROR_IO_DEVICE and ERROR_FILE_CORRUPT.
    #[cfg(windows)]
    const CODES: &[i32] = &[23, 1117, 1392];
    error.raw_os_error().is_some_and(|code| CODES.contains(&code))
}
