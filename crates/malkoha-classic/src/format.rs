//! Structures as bytes: a header, then the table in parts, each with a checksum.
//!
//! docs/FORMAT-CLASSIC.md specifies every byte. Everything is little-endian, and reading trusts
//! nothing: the header is checked before the table is read, and memory is allocated as parts
//! arrive and pass their checksums.

use std::io::{self, Read, Write};

use malkoha::KeyHasher;

use crate::error::ReadError;
use crate::filter::Filter;

const HEADER_BYTES: usize = 128;
/// As in PNG: a byte that is not text, a name, and line ends that a text-mode copy would change.
const SIGNATURE: [u8; 8] = [0x8b, b'M', b'L', b'C', b'\r', b'\n', 0x1a, b'\n'];
const VERSION: u16 = 1;
/// Seed of the header's checksum; no part has this number.
const HEADER_CHECKSUM_SEED: u64 = u64::MAX;
/// Bytes of the table that one checksum covers; the last part may be shorter.
const PART_BYTES: usize = 1 << 16;
/// The most bytes of a table: far above any machine's memory, far below overflow.
const MAX_TABLE_BYTES: u64 = 1 << 48;

mod offset {
    pub(super) const VERSION: usize = 8;
    pub(super) const KIND: usize = 10;
    pub(super) const HASH: usize = 12;
    pub(super) const SEED: usize = 16;
    pub(super) const CAPACITY: usize = 24;
    pub(super) const LEN: usize = 32;
    pub(super) const TABLE_BYTES: usize = 40;
    pub(super) const SHAPE: usize = 48;
    /// The high half of a key of 128 bits, whose low half is the seed.
    pub(super) const KEY_HIGH: usize = 80;
    /// From here to the checksum, and bytes 13 to 15: zero.
    pub(super) const RESERVED: usize = 88;
    pub(super) const CHECKSUM: usize = 120;
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Kind {
    Bloom = 1,
    BlockedBloom = 2,
    CountingBloom = 3,
    Quotient = 4,
    DLeftCounting = 5,
    CuckooTable = 6,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Bloom => "Bloom filter",
            Self::BlockedBloom => "blocked Bloom filter",
            Self::CountingBloom => "counting Bloom filter",
            Self::Quotient => "quotient filter",
            Self::DLeftCounting => "d-left counting filter",
            Self::CuckooTable => "cuckoo hash table",
        }
    }
}

/// All of a structure except its table. What `shape` means depends on the structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) hasher: KeyHasher,
    pub(crate) capacity: u64,
    pub(crate) len: u64,
    pub(crate) table_bytes: u64,
    pub(crate) shape: [u64; 4],
}

impl Header {
    /// The header of a filter.
    pub(crate) fn of(filter: &impl Filter, kind: Kind, shape: [u64; 4]) -> Self {
        Self {
            kind,
            hasher: filter.hasher(),
            capacity: filter.capacity(),
            len: filter.len(),
            table_bytes: filter.size_in_bytes(),
            shape,
        }
    }

    /// A number of the shape that must fit into 32 bits.
    pub(crate) fn narrow(&self, field: &'static str, at: usize) -> Result<u32, ReadError> {
        let value = self.shape[at];
        u32::try_from(value).map_err(|_| ReadError::Field { field, value })
    }

    /// An error that blames a header field.
    pub(crate) const fn impossible(field: &'static str, value: u64) -> ReadError {
        ReadError::Field { field, value }
    }

    /// Refuses a table of another size than the shape implies. Call it before the table is read.
    pub(crate) fn expect_words(&self, words: u64) -> Result<(), ReadError> {
        if words.checked_mul(8) == Some(self.table_bytes) {
            Ok(())
        } else {
            Err(Self::impossible("table bytes", self.table_bytes))
        }
    }

    fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..][..field.len()].copy_from_slice(field);
        put(0, &SIGNATURE);
        put(offset::VERSION, &VERSION.to_le_bytes());
        put(offset::KIND, &(self.kind as u16).to_le_bytes());
        put(offset::HASH, &[self.hasher.function() as u8]);
        let key = self.hasher.key().to_le_bytes();
        put(offset::SEED, &key[..8]);
        put(offset::KEY_HIGH, &key[8..]);
        put(offset::CAPACITY, &self.capacity.to_le_bytes());
        put(offset::LEN, &self.len.to_le_bytes());
        put(offset::TABLE_BYTES, &self.table_bytes.to_le_bytes());
        for (i, number) in self.shape.iter().enumerate() {
            put(offset::SHAPE + 8 * i, &number.to_le_bytes());
        }
        let checksum = checksum(HEADER_CHECKSUM_SEED, &bytes[..offset::CHECKSUM]);
        bytes[offset::CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; HEADER_BYTES], kind: Kind) -> Result<Self, ReadError> {
        let long = |at| u64::from_le_bytes(field(bytes, at));
        let short = |at| u16::from_le_bytes(field(bytes, at));
        if bytes[..8] != SIGNATURE {
            return Err(ReadError::Signature);
        }
        let version = short(offset::VERSION);
        if version != VERSION {
            return Err(ReadError::Version(version));
        }
        if checksum(HEADER_CHECKSUM_SEED, &bytes[..offset::CHECKSUM]) != long(offset::CHECKSUM) {
            return Err(ReadError::HeaderChecksum);
        }
        let found = short(offset::KIND);
        if found != kind as u16 {
            return Err(ReadError::Kind { expected: kind.name(), found });
        }
        let function = bytes[offset::HASH];
        if KeyHasher::from_parts(function, 0).is_none() {
            return Err(Self::impossible("hash", function.into()));
        }
        let (low, high) = (long(offset::SEED), long(offset::KEY_HIGH));
        let hasher = KeyHasher::from_parts(function, u128::from(high) << 64 | u128::from(low))
            .ok_or_else(|| Self::impossible("key", high))?;
        let mut reserved = bytes[13..16].iter().chain(&bytes[offset::RESERVED..offset::CHECKSUM]);
        if let Some(&value) = reserved.find(|&&byte| byte != 0) {
            return Err(Self::impossible("reserved", value.into()));
        }
        let table_bytes = long(offset::TABLE_BYTES);
        if table_bytes > MAX_TABLE_BYTES {
            return Err(Self::impossible("table bytes", table_bytes));
        }
        let shape = [0, 1, 2, 3].map(|i| long(offset::SHAPE + 8 * i));
        let capacity = long(offset::CAPACITY);
        Ok(Self { kind, hasher, capacity, len: long(offset::LEN), table_bytes, shape })
    }
}

fn field<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("fields lie in the header")
}

/// XXH3-64. The seed is the part's number, so that swapped parts are noticed.
fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    KeyHasher::new(seed).hash_bytes(bytes)
}

/// Writes a structure whose table is words.
pub(crate) fn write_words(
    mut writer: impl Write,
    header: Header,
    words: impl Iterator<Item = u64>,
) -> io::Result<()> {
    writer.write_all(&header.to_bytes())?;
    let mut part = Vec::with_capacity(PART_BYTES);
    let mut number = 0;
    for word in words {
        part.extend_from_slice(&word.to_le_bytes());
        if part.len() == PART_BYTES {
            write_part(&mut writer, number, &part)?;
            part.clear();
            number += 1;
        }
    }
    if !part.is_empty() {
        write_part(&mut writer, number, &part)?;
    }
    writer.flush()
}

/// Writes a structure whose table is any bytes.
pub(crate) fn write_bytes(mut writer: impl Write, header: Header, bytes: &[u8]) -> io::Result<()> {
    writer.write_all(&header.to_bytes())?;
    for (part, number) in bytes.chunks(PART_BYTES).zip(0..) {
        write_part(&mut writer, number, part)?;
    }
    writer.flush()
}

fn write_part(writer: &mut impl Write, number: u64, part: &[u8]) -> io::Result<()> {
    writer.write_all(part)?;
    writer.write_all(&checksum(number, part).to_le_bytes())
}

/// Reads and checks a header of this kind.
pub(crate) fn read_header(reader: &mut impl Read, kind: Kind) -> Result<Header, ReadError> {
    let mut bytes = [0; HEADER_BYTES];
    let found = fill(reader, &mut bytes)?;
    if found < HEADER_BYTES && bytes[..8] == SIGNATURE {
        return Err(ReadError::Length { expected: HEADER_BYTES as u64, found: found as u64 });
    }
    Header::from_bytes(&bytes, kind)
}

/// Reads a table of words, part by part.
pub(crate) fn read_words(reader: &mut impl Read, header: &Header) -> Result<Vec<u64>, ReadError> {
    let mut words = Vec::new();
    read_parts(reader, header, |part| {
        let refused = |_| ReadError::Memory(header.table_bytes);
        words.try_reserve(part.len() / 8).map_err(refused)?;
        let (whole, _) = part.as_chunks::<8>();
        words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
        Ok(())
    })?;
    Ok(words)
}

/// Reads a table of bytes, part by part.
pub(crate) fn read_bytes(reader: &mut impl Read, header: &Header) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    read_parts(reader, header, |part| {
        bytes.try_reserve(part.len()).map_err(|_| ReadError::Memory(header.table_bytes))?;
        bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(bytes)
}

fn read_parts(
    reader: &mut impl Read,
    header: &Header,
    mut each: impl FnMut(&[u8]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut buffer = vec![0; PART_BYTES + 8];
    let expected = header.table_bytes;
    let mut done = 0;
    for number in 0.. {
        let left = expected - done;
        if left == 0 {
            break;
        }
        let part_bytes = usize::try_from(left).map_or(PART_BYTES, |left| left.min(PART_BYTES));
        let buffer = &mut buffer[..part_bytes + 8];
        let found = fill(reader, buffer)?;
        if found < buffer.len() {
            return Err(ReadError::Length { expected, found: done + found as u64 });
        }
        let (part, stored) = buffer.split_at(part_bytes);
        if checksum(number, part).to_le_bytes() != stored {
            return Err(ReadError::PartChecksum(number));
        }
        each(part)?;
        done += part_bytes as u64;
    }
    Ok(())
}

/// Reads until `bytes` is full or the stream ends; returns how many bytes came.
fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
