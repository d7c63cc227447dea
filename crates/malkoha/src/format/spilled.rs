//! The list of spilled copies in a file, of fixed-size and growable filters alike.

use alloc::vec::Vec;

use xxhash_rust::xxh3::Xxh3;

use crate::format::checksums::{CHECKSUM_BYTES, is_right};
use crate::format::error::{ReadError, impossible_copies};
use crate::format::fields::{u32_at, u64_at};
use crate::io::{self, Write};
use crate::spill::{Spill, SpillKey};

/// Bytes of an entry.
pub(super) const ENTRY_BYTES: usize = 32;
/// Entries in a piece, at most.
pub(super) const PIECE: usize = 2048;
/// Seed of the checksum; no segment has this number.
const CHECKSUM_SEED: u64 = u64::MAX - 1;

pub(super) fn checksum() -> Xxh3 {
    Xxh3::with_seed(CHECKSUM_SEED)
}

fn entry(key: &SpillKey, copies: u64) -> [u8; ENTRY_BYTES] {
    let mut bytes = [0; ENTRY_BYTES];
    bytes[0..4].copy_from_slice(&key.segment.to_le_bytes());
    bytes[4..8].copy_from_slice(&key.place.to_le_bytes());
    bytes[8..12].copy_from_slice(&key.fingerprint.to_le_bytes());
    bytes[16..24].copy_from_slice(&key.value.to_le_bytes());
    bytes[24..32].copy_from_slice(&copies.to_le_bytes());
    bytes
}

/// An entry's content, if it is one.
pub(super) fn parse(bytes: &[u8; ENTRY_BYTES]) -> Option<(SpillKey, u64)> {
    let key = SpillKey {
        segment: u32_at(bytes, 0),
        place: u32_at(bytes, 4),
        fingerprint: u32_at(bytes, 8),
        value: u64_at(bytes, 16),
    };
    let (reserved, copies) = (u32_at(bytes, 12), u64_at(bytes, 24));
    (reserved == 0 && copies > 0).then_some((key, copies))
}

/// Bytes of the list of this many entries in the file of a fixed-size filter: none if there are
/// none.
pub(super) fn section_bytes(entries: u64) -> u64 {
    if entries == 0 { 0 } else { entries * ENTRY_BYTES as u64 + CHECKSUM_BYTES as u64 }
}

pub(super) fn write_section(writer: &mut dyn Write, spill: &Spill) -> io::Result<()> {
    if spill.is_empty() {
        return Ok(());
    }
    pieces(spill).try_for_each(|piece| writer.write_all(&piece))
}

/// The list, in pieces, and its checksum.
pub(super) fn pieces(spill: &Spill) -> impl Iterator<Item = Vec<u8>> {
    let mut entries = spill.iter();
    let mut checksum = checksum();
    let pieces = spill.entries().div_ceil(PIECE as u64);
    (0..=pieces).map(move |number| {
        if number == pieces {
            return checksum.digest().to_le_bytes().to_vec();
        }
        let mut piece = Vec::new();
        for (key, copies) in entries.by_ref().take(PIECE) {
            piece.extend(entry(&key, copies));
        }
        checksum.update(&piece);
        piece
    })
}

/// Checks such a section, which begins at byte `offset` of its file, and hands each entry to `add`,
/// which says whether there can be such copies.
pub(super) fn read_section(
    section: &[u8],
    offset: u64,
    mut add: impl FnMut(SpillKey, u64) -> bool,
) -> Result<(), ReadError> {
    let Some((entries, stored)) = section.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Ok(());
    };
    let mut checksum = checksum();
    checksum.update(entries);
    if !is_right(checksum.digest(), u64::from_le_bytes(*stored)) {
        return Err(ReadError::SpillChecksum);
    }
    let mut last = None;
    for (number, bytes) in (0_u64..).zip(entries.as_chunks::<ENTRY_BYTES>().0) {
        let entry = parse(bytes).filter(|(key, _)| last.is_none_or(|last| last < *key));
        if !entry.is_some_and(|(key, copies)| add(key, copies)) {
            return Err(impossible_copies(offset, number));
        }
        last = entry.map(|(key, _)| key);
    }
    Ok(())
}
