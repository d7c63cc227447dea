//! A filter as the numbered chunks of CF.SCANDUMP.
//!
//! Chunk 1 is a preamble and the header of the library's format; the others are the format's
//! following pieces, four in each. Each ends with the number of the filter's state, so that chunks
//! of two states do not pass for one filter. Filters whose items expire are passed on in the pieces
//! that the library has for that. A small filter is one chunk: see `small/chunk.rs`. A checksum
//! ends chunk 1; the library's pieces have their own.

use malkoha::KeyHasher;

use super::filter::{Large, StoredFilter};
use super::properties::{PROPERTIES_BYTES, Properties};
use super::stream::Damaged;
use super::table::{Kind, Table};

/// Pieces per chunk: some 512 KiB at most, which is checked and read in less than a millisecond.
const PIECES: usize = 4;
/// The first bytes of chunk 1. The last one is the version.
const MAGIC: [u8; 4] = *b"MCF\x01";
/// Magic, kind, number of chunks, items deleted, properties.
pub(super) const PREAMBLE_BYTES: usize = 4 + 1 + 8 + 8 + PROPERTIES_BYTES;

/// Seed of chunk 1's checksum.
const CHECKSUM_SEED: u64 = 3;

/// Ends chunk 1 with its checksum.
pub(super) fn sealed(mut chunk: Vec<u8>) -> Vec<u8> {
    chunk.extend(checksum(&chunk).to_le_bytes());
    chunk
}

/// Chunk 1 without its checksum, if that is right.
pub(super) fn unsealed(chunk: &[u8]) -> Option<&[u8]> {
    let (chunk, stored) = split_number(chunk)?;
    (stored == checksum(chunk)).then_some(chunk)
}

fn checksum(bytes: &[u8]) -> u64 {
    KeyHasher::new(CHECKSUM_SEED).hash_bytes(bytes)
}

/// A chunk of a large filter and the number of the filter's state at its end; of chunk 1 without
/// its checksum.
pub(super) fn split_number(chunk: &[u8]) -> Option<(&[u8], u64)> {
    let (chunk, number) = chunk.split_last_chunk()?;
    Some((chunk, u64::from_le_bytes(*number)))
}

/// The begin of chunk 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Preamble {
    pub(super) kind: Kind,
    pub(super) chunks: u64,
    pub(super) deleted: u64,
    pub(super) properties: Properties,
}

impl Preamble {
    pub(super) fn encode(&self) -> Vec<u8> {
        let Self { kind, chunks, deleted, properties } = self;
        let mut bytes = MAGIC.to_vec();
        bytes.push(*kind as u8);
        bytes.extend(chunks.to_le_bytes());
        bytes.extend(deleted.to_le_bytes());
        bytes.extend(properties.encode());
        bytes
    }

    /// The preamble, and the rest of the chunk.
    pub(super) fn split(chunk: &[u8]) -> Result<(Self, &[u8]), Damaged> {
        Self::parse(chunk).ok_or(Damaged("the first chunk is not one of a filter"))
    }

    /// The preamble of a large filter, the header behind it, and the number of the state.
    pub(super) fn of_large(chunk: &[u8]) -> Result<(Self, &[u8], u64), Damaged> {
        let parts = unsealed(chunk).and_then(split_number);
        let (chunk, state) = parts.ok_or(Damaged("the first chunk is damaged"))?;
        let (preamble, header) = Self::split(chunk)?;
        Ok((preamble, header, state))
    }

    fn parse(chunk: &[u8]) -> Option<(Self, &[u8])> {
        let bytes = chunk.strip_prefix(&MAGIC)?;
        let (&kind, bytes) = bytes.split_first()?;
        let (chunks, bytes) = bytes.split_first_chunk()?;
        let (deleted, bytes) = bytes.split_first_chunk()?;
        let (properties, rest) = bytes.split_first_chunk()?;
        let chunks = u64::from_le_bytes(*chunks);
        let kind = match kind {
            1 if chunks > 1 => Kind::Lasting,
            2 if chunks > 1 => Kind::Expiring,
            3 if chunks == 1 => Kind::Small,
            4 if chunks > 1 => Kind::Fixed,
            _ => return None,
        };
        let (deleted, properties) = (u64::from_le_bytes(*deleted), Properties::decode(properties)?);
        Some((Self { kind, chunks, deleted, properties }, rest))
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

/// Chunk `number` of a filter, from 1; `None` beyond the last.
pub(super) fn chunk(stored: &StoredFilter, number: usize) -> Option<Vec<u8>> {
    match stored {
        StoredFilter::Small(small) => (number == 1).then(|| small.chunk()),
        StoredFilter::Large(large) => chunk_of(large, number),
    }
}

fn chunk_of(stored: &Large, number: usize) -> Option<Vec<u8>> {
    let table = stored.table();
    let (chunks, state) = (count_of(table), stored.state().to_le_bytes());
    match number {
        0 => None,
        1 => {
            let (kind, deleted, properties) = (table.kind(), stored.deleted, stored.properties);
            let preamble = Preamble { kind, chunks: chunks as u64, deleted, properties };
            Some(sealed([&preamble.encode(), &table.piece(0)?, &state[..]].concat()))
        }
        _ if number > chunks => None,
        _ => {
            let first = 1 + (number - 2) * PIECES;
            let pieces = (first..first + PIECES).map_while(|piece| table.piece(piece));
            Some(pieces.chain([state.to_vec()]).collect::<Vec<_>>().concat())
        }
    }
}
