//! How long files are.

use super::{MAX_FILE_BYTES, MIN_FILE_BYTES};

/// The size of the first file; later ones grow with the log.
const FIRST_FILE: u64 = 1 << 20;
/// The part of the log that one file is, as long as the log is small: what is reserved for the last
/// file and for the copy of one is little beside the log then.
const PART_OF_LOG: u64 = 32;
/// The part of the log that one file is at least, whatever size was asked for. Each file takes a
/// mapping, of which Linux lets a process have 65,530: so a store takes 31,000 at most.
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

    /// Of a size that was asked for in bytes: how many there are when the log is as long as it may
    /// be.
    fn files(asked: u64) -> u64 {
        let (mut log, mut files) = (0, 0);
        while log < 8 << 40 {
            log += file_size(log, asked);
            files += 1;
        }
        files
    }

    /// At 4 KiB a file there were 2^31 of them, and a store ended at 65,530.
    #[test]
    fn the_longest_log_has_few_files() {
        for asked in [MIN_FILE_BYTES, 1 << 20, 64 << 20, MAX_FILE_BYTES] {
            assert!(files(asked) < 33_000, "{} of {asked} bytes", files(asked));
        }
    }
}
