//! The file of sorted records. `docs/STORE.md` specifies every byte.

use std::sync::Arc;

use super::file::LogFile;
use super::header::{FileHeader, HEADER_BYTES};
use super::run::{Run, Sorted, Tables};
use super::{UNIT, to_usize};
use crate::storage::Storage;

const EXTENSION: &str = ".run";
const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'R', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;
const HEAD: usize = 64;
/// Bytes of a table in the list of tables.
const ENTRY: usize = 12;
/// The number of records of a table that was not kept in order.
const NO_ORDER: u32 = u32::MAX;

/// The name of the file of sorted records of a log file.
pub(crate) fn run_name(id: u64) -> String {
    format!("{id:012}{EXTENSION}")
}

/// The number of the log file that a file of this name belongs to.
pub(crate) fn parse_run_name(name: &str) -> Option<u64> {
    let id: u64 = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (run_name(id) == name).then_some(id)
}

/// The file: each table has at most one run.
pub(super) fn to_bytes(log: &FileHeader, sorted: &Sorted) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.resize(16, 0);
    for number in [log.id, log.salt, sorted.until, sorted.sequence, sorted.tables.len() as u64] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.resize(HEAD, 0);
    for (table, runs) in &sorted.tables {
        let run = runs.as_ref().map(|runs| runs.first());
        let count = run.map_or(NO_ORDER, |run| run.map_or(0, |run| length(run.len())));
        let shared = run.flatten().map_or(0, |run| length(run.shared.len()));
        for number in [*table, count, shared] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    for run in sorted.tables.values().flatten().flatten() {
        bytes.extend_from_slice(&run.shared);
        bytes.extend(run.begins.iter().flat_map(|begin| begin.to_le_bytes()));
        bytes.extend(run.units.iter().flat_map(|unit| unit.to_le_bytes()));
    }
    let sum = checksum(&bytes);
    bytes[HEAD - 4..HEAD].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn length(length: usize) -> u32 {
    u32::try_from(length).expect("a file has fewer records than units, and keys are short")
}

fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..HEAD - 4]), &bytes[HEAD..])
}

/// The offset until which records are sorted, the sequence number of the record there, the runs.
type Written = (u64, u64, Tables);

/// The content of the file of sorted records, if there is a whole one.
pub(super) fn written(storage: &dyn Storage, log: &LogFile) -> Option<Written> {
    let file = storage.open(&run_name(log.id()), false).ok()?;
    let view = file.view().ok()?;
    let bytes = view.get(0, to_usize(view.length()))?;
    let sorted = parse(&bytes, log)?;
    (!view.is_lost()).then_some(sorted)
}

fn parse(bytes: &[u8], log: &LogFile) -> Option<Written> {
    let head = bytes.first_chunk::<HEAD>()?;
    let number = |at: usize| head[at..].first_chunk().map_or(0, |it| u64::from_le_bytes(*it));
    let version = u16::from_le_bytes([head[8], head[9]]);
    let sum = u32::from_le_bytes(*head[HEAD - 4..].first_chunk()?);
    let is_ours = head[..8] == SIGNATURE && version == VERSION && sum == checksum(bytes);
    let [id, salt, until, sequence, tables] = [16, 24, 32, 40, 48].map(number);
    let is_of_log = id == log.id() && salt == log.header.salt;
    let is_within = (HEADER_BYTES as u64..=log.end()).contains(&until);
    if !is_ours || !is_of_log || !is_within || !until.is_multiple_of(UNIT) {
        return None;
    }
    let length = usize::try_from(tables).ok()?.checked_mul(ENTRY)?;
    let (list, mut rest) = bytes[HEAD..].split_at_checked(length)?;
    let mut take = |count: usize, each: usize| {
        let taken = rest.split_off(..count.checked_mul(each)?)?;
        Some(taken)
    };
    let mut runs = Tables::new();
    for entry in list.as_chunks::<ENTRY>().0 {
        let [table, count, shared] =
            [0, 4, 8].map(|at| entry[at..].first_chunk().map_or(0, |it| u32::from_le_bytes(*it)));
        let run = if count == NO_ORDER {
            None
        } else {
            let count = count as usize;
            let shared = take(shared as usize, 1)?.to_vec();
            let begins = take(count, 8)?.as_chunks().0;
            let units = take(count, 4)?.as_chunks().0;
            Some(vec![Arc::new(Run {
                shared,
                begins: begins.iter().map(|it| u64::from_le_bytes(*it)).collect(),
                units: units.iter().map(|it| u32::from_le_bytes(*it)).collect(),
            })])
        };
        runs.insert(table, run);
    }
    rest.is_empty().then_some((until, sequence, runs))
}
