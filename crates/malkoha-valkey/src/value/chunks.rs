//! A filter as the numbered chunks of CF.SCANDUMP.
//!
//! Chunk 1 is a preamble and the header of the library's format; the others are the format's
//! following pieces, four in each: chunks 2 and on, put together, are what `CF.DUMP` gives after
//! its first 128 bytes. Filters whose items expire are passed on in the pieces that the library has
//! for that, which are no file.

use super::large::Large;
use super::properties::{PROPERTIES_BYTES, Properties};
use super::stored::StoredFilter;
use super::table::Table;
use super::{Damaged, Value};

/// Pieces per chunk: some 512 KiB at most, which is checked and read in less than a millisecond.
/// Dumps to be loaded may have another number: it was 8.
const PIECES: usize = 4;
/// What chunk 1 begins with, for filters whose items stay and for those whose items expire. The
/// last byte is the version.
const MAGIC: [u8; 4] = *b"MCF\x01";
const EXPIRING_MAGIC: [u8; 4] = *b"MCF\x02";
/// Magic, number of chunks, items deleted, properties.
const PREAMBLE_BYTES: usize = 4 + 8 + 8 + PROPERTIES_BYTES;

/// What chunk 1 says before the library's header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preamble {
    pub(super) chunks: u64,
    pub(super) deleted: u64,
    pub(super) properties: Properties,
    /// Whether items expire.
    pub(super) expires: bool,
}

impl Preamble {
    fn encode(&self) -> Vec<u8> {
        let Self { chunks, deleted, properties, expires } = self;
        let mut bytes = if *expires { EXPIRING_MAGIC } else { MAGIC }.to_vec();
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
        let expires = *magic == EXPIRING_MAGIC;
        if (*magic != MAGIC && !expires) || chunks < 2 {
            return Err(damaged());
        }
        Ok((Self { chunks, deleted, properties, expires }, rest))
    }
}

/// Chunks of a filter: one if it is small, otherwise at least two.
pub(super) fn count(stored: &StoredFilter) -> usize {
    match stored {
        StoredFilter::Small(_) => 1,
        StoredFilter::Large(large) => count_of(large.table()),
    }
}

fn count_of(table: &Table) -> usize {
    1 + (table.piece_count() - 1).div_ceil(PIECES)
}

/// The position of a filter's first chunk, less one, when RedisBloom's part comes before it: beyond
/// all positions of that part, and still exact in clients that use floating-point numbers.
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
        Value::Filter(StoredFilter::Small(small)) => (number == 1).then(|| small.chunk()),
        Value::Filter(StoredFilter::Large(large)) => chunk(large, number),
        Value::Loading(loading) => loading.chunks().get(number.checked_sub(1)?).cloned(),
        Value::RedisBloom(_) => None,
    }
}

fn chunk(stored: &Large, number: usize) -> Option<Vec<u8>> {
    let table = stored.table();
    let chunks = count_of(table);
    match number {
        0 => None,
        1 => {
            let (deleted, properties) = (stored.deleted(), *stored.properties());
            let (chunks, expires) = (chunks as u64, table.expiring().is_some());
            let mut bytes = Preamble { chunks, deleted, properties, expires }.encode();
            bytes.extend(table.piece(0)?);
            Some(bytes)
        }
        _ if number > chunks => None,
        _ => {
            let first = 1 + (number - 2) * PIECES;
            let pieces = (first..first + PIECES).map_while(|piece| table.piece(piece));
            Some(pieces.collect::<Vec<_>>().concat())
        }
    }
}
