//! Maps that threads share: a header, and each shard as the file of a map of one owner.

use std::io::{self, Read, Take, Write};

use xxhash_rust::xxh3::Xxh3;

use super::header::{HEADER_BYTES, check, field, hasher, impossible, offset, preamble, sealed};
use super::{FileKind, ReadError, is_right, segment_checksum};
use crate::geometry::MAX_CAPACITY;
use crate::key::KeyHasher;
use crate::sharded::MAX_SHARDS;

/// Bytes in front of a shard: its length and its checksum. Older files have no checksum, so nothing
/// distinguishes a shard from its neighbour there.
const RECORD_BYTES: usize = 16;
const RECORD_BYTES_BEFORE: usize = 8;

pub(crate) fn write(
    kind: FileKind,
    hasher: KeyHasher,
    capacity: u64,
    shards: &[Vec<u8>],
    writer: &mut dyn Write,
) -> io::Result<()> {
    let number = u32::try_from(shards.len()).expect("at most 64");
    let bytes: u64 = shards.iter().map(|shard| (RECORD_BYTES + shard.len()) as u64).sum();
    writer.write_all(&sealed(kind, hasher, |put| {
        put(offset::BOUND, &[1]);
        put(offset::CAPACITY, &capacity.to_le_bytes());
        put(offset::SEGMENTS, &number.to_le_bytes());
        put(offset::TABLE_BYTES, &bytes.to_le_bytes());
    }))?;
    for (number, shard) in (0..).zip(shards) {
        writer.write_all(&(shard.len() as u64).to_le_bytes())?;
        writer.write_all(&segment_checksum(number, shard).to_le_bytes())?;
        writer.write_all(shard)?;
    }
    Ok(())
}

/// The capacity, and what `read` makes of each shard. All have the header's hash.
pub(crate) fn read<T>(
    kind: FileKind,
    reader: &mut dyn Read,
    mut read: impl FnMut(&mut dyn Read) -> Result<(T, KeyHasher), ReadError>,
) -> Result<(u64, KeyHasher, Vec<T>), ReadError> {
    let mut start = Vec::with_capacity(HEADER_BYTES);
    (&mut *reader).take(HEADER_BYTES as u64).read_to_end(&mut start)?;
    // Not this format, or too short.
    FileKind::of(&start)?;
    let header = *start.first_chunk().expect("as long as a header");
    preamble(&header)?.expected(kind)?;
    let hasher = hasher(&header)?;
    let fields = [
        offset::BOUND..offset::BOUND + 1,
        offset::SEED..offset::LEN,
        offset::SEGMENTS..offset::PLACES,
        offset::TABLE_BYTES..offset::SPILLED,
        offset::KEY_HIGH..offset::RESERVED,
    ];
    let is_field = |at: usize| fields.iter().any(|field| field.contains(&at));
    for at in (offset::LAYOUT..offset::CHECKSUM).filter(|&at| !is_field(at)) {
        check(header[at] == 0, "reserved", at, header[at])?;
    }
    let is_bound = header[offset::BOUND];
    check(is_bound <= 1, "bound", offset::BOUND, is_bound)?;
    let capacity = u64::from_le_bytes(field(&header, offset::CAPACITY));
    check((1..=MAX_CAPACITY).contains(&capacity), "capacity", offset::CAPACITY, capacity)?;
    let number = u32::from_le_bytes(field(&header, offset::SEGMENTS));
    let is_number = number.is_power_of_two() && number as usize <= MAX_SHARDS;
    check(is_number, "shards", offset::SEGMENTS, number)?;
    let bytes = u64::from_le_bytes(field(&header, offset::TABLE_BYTES));
    let mut left = bytes;
    let mut shards = Vec::new();
    for number in 0..number {
        let mut record = [0; RECORD_BYTES];
        let record_bytes = if is_bound == 1 { RECORD_BYTES } else { RECORD_BYTES_BEFORE };
        let filled = reader.read_exact(&mut record[..record_bytes]);
        filled.map_err(|error| cut_off(error, bytes, left))?;
        let fields = record.as_chunks().0;
        let [length, checksum] = [0, 1].map(|at: usize| u64::from_le_bytes(fields[at]));
        let after = left.checked_sub(record_bytes as u64).and_then(|left| left.checked_sub(length));
        let Some(after) = after else {
            return impossible("table bytes", offset::TABLE_BYTES, bytes);
        };
        let mut shard =
            Hashed { shard: (&mut *reader).take(length), checksum: Xxh3::with_seed(number.into()) };
        let (table, with) = read(&mut shard)?;
        if is_bound == 1 && !is_right(shard.checksum.digest(), checksum) {
            let offset = (HEADER_BYTES as u64).saturating_add(bytes - left);
            return Err(ReadError::ShardChecksum { shard: number, offset });
        }
        if with != hasher {
            return Err(no_shard(number as usize));
        }
        shards.push(table);
        left = after;
    }
    check(left == 0, "table bytes", offset::TABLE_BYTES, bytes)?;
    Ok((capacity, hasher, shards))
}

/// The error of an impossible shard.
pub(crate) fn no_shard(number: usize) -> ReadError {
    ReadError::Field { field: "shard", offset: HEADER_BYTES as u64, value: number as u64 }
}

fn cut_off(error: io::Error, bytes: u64, left: u64) -> ReadError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        let header = HEADER_BYTES as u64;
        let (expected, found) = (header.saturating_add(bytes), header + bytes.saturating_sub(left));
        ReadError::Length { expected, found }
    } else {
        error.into()
    }
}

/// The bytes of a shard. Each is hashed when it is read.
struct Hashed<R> {
    shard: Take<R>,
    checksum: Xxh3,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.shard.read(into)?;
        self.checksum.update(&into[..read]);
        Ok(read)
    }
}
