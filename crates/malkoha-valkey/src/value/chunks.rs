//! A filter as the numbered chunks of CF.SCANDUMP.
//!
//! Chunk 1 is a preamble and the header of the library's format; the others are the format's
//! following pieces, sixteen in each: chunks 2 and on, put together, are what `CF.DUMP` gives after
//! its first 128 bytes.

use std::slice;

use malkoha::GrowableCuckooFilter;

use super::Damaged;
use super::properties::{PROPERTIES_BYTES, Properties};
use super::stored::StoredFilter;

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

/// Chunk `number`, from 1; `None` beyond the last.
pub(crate) fn chunk(stored: &StoredFilter, number: usize) -> Option<Vec<u8>> {
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

/// All chunks of a value.
pub(crate) enum Chunks<'a> {
    /// And how many are done.
    Filter(&'a StoredFilter, usize),
    Loading(slice::Iter<'a, Vec<u8>>),
}

impl Iterator for Chunks<'_> {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Filter(stored, done) => {
                *done += 1;
                chunk(stored, *done)
            }
            Self::Loading(chunks) => chunks.next().cloned(),
        }
    }
}
