//! The 128-byte header, byte by byte as docs/FORMAT.md has it.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::format::checksums::{CHECKSUM_BYTES, is_right};
use crate::format::error::{ReadError, check, impossible};
use crate::format::fields::{u16_at, u32_at, u64_at};
use crate::format::kind::{FileKind, HEADER_BYTES};
use crate::format::spilled;
#[cfg(feature = "std")]
use crate::format::stream::read_header;
use crate::geometry::{Geometry, Layout, MAX_CAPACITY, MAX_KICKS_LIMIT};
use crate::key::KeyHasher;
use crate::spill::MAX_LEN;
use crate::table::Parts;

/// As in PNG: a byte that is not text, a name, and line ends that a text-mode copy would change.
const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'K', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;
/// Entries of a list of spilled copies, at most.
pub(super) const MAX_SPILLED: u64 = 1 << 50;
/// Seed of the header's checksum; no segment has this number.
const HEADER_CHECKSUM_SEED: u64 = u64::MAX;

pub(super) mod offset {
    pub(crate) const VERSION: usize = 8;
    pub(crate) const KIND: usize = 10;
    pub(crate) const HASH: usize = 12;
    pub(crate) const LAYOUT: usize = 13;
    pub(crate) const BUCKET_SIZE: usize = 14;
    pub(crate) const FINGERPRINT_BITS: usize = 15;
    pub(crate) const VALUE_BITS: usize = 16;
    pub(crate) const MAX_KICKS: usize = 20;
    pub(crate) const SEED: usize = 24;
    pub(crate) const CAPACITY: usize = 32;
    pub(crate) const LEN: usize = 40;
    pub(crate) const SEGMENTS: usize = 48;
    pub(crate) const PLACES: usize = 52;
    pub(crate) const TABLE_BYTES: usize = 56;
    /// Entries of the list of spilled copies.
    pub(crate) const SPILLED: usize = 64;
    /// The high half of a key of 128 bits, whose low half is the seed.
    pub(crate) const KEY_HIGH: usize = 72;
    /// From here to the checksum, and bytes 17 to 19: zero.
    pub(crate) const RESERVED: usize = 80;
    pub(crate) const CHECKSUM: usize = 120;
}

impl FileKind {
    /// The kind of the file that begins with these bytes: at least 128, or all of it.
    ///
    /// # Errors
    ///
    /// If they are not the undamaged header of a file that this release can read.
    pub fn of(bytes: &[u8]) -> Result<Self, ReadError> {
        match bytes.first_chunk() {
            Some(header) => preamble(header),
            None => Err(cut_header(bytes)),
        }
    }

    /// The kind of the file at `path`. Reads only the header.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of), or if the file cannot be read.
    #[cfg(feature = "std")]
    pub fn of_file(path: impl AsRef<std::path::Path>) -> Result<Self, ReadError> {
        preamble(&read_header(&mut std::fs::File::open(path)?)?)
    }
}

