//! Writing filters and maps.

use std::io::{self, Write};
use std::ops::Deref;

use crate::filter::{CuckooFilter, Parts};
use crate::format::{FileKind, Header, segment_checksum, segments, spilled};
use crate::geometry::Geometry;
use crate::map::CuckooMap;
use crate::spill::Spill;

impl<B: Deref<Target = [u8]>> CuckooFilter<B> {
    /// Writes the filter in the format of docs/FORMAT.md. Equal filters give equal bytes.
    ///
    /// To replace a file, write to another one beside it and rename that over it.
    ///
    /// # Errors
    ///
    /// What the writer says.
    pub fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        write(writer, FileKind::Set, &self.parts(), self.table().bytes(), self.table().spill())
    }
}

impl CuckooMap {
    /// Writes the map in the format of docs/FORMAT.md. Equal maps give equal bytes.
    ///
    /// # Errors
    ///
    /// What the writer says.
    pub fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        write(writer, FileKind::Map, &self.parts(), self.bytes(), self.spill())
    }
}

fn write(
    mut writer: impl Write,
    kind: FileKind,
    parts: &Parts,
    table: &[u8],
    spill: &Spill,
) -> io::Result<()> {
    let header = Header { kind, parts: *parts, spilled: spill.entries() };
    writer.write_all(&header.to_bytes())?;
    writer.write_all(table)?;
    writer.write_all(&checksums(table, &parts.geometry))?;
    spilled::write_section(&mut writer, spill)?;
    writer.flush()
}

fn checksums(table: &[u8], geometry: &Geometry) -> Vec<u8> {
    segments(table, geometry)
        .flat_map(|(segment, bytes)| segment_checksum(segment.into(), bytes).to_le_bytes())
        .collect()
}
