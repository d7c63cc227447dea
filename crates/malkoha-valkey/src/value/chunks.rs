//! A filter as the numbered chunks of CF.SCANDUMP.
//!
//! Chunk 1 is a preamble and the header of the library's format; the others are the format's
//! following pieces, sixteen in each: chunks 2 and on, put together, are what `CF.DUMP` gives after
//! its first 128 bytes.

use malkoha::GrowableCuckooFilter;

use super::properties::{PROPERTIES_BYTES, Properties};
use super::stored::StoredFilter;
use super::{Damaged, Value};

/// Pieces a chunk: some 2 MiB at most, copied in well under a millisecond.
const PIECES: usize = 16;
/// What chunk 1 begins with, the last byte being the version.
const MAGIC: [u8; 4] = *b"MCF\x01";
/// Magic, number of chunks, items deleted, properties.
const PREAMBLE_BYTES: usize = 4 + 8 + 8 + PROPERTIES_BYTES;

/// What chunk 1 says before the library's header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preamble {
    pub(super) chunks: u64,
    pub(super) deleted: u64,
    pub(super) properties: Properties,
}

impl Preamble {
    fn encode(&self) -> Vec<u8> {
        let Self { chunks, deleted, properties } = self;
        let mut bytes = MAGIC.to_vec();
        bytes.extend(chunks.to_le_bytes());
        bytes.extend(deleted.to_le_bytes());
        bytes.extend(properties.encode());
        bytes
    }

    /// The preamble, and what follows it.
    pub(super) fn split(chunk: &[u8]) -> Result<(Self, &[u8]), Damaged> {
        let damaged = || Damaged("the first chunk is not one of a filter");
        let (bytes, rest) = chunk.split_first_chunk::<PREAMBLE_BYTES>().ok_or_else(damaged)?;
        let (magic, bytes) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
        let (chunks, bytes) = bytes.split_first_chunk().ok_or_else(damaged)?;
        let (deleted, bytes) = bytes.split_first_chunk().ok_or_else(damaged)?;
        let properties = bytes.first_chunk().and_then(Properties::decode).ok_or_else(damaged)?;
        let (chunks, deleted) = (u64::from_le_bytes(*chunks), u64::from_le_bytes(*deleted));
        if *magic != MAGIC || chunks < 2 {
            return Err(damaged());
        }
        Ok((Self { chunks, deleted, properties }, rest))
    }
}

/// Chunks of a filter: at least two.
pub(super) fn count(filter: &GrowableCuckooFilter) -> usize {
    1 + (filter.piece_count() - 1).div_ceil(PIECES)
}

/// The position of a filter's first chunk, less one, where what RedisBloom had comes before: beyond
/// all positions in that, and still a whole number in clients that count in floating point.
pub(crate) const BESIDE: u64 = 1 << 50;

/// The chunk behind a position, and its position; `None` behind the last one. Chunks of RedisBloom
/// have the positions of its own dumps, ours are numbered.
pub(crate) fn chunk_behind(value: &Value, position: u64) -> Option<(u64, Vec<u8>)> {
    let start = if value.older().is_some() { BESIDE } else { 0 };
    let older = value.older().filter(|_| position < BESIDE);
    let of_older = older.and_then(|older| older.chunk(position));
    of_older.or_else(|| {
        let number = position.saturating_sub(start) + 1;
        let chunk = own(value, usize::try_from(number).ok()?)?;
        Some((start + number, chunk))
    })
}

/// Chunk `number` of ours, from 1; `None` beyond the last.
pub(super) fn own(value: &Value, number: usize) -> Option<Vec<u8>> {
    match value {
        Value::Filter(stored) => chunk(stored, number),
        Value::Loading(loading) => loading.chunks().get(number.checked_sub(1)?).cloned(),
        Value::RedisBloom(_) => None,
    }
}

fn chunk(stored: &StoredFilter, number: usize) -> Option<Vec<u8>> {
    let filter = stored.filter();
    let chunks = count(filter);
    match number {
        0 => None,
        1 => {
            let (deleted, properties) = (stored.deleted(), *stored.properties());
            let mut bytes = Preamble { chunks: chunks as u64, deleted, properties }.encode();
            bytes.extend(filter.piece(0)?);
            Some(bytes)
        }
        _ if number > chunks => None,
        _ => {
            let first = 1 + (number - 2) * PIECES;
            Some((first..first + PIECES).map_while(|piece| filter.piece(piece)).flatten().collect())
        }
    }
}
