//! Writing tables of fixed size.

use alloc::vec::Vec;

use crate::format::{FileKind, Header, segment_checksum, segments, spilled};
use crate::geometry::Geometry;
use crate::io::{self, Write};
use crate::key::KeyHasher;
use crate::spill::Spill;
use crate::table::Parts;

pub(crate) fn write(
    writer: &mut dyn Write,
    kind: FileKind,
    parts: &Parts,
    hasher: KeyHasher,
    table: &[u8],
    spill: &Spill,
) -> io::Result<()> {
    let header = Header { kind, parts: *parts, hasher, spilled: spill.entries() };
    writer.write_all(&header.to_bytes())?;
    writer.write_all(table)?;
    writer.write_all(&checksums(table, &parts.geometry))?;
    spilled::write_section(writer, spill)
}

fn checksums(table: &[u8], geometry: &Geometry) -> Vec<u8> {
    segments(table, geometry)
        .flat_map(|(segment, bytes)| segment_checksum(segment.into(), bytes).to_le_bytes())
        .collect()
}
