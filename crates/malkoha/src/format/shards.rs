//! Maps that threads share: a header, and each shard as the file of a map of one owner.

use std::io::{self, Read, Write};

use super::header::{HEADER_BYTES, check, field, hasher, impossible, offset, preamble, sealed};
use super::{FileKind, ReadError};
use crate::geometry::MAX_CAPACITY;
use crate::key::KeyHasher;
use crate::sharded::MAX_SHARDS;

/// Bytes in front of a shard: its length.
const LENGTH_BYTES: u64 = size_of::<u64>() as u64;

pub(crate) fn write(
    kind: FileKind,
    hasher: KeyHasher,
    capacity: u64,
    shards: &[Vec<u8>],
    writer: &mut dyn Write,
) -> io::Result<()> {
    let number = u32::try_from(shards.len()).expect("at most 64");
    let bytes: u64 = shards.iter().map(|shard| LENGTH_BYTES + shard.len() as u64).sum();
    writer.write_all(&sealed(kind, hasher, |put| {
        put(offset::CAPACITY, &capacity.to_le_bytes());
        put(offset::SEGMENTS, &number.to_le_bytes());
        put(offset::TABLE_BYTES, &bytes.to_le_bytes());
    }))?;
    for shard in shards {
        writer.write_all(&(shard.len() as u64).to_le_bytes())?;
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
    // Something else altogether, or too short.
    FileKind::of(&start)?;
    let header = *start.first_chunk().expect("as long as a header");
    preamble(&header)?.expected(kind)?;
    let hasher = hasher(&header)?;
    let fields = [
        offset::SEED..offset::LEN,
        offset::SEGMENTS..offset::PLACES,
        offset::TABLE_BYTES..offset::SPILLED,
        offset::KEY_HIGH..offset::RESERVED,
    ];
    let is_field = |at: usize| fields.iter().any(|field| field.contains(&at));
    for at in (offset::LAYOUT..offset::CHECKSUM).filter(|&at| !is_field(at)) {
        check(header[at] == 0, "reserved", at, header[at])?;
    }
    let capacity = u64::from_le_bytes(field(&header, offset::CAPACITY));
    check((1..=MAX_CAPACITY).contains(&capacity), "capacity", offset::CAPACITY, capacity)?;
    let number = u32::from_le_bytes(field(&header, offset::SEGMENTS));
    let is_number = number.is_power_of_two() && number as usize <= MAX_SHARDS;
    check(is_number, "shards", offset::SEGMENTS, number)?;
    let bytes = u64::from_le_bytes(field(&header, offset::TABLE_BYTES));
    let mut left = bytes;
    let mut shards = Vec::new();
    for number in 0..number {
        let mut length = [0; size_of::<u64>()];
        reader.read_exact(&mut length).map_err(|error| cut_off(error, bytes, left))?;
        let length = u64::from_le_bytes(length);
        let after = left.checked_sub(LENGTH_BYTES).and_then(|left| left.checked_sub(length));
        let Some(after) = after else {
            return impossible("table bytes", offset::TABLE_BYTES, bytes);
        };
        let mut shard = (&mut *reader).take(length);
        let (shard, with) = read(&mut shard)?;
        if with != hasher {
            return Err(no_shard(number as usize));
        }
        shards.push(shard);
        left = after;
    }
    check(left == 0, "table bytes", offset::TABLE_BYTES, bytes)?;
    Ok((capacity, hasher, shards))
}

/// A shard that cannot be.
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
