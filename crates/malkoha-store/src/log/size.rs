//! The lengths of files.

use super::{MAX_FILE_BYTES, MIN_FILE_BYTES};

/// The size of the first file; later ones grow with the log.
const FIRST_FILE: u64 = 1 << 20;
/// The part of a small log that one file is. The room that is reserved for the last file and for
/// the copy of one is then a small part of the log.
const PART_OF_LOG: u64 = 32;
/// The least part of the log that one file is, whatever size was requested. Each file takes a
/// mapping, and Linux lets a process have 65,530 of them. With this part a store takes at most
/// 31,000.
const LEAST_PART_OF_LOG: u64 = 2048;

/// The size of a new file after `log` bytes of log.
pub(crate) fn file_size(log: u64, asked: u64) -> u64 {
    let most = longest_file(log, asked);
    (log / PART_OF_LOG).next_multiple_of(MIN_FILE_BYTES).clamp(FIRST_FILE.min(most), most)
}

/// The largest size of a file with more than one batch in a log of `log` bytes.
pub(super) fn longest_file(log: u64, asked: u64) -> u64 {
    let least = (log / LEAST_PART_OF_LOG).next_multiple_of(MIN_FILE_BYTES);
    asked.max(least).min(MAX_FILE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 4 KiB per file there would be 2^31 of them, and a store once failed at 65,530.
    #[test]
    fn the_longest_log_has_few_files() {
        for asked in [MIN_FILE_BYTES, 1 << 20, 64 << 20, MAX_FILE_BYTES] {
            let (mut log, mut files) = (0, 0);
            while log < 8 << 40 {
                log += file_size(log, asked);
                files += 1;
            }
            assert!(files < 33_000, "{files} of {asked} bytes");
        }
    }
}
