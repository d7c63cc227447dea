//! The 128-byte header of growable filters and maps, byte by byte as docs/FORMAT.md has it.

use crate::format::checksums::CHECKSUM_BYTES;
use crate::format::error::{ReadError, check};
use crate::format::fields::{u32_at, u64_at};
use crate::format::header::{MAX_SPILLED, hasher, offset, preamble, sealed};
use crate::format::kind::{FileKind, HEADER_BYTES};
use crate::format::spilled;
use crate::geometry::MAX_CAPACITY;
use crate::growable::{self, MAX_BITS, MAX_DEPTH, Shape, Widths};
use crate::key::KeyHasher;
use crate::spill::MAX_LEN;

/// Bytes in front of a segment's table.
pub(super) const RECORD_BYTES: usize = 16;

/// The layout's number: buckets of four with fingerprints of different lengths.
const LAYOUT: u8 = 4;
const BUCKET_SIZE: u8 = 4;
/// At the offset of `PLACES`, which every segment has for itself.
const ROOTS: usize = offset::PLACES;
/// Bits of a string that choose the alternate place.
const MIX_BITS: usize = 17;
/// How the bits of fingerprints depend on the depth of their segments; 0 if they do not.
const NARROW_FROM: usize = 18;
const TURN: usize = 19;
const RISE: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GrowableHeader {
    pub(super) kind: FileKind,
    pub(super) shape: Shape,
    pub(super) hasher: KeyHasher,
    pub(super) capacity: u64,
    pub(super) len: u64,
    pub(super) segments: u32,
    /// Bytes of all segments, with what is before and after each.
    pub(super) table_bytes: u64,
    pub(super) spilled: u64,
}

impl GrowableHeader {
    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let byte = |n: u32| [u8::try_from(n).expect("checked by the shape")];
        sealed(self.kind, self.hasher, |put| {
            put(offset::LAYOUT, &[LAYOUT]);
            put(offset::BUCKET_SIZE, &[BUCKET_SIZE]);
            let Widths { bits, narrow_from, turn, rise } = self.shape.widths;
            put(offset::FINGERPRINT_BITS, &byte(bits));
            put(NARROW_FROM, &byte(narrow_from));
            put(TURN, &byte(turn));
            put(RISE, &byte(rise));
            put(offset::VALUE_BITS, &byte(self.shape.value_bits));
            put(MIX_BITS, &byte(growable::MIX_BITS));
            put(offset::CAPACITY, &self.capacity.to_le_bytes());
            put(offset::LEN, &self.len.to_le_bytes());
            put(offset::SEGMENTS, &self.segments.to_le_bytes());
            put(ROOTS, &self.shape.roots.to_le_bytes());
            put(offset::TABLE_BYTES, &self.table_bytes.to_le_bytes());
            put(offset::SPILLED, &self.spilled.to_le_bytes());
        })
    }

    /// The header, if it is a whole and possible one of this kind.
    pub(super) fn from_bytes(
        bytes: &[u8; HEADER_BYTES],
        kind: FileKind,
    ) -> Result<Self, ReadError> {
        preamble(bytes)?.expected(kind)?;
        let byte = |at: usize| u32::from(bytes[at]);
        let is = |at: usize, name, value: u8| check(bytes[at] == value, name, at, bytes[at]);
        is(offset::LAYOUT, "layout", LAYOUT)?;
        is(offset::BUCKET_SIZE, "bucket size", BUCKET_SIZE)?;
        for at in (21..24).chain(offset::RESERVED..offset::CHECKSUM) {
            is(at, "reserved", 0)?;
        }
        let (bits, value_bits) = (byte(offset::FINGERPRINT_BITS), byte(offset::VALUE_BITS));
        check(
            (growable::MIX_BITS..=MAX_BITS).contains(&bits),
            "fingerprint bits",
            offset::FINGERPRINT_BITS,
            bits,
        )?;
        let most = if kind == FileKind::GrowableMap { 64 } else { 0 };
        check(value_bits <= most, "value bits", offset::VALUE_BITS, value_bits)?;
        let (roots, mix_bits) = (u32_at(bytes, ROOTS), byte(MIX_BITS));
        check(mix_bits == growable::MIX_BITS, "mix bits", MIX_BITS, mix_bits)?;
        let widths =
            Widths { bits, narrow_from: byte(NARROW_FROM), turn: byte(TURN), rise: byte(RISE) };
        let numbers = [
            (NARROW_FROM, "narrow from", widths.narrow_from, MAX_DEPTH),
            (TURN, "turn", widths.turn, MAX_DEPTH),
            (RISE, "rise", widths.rise, MAX_BITS),
        ];
        for (at, name, number, most) in numbers {
            check(number <= most, name, at, number)?;
        }
        let header = Self {
            kind,
            shape: Shape { widths, roots, value_bits, ages: false },
            hasher: hasher(bytes)?,
            capacity: u64_at(bytes, offset::CAPACITY),
            len: u64_at(bytes, offset::LEN),
            segments: u32_at(bytes, offset::SEGMENTS),
            table_bytes: u64_at(bytes, offset::TABLE_BYTES),
            spilled: u64_at(bytes, offset::SPILLED),
        };
        let Self { capacity, len, segments, table_bytes, spilled, .. } = header;
        check((1..=MAX_CAPACITY).contains(&capacity), "capacity", offset::CAPACITY, capacity)?;
        check(len <= MAX_LEN, "len", offset::LEN, len)?;
        check(roots.is_power_of_two() && (1..=segments).contains(&roots), "roots", ROOTS, roots)?;
        check(table_bytes < 1 << 60, "table bytes", offset::TABLE_BYTES, table_bytes)?;
        check(spilled <= MAX_SPILLED, "spilled", offset::SPILLED, spilled)?;
        Ok(header)
    }

    /// Bytes of the whole file.
    pub(super) fn file_bytes(&self) -> u64 {
        // No overflow: each part was found to be below 2^60.
        HEADER_BYTES as u64
            + self.table_bytes
            + self.spilled * spilled::ENTRY_BYTES as u64
            + CHECKSUM_BYTES as u64
    }
}
