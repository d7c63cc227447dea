//! The description of a file in a store.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The kinds of files in a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file with content.
    File,
    /// A directory. Its entries have names of their own.
    Directory,
    /// A symbolic link, and its target.
    Link(Vec<u8>),
}

/// A file in a store; a directory or a link too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// Its name.
    pub name: Vec<u8>,
    /// Its kind.
    pub kind: FileKind,
    /// Its mode and time.
    pub metadata: Metadata,
    /// Its bytes; 0 unless it is a file.
    pub bytes: u64,
    /// Its chunks; a number.
    pub chunks: u64,
    /// The hash of all of it; empty unless it is a file.
    pub digest: Vec<u8>,
}

/// The mode and the time of a file. Owners are not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The permission bits of POSIX, twelve of them; `None` if not known.
    pub mode: Option<u32>,
    /// When the content was last changed; `None` if not known.
    pub modified: Option<SystemTime>,
}

/// Bytes of it in a record.
pub(super) const BYTES: usize = 16;
/// The permission bits.
const MODE: u32 = 0o7777;
const UNKNOWN: u32 = u32::MAX;

impl Metadata {
    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mode = self.mode.map_or(UNKNOWN, |mode| mode & MODE);
        let (seconds, nanos) = self.modified.and_then(parts).unwrap_or((0, UNKNOWN));
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&mode.to_le_bytes());
        bytes[4..8].copy_from_slice(&nanos.to_le_bytes());
        bytes[8..].copy_from_slice(&seconds.to_le_bytes());
        bytes
    }

    /// `None` if that is no metadata.
    pub(super) fn from_bytes(bytes: &[u8; BYTES]) -> Option<Self> {
        let (mode, rest) = bytes.split_first_chunk()?;
        let (nanos, rest) = rest.split_first_chunk()?;
        let (mode, nanos) = (u32::from_le_bytes(*mode), u32::from_le_bytes(*nanos));
        let seconds = i64::from_le_bytes(*rest.first_chunk()?);
        let mode = match mode {
            UNKNOWN => None,
            0..=MODE => Some(mode),
            _ => return None,
        };
        let modified = match nanos {
            UNKNOWN => None,
            _ => Some(time(seconds, nanos)?),
        };
        Some(Self { mode, modified })
    }
}

/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;

/// Seconds since 1970, rounded down, and nanoseconds beyond; `None` beyond 64 bits.
fn parts(time: SystemTime) -> Option<(i64, u32)> {
    let nanos = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).ok()?,
        Err(error) => -i128::try_from(error.duration().as_nanos()).ok()?,
    };
    let rest = u32::try_from(nanos.rem_euclid(SECOND)).ok()?;
    Some((i64::try_from(nanos.div_euclid(SECOND)).ok()?, rest))
}

/// `None` if there is no such time.
fn time(seconds: i64, nanos: u32) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole =
        if seconds < 0 { UNIX_EPOCH.checked_sub(whole)? } else { UNIX_EPOCH.checked_add(whole)? };
    if nanos < 1_000_000_000 { whole.checked_add(Duration::from_nanos(nanos.into())) } else { None }
}
