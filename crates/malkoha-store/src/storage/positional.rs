//! Reading and writing at an offset, which has different names on different systems.

use std::fs::File;
use std::io;
#[cfg(windows)]
use std::os::windows::fs::FileExt;

/// Bytes at an offset, at most as many as there is room for; none at the end of the file.
pub(super) fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, bytes, offset);
    #[cfg(windows)]
    match file.seek_read(bytes, offset) {
        // Windows reports with this error that a file ends before this offset.
        Err(error) if error.raw_os_error() == Some(38) => Ok(0),
        read => read,
    }
}

/// Writes all of the bytes at an offset.
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, offset);
    #[cfg(windows)]
    {
        let (mut bytes, mut offset) = (bytes, offset);
        while !bytes.is_empty() {
            match file.seek_write(bytes, offset)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                count => {
                    bytes = &bytes[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}