/// A header of this kind, with the fields that `fields` puts at their offsets.
pub(super) fn sealed(
    kind: FileKind,
    hasher: KeyHasher,
    fields: impl FnOnce(&mut dyn FnMut(usize, &[u8])),
) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    let mut put = |at: usize, field: &[u8]| bytes[at..][..field.len()].copy_from_slice(field);
    put(0, &SIGNATURE);
    put(offset::VERSION, &VERSION.to_le_bytes());
    put(offset::KIND, &(kind as u16).to_le_bytes());
    put(offset::HASH, &[hasher.function() as u8]);
    let key = hasher.key().to_le_bytes();
    put(offset::SEED, &key[..8]);
    put(offset::KEY_HIGH, &key[8..]);
    fields(&mut put);
    let checksum = checksum(&bytes);
    bytes[offset::CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// Checks what all headers begin and end with, and returns the kind.
pub(super) fn preamble(bytes: &[u8; HEADER_BYTES]) -> Result<FileKind, ReadError> {
    if bytes[..8] != SIGNATURE {
        return Err(ReadError::Signature);
    }
    let version = u16_at(bytes, offset::VERSION);
    if version != VERSION {
        return Err(ReadError::Version(version));
    }
    if !is_right(checksum(bytes), u64_at(bytes, offset::CHECKSUM)) {
        return Err(ReadError::HeaderChecksum);
    }
    let found = u16_at(bytes, offset::KIND);
    let kind = FileKind::ALL.into_iter().find(|&kind| kind as u16 == found);
    let kind = kind.ok_or_else(|| impossible("kind", offset::KIND, found))?;
    hasher(bytes)?;
    Ok(kind)
}

/// The hash of the filter.
pub(super) fn hasher(bytes: &[u8; HEADER_BYTES]) -> Result<KeyHasher, ReadError> {
    let [low, high] = [offset::SEED, offset::KEY_HIGH].map(|at| u64_at(bytes, at));
    let function = bytes[offset::HASH];
    let is_known = KeyHasher::from_parts(function, 0).is_some();
    check(is_known, "hash", offset::HASH, function)?;
    KeyHasher::from_parts(function, u128::from(high) << 64 | u128::from(low))
        .ok_or_else(|| impossible("key", offset::KEY_HIGH, high))
}

/// Why bytes shorter than a header are not a filter: cut off, or something else.
pub(super) fn cut_header(bytes: &[u8]) -> ReadError {
    let mut padded = [0; HEADER_BYTES];
    padded[..bytes.len()].copy_from_slice(bytes);
    match preamble(&padded) {
        Err(ReadError::Signature) => ReadError::Signature,
        _ => ReadError::Length { expected: HEADER_BYTES as u64, found: bytes.len() as u64 },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: FileKind,
    pub(crate) parts: Parts,
    pub(crate) hasher: KeyHasher,
    /// Entries of the list of spilled copies.
    pub(crate) spilled: u64,
}

impl Header {
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let Parts { geometry, max_kicks, capacity, len } = self.parts;
        let (layout, bucket_size) = match geometry.layout {
            Layout::Bucketed { bucket_size } => (1, bucket_size),
            Layout::SemiSorted => (2, 4),
            Layout::GapWindows => (3, 0),
            Layout::Words => (5, 0),
        };
        let byte = |n: u32| [u8::try_from(n).expect("checked by the geometry")];
        let table_bytes = geometry.table_bytes().expect("checked by the geometry");
        sealed(self.kind, self.hasher, |put| {
            put(offset::LAYOUT, &[layout]);
            put(offset::BUCKET_SIZE, &byte(bucket_size));
            put(offset::FINGERPRINT_BITS, &byte(geometry.fingerprint_bits));
            put(offset::VALUE_BITS, &byte(geometry.value_bits));
            put(offset::MAX_KICKS, &max_kicks.to_le_bytes());
            put(offset::CAPACITY, &capacity.to_le_bytes());
            put(offset::LEN, &len.to_le_bytes());
            put(offset::SEGMENTS, &geometry.segments.to_le_bytes());
            put(offset::PLACES, &geometry.places.to_le_bytes());
            put(offset::TABLE_BYTES, &table_bytes.to_le_bytes());
            put(offset::SPILLED, &self.spilled.to_le_bytes());
        })
    }

    /// The header, if it is a whole and possible one of this kind.
    pub(crate) fn from_bytes(
        bytes: &[u8; HEADER_BYTES],
        kind: FileKind,
    ) -> Result<Self, ReadError> {
        preamble(bytes)?.expected(kind)?;
        let mut reserved = (17..20).chain(offset::RESERVED..offset::CHECKSUM);
        if let Some(at) = reserved.find(|&at| bytes[at] != 0) {
            return Err(impossible("reserved", at, bytes[at]));
        }
        let parts = Parts {
            geometry: geometry(bytes, kind)?,
            max_kicks: u32_at(bytes, offset::MAX_KICKS),
            capacity: u64_at(bytes, offset::CAPACITY),
            len: u64_at(bytes, offset::LEN),
        };
        let capacity = parts.capacity;
        check((1..=MAX_CAPACITY).contains(&capacity), "capacity", offset::CAPACITY, capacity)?;
        let max_kicks = parts.max_kicks;
        check(max_kicks <= MAX_KICKS_LIMIT, "max kicks", offset::MAX_KICKS, max_kicks)?;
        let (slots, spilled) = (parts.geometry.slots(), u64_at(bytes, offset::SPILLED));
        // Each entry of a set has an equal in the table; a key of a map has any number of values.
        let most = if kind == FileKind::Map { MAX_SPILLED } else { slots };
        check(spilled <= most, "spilled", offset::SPILLED, spilled)?;
        let most = if spilled == 0 { slots } else { MAX_LEN };
        check(parts.len <= most, "len", offset::LEN, parts.len)?;
        Ok(Self { kind, parts, hasher: hasher(bytes)?, spilled })
    }

    /// Bytes of the table in the file.
    pub(crate) fn table_bytes(&self) -> u64 {
        self.parts.geometry.table_bytes().expect("checked by the geometry")
    }

    /// Bytes of the checksums behind the table.
    pub(crate) fn checksums_bytes(&self) -> u64 {
        u64::from(self.parts.geometry.segments) * CHECKSUM_BYTES as u64
    }

    /// Bytes of the list of spilled copies behind that.
    pub(crate) fn spilled_bytes(&self) -> u64 {
        spilled::section_bytes(self.spilled)
    }

    /// Bytes of the whole file.
    pub(crate) fn file_bytes(&self) -> u64 {
        // No overflow: the checks keep the table below 2^60 and the list below 2^56.
        HEADER_BYTES as u64 + self.table_bytes() + self.checksums_bytes() + self.spilled_bytes()
    }
}

fn geometry(bytes: &[u8; HEADER_BYTES], kind: FileKind) -> Result<Geometry, ReadError> {
    let bucket_size = u32::from(bytes[offset::BUCKET_SIZE]);
    let layout = match (bytes[offset::LAYOUT], bucket_size) {
        (1, bucket_size) => Layout::Bucketed { bucket_size },
        (2, 4) => Layout::SemiSorted,
        (3, 0) => Layout::GapWindows,
        (5, 0) => Layout::Words,
        (2 | 3 | 5, other) => return Err(impossible("bucket size", offset::BUCKET_SIZE, other)),
        (other, _) => return Err(impossible("layout", offset::LAYOUT, other)),
    };
    let geometry = Geometry {
        layout,
        fingerprint_bits: bytes[offset::FINGERPRINT_BITS].into(),
        value_bits: bytes[offset::VALUE_BITS].into(),
        segments: u32_at(bytes, offset::SEGMENTS),
        places: u32_at(bytes, offset::PLACES),
    };
    let is_map = geometry.value_bits != 0;
    check(
        is_map == (kind == FileKind::Map),
        "value bits",
        offset::VALUE_BITS,
        geometry.value_bits,
    )?;
    let geometry = geometry
        .checked()
        .map_err(|_| impossible("geometry", offset::LAYOUT, u64_at(bytes, offset::SEGMENTS)))?;
    let table_bytes = u64_at(bytes, offset::TABLE_BYTES);
    let expected = geometry.table_bytes();
    check(expected == Some(table_bytes), "table bytes", offset::TABLE_BYTES, table_bytes)?;
    Ok(geometry)
}

fn checksum(bytes: &[u8; HEADER_BYTES]) -> u64 {
    xxh3_64_with_seed(&bytes[..offset::CHECKSUM], HEADER_CHECKSUM_SEED)
}
