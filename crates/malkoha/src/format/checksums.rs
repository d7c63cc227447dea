//! The checksums of segments.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::addressing::index;
use crate::format::error::ReadError;
use crate::format::kind::HEADER_BYTES;
use crate::geometry::Geometry;

/// Bytes of a checksum.
pub(super) const CHECKSUM_BYTES: usize = 8;

/// Whether a checksum is the one that the file has. For a fuzzer, each is: it would otherwise get
/// no further. `cargo fuzz` sets `fuzzing` when it compiles.
pub(super) fn is_right(found: u64, stored: u64) -> bool {
    found == stored || cfg!(fuzzing)
}

/// The checksum of segment number `segment`. The number is the seed, so that segments that changed
/// places are noticed.
pub(super) fn segment_checksum(segment: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, segment)
}

/// The segments of a table, numbered.
pub(super) fn segments<'a>(
    table: &'a [u8],
    geometry: &Geometry,
) -> impl Iterator<Item = (u32, &'a [u8])> + use<'a> {
    (0..).zip(table.chunks_exact(index(geometry.segment_bytes())))
}

/// Compares every segment with its checksum.
pub(super) fn check_segments(
    table: &[u8],
    checksums: &[u8],
    geometry: &Geometry,
) -> Result<(), ReadError> {
    debug_assert_eq!(Some(table.len() as u64), geometry.table_bytes());
    for ((segment, bytes), stored) in segments(table, geometry).zip(checksums.as_chunks::<8>().0) {
        if !is_right(segment_checksum(segment.into(), bytes), u64::from_le_bytes(*stored)) {
            let offset = HEADER_BYTES as u64 + u64::from(segment) * geometry.segment_bytes();
            return Err(ReadError::SegmentChecksum { segment, offset });
        }
    }
    Ok(())
}
