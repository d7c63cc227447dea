//! Writing filters and maps.

use std::io::{self, Write};
use std::ops::Deref;

use crate::filter::CuckooFilter;
use crate::format::{FileKind, Header, segment_checksum, segments};
use crate::geometry::Geometry;
use crate::map::CuckooMap;

impl<B: Deref<Target = [u8]>> CuckooFilter<B> {
    /// Writes the filter in the format of docs/FORMAT.md. Equal filters give equal bytes.
    ///
    /// To replace a file, write to another one beside it and rename that over it.
    ///
    /// # Errors
    ///
    /// What the writer says.
    pub fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        write(writer, Header { kind: FileKind::Set, parts: self.parts() }, self.table().bytes())
    }
}

impl CuckooMap {
    /// Writes the map in the format of docs/FORMAT.md. Equal maps give equal bytes.
    ///
    /// # Errors
    ///
    /// What the writer says.
    pub fn write_to<W: Write>(&self, writer: W) -> io::Result<()> {
        write(writer, Header { kind: FileKind::Map, parts: self.parts() }, self.bytes())
    }
}

fn write(mut writer: impl Write, header: Header, table: &[u8]) -> io::Result<()> {
    writer.write_all(&header.to_bytes())?;
    writer.write_all(table)?;
    writer.write_all(&checksums(table, &header.parts.geometry))?;
    writer.flush()
}

fn checksums(table: &[u8], geometry: &Geometry) -> Vec<u8> {
    segments(table, geometry)
        .flat_map(|(segment, bytes)| segment_checksum(segment.into(), bytes).to_le_bytes())
        .collect()
}
