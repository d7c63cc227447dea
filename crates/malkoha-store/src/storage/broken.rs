//! Files that the file system itself cannot describe any more.

use std::io;

/// Whether a file could not be opened because the device failed, or the file system found that what
/// it knows of the file is not what it wrote. Refusals, limits and names that are gone are no such
/// errors.
#[cfg(unix)]
pub(crate) fn is_broken(error: &io::Error) -> bool {
    use rustix::io::Errno;
    // A checksum that does not match: ext4 reports the second, XFS and Btrfs the third.
    #[cfg(target_os = "linux")]
    const BROKEN: [Errno; 3] = [Errno::IO, Errno::BADMSG, Errno::UCLEAN];
    #[cfg(not(target_os = "linux"))]
    const BROKEN: [Errno; 1] = [Errno::IO];
    Errno::from_io_error(error).is_some_and(|error| BROKEN.contains(&error))
}

/// The same by the errors of Windows.
#[cfg(windows)]
pub(crate) fn is_broken(error: &io::Error) -> bool {
    const CRC: i32 = 23;
    const IO_DEVICE: i32 = 1117;
    const FILE_CORRUPT: i32 = 1392;
    matches!(error.raw_os_error(), Some(CRC | IO_DEVICE | FILE_CORRUPT))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn refusals_limits_and_missing_names_are_no_damage() {
        let is_broken = |code: i32| is_broken(&io::Error::from_raw_os_error(code));
        let damage = [libc::EIO, libc::EBADMSG, libc::EUCLEAN];
        assert!(damage.into_iter().all(is_broken));
        let others = [libc::EACCES, libc::EPERM, libc::EMFILE, libc::ENFILE, libc::ENOENT];
        assert!(!others.into_iter().any(is_broken));
        assert!(!is_broken(libc::ENOSPC) && !is_broken(libc::EROFS) && !is_broken(libc::EBUSY));
    }
}
