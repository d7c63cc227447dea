//! The log: files of records, each written once, in one order.
//!
//! ```text
//! writer --record--> file --files--> reader
//!                         --scan---> recovery, compaction, iteration
//! ```
//!
//! `docs/STORE.md` specifies every byte.

mod checksum;
mod commit;
mod expiring;
mod file;
mod files;
mod header;
mod order;
mod pack;
mod read;
mod record;
mod reopen;
mod reserve;
mod rotation;
mod run;
mod run_file;
mod scan;
mod usage;
mod writer;

use malkoha::KeyHasher;

pub(crate) use commit::Commit;
pub(crate) use expiring::Expiring;
pub(crate) use file::{LogFile, PAGE, file_name, parse_name};
pub(crate) use files::LogFiles;
pub(crate) use header::{FileHeader, HEADER_BYTES, random_seed};
pub(crate) use pack::pack;
pub(crate) use read::LINES as RECORD_LINES;
pub(crate) use record::{Content, Kind, Parts, Record};
pub(crate) use reserve::Reserve;
pub(crate) use run::{Run, begin, common};
pub(crate) use run_file::{parse_run_name, run_name};
pub(crate) use scan::{Scan, Step, find_record};
pub(crate) use writer::{Copying, LEAST_DEAD, Writer};

/// The longest key, in bytes.
pub const MAX_KEY: usize = 1 << 16;
/// The longest value, in bytes.
pub const MAX_VALUE: usize = 1 << 30;
/// Records begin at multiples of this many bytes, and locations count in it.
pub(crate) const UNIT: u64 = 8;
/// The least size of a full log file.
pub(crate) const MIN_FILE_BYTES: u64 = 1 << 12;
/// The most bytes of any log file.
pub(crate) const MAX_FILE_BYTES: u64 = 1 << 33;

/// Numbers of files and records are below this. No store ever gets there, and the numbers that
/// follow those of a hostile file must not overflow.
pub(crate) const MAX_NUMBER: u64 = 1 << 62;

/// The number of the table that has the list of all tables.
pub(crate) const LIST_OF_TABLES: u32 = u32::MAX;

/// The name of damage in messages.
pub(crate) const NO_RECORD: &str = "no record there matches its checksum";

/// A number of bytes that is known to lie in memory.
#[inline(always)]
pub(crate) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).expect("lengths inside a mapping fit the address space")
}

/// A key, and the table that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key<'a> {
    /// The number of the table: 0 has the keys of the store itself.
    pub(crate) table: u32,
    pub(crate) name: &'a [u8],
}

impl<'a> Key<'a> {
    /// A key of the store itself.
    pub(crate) const fn main(name: &'a [u8]) -> Self {
        Self { table: 0, name }
    }

    #[inline(always)]
    pub(crate) fn hash(self, hasher: &KeyHasher) -> u64 {
        let hash = hasher.hash_bytes(self.name);
        if self.table == 0 { hash } else { hash ^ salt(self.table, hasher) }
    }
}

/// Separates the hashes of tables. It is rotated, so that no key cancels it by being equal to the
/// number.
fn salt(table: u32, hasher: &KeyHasher) -> u64 {
    hasher.hash_bytes(&table.to_le_bytes()).rotate_left(32)
}
