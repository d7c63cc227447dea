//! Growable filters and maps in pieces: all of them for a file, or one by one, with other work in
//! between.

use std::io::{self, Write};

use super::header::{GrowableHeader, RECORD_BYTES};
use crate::addressing::index;
use crate::format::checksums::{CHECKSUM_BYTES, segment_checksum};
use crate::format::kind::FileKind;
use crate::format::spilled;
use crate::growable::{Growing, Record};
use crate::key::KeyHasher;
use crate::table::traits::Lookup;

pub(crate) fn count(table: &Growing) -> usize {
    let spilled = index(table.spill().entries());
    1 + table.segments() + spilled.div_ceil(spilled::PIECE) + 1
}

pub(crate) fn piece(
    kind: FileKind,
    table: &Growing,
    hasher: KeyHasher,
    number: usize,
) -> Option<Vec<u8>> {
    let Some(beyond) = number.checked_sub(1) else {
        return pieces(kind, table, hasher).next();
    };
    match beyond.checked_sub(table.segments()) {
        None => Some(segment(beyond, table.record(beyond), table.bytes(beyond))),
        Some(beyond) => spilled::pieces(table.spill()).nth(beyond),
    }
}

/// Writes a whole file.
pub(crate) fn write(
    table: &Growing,
    kind: FileKind,
    hasher: KeyHasher,
    writer: &mut dyn Write,
) -> io::Result<()> {
    pieces(kind, table, hasher).try_for_each(|piece| writer.write_all(&piece))
}

pub(crate) fn pieces(
    kind: FileKind,
    table: &Growing,
    hasher: KeyHasher,
) -> impl Iterator<Item = Vec<u8>> {
    let segments = 0..table.segments();
    let around = (RECORD_BYTES + CHECKSUM_BYTES) as u64;
    let header = GrowableHeader {
        kind,
        shape: *table.shape(),
        hasher,
        capacity: table.capacity(),
        len: table.len(),
        segments: u32::try_from(table.segments()).expect("numbered by 32 bits"),
        table_bytes: segments.clone().map(|number| table.bytes(number).len() as u64 + around).sum(),
        spilled: table.spill().entries(),
    };
    let segments =
        segments.map(|number| segment(number, table.record(number), table.bytes(number)));
    std::iter::once(header.to_bytes().to_vec())
        .chain(segments)
        .chain(spilled::pieces(table.spill()))
}

fn segment(number: usize, record: &Record, bytes: &[u8]) -> Vec<u8> {
    let Record { home, form, .. } = record;
    let mut piece = Vec::with_capacity(RECORD_BYTES + bytes.len() + CHECKSUM_BYTES);
    piece.extend([0; 4]);
    let byte = |n: u32| u8::try_from(n).expect("at most 64");
    piece.extend([byte(home.depth), byte(form.value_bits)]);
    piece.extend(form.grid.to_bits().to_le_bytes());
    piece.extend(home.path.to_le_bytes());
    piece.extend(bytes);
    let checksum = segment_checksum(number as u64, &piece);
    piece.extend(checksum.to_le_bytes());
    piece
}
