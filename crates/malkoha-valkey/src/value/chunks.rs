//! A filter as the numbered chunks of CF.SCANDUMP.
//!
//! Chunk 1 is a preamble and the header of the library's format; the others are the format's
//! following pieces, four in each: chunks 2 and on, put together, are the file of `CF.DUMP` after
//! its first 128 bytes. Filters whose items expire are passed on in the pieces that the library has
//! for that, which are no file. A small filter is one chunk: see `small/chunk.rs`.

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
    let chunks = count_of(table);
    match number {
        0 => None,
        1 => {
            let (kind, deleted, properties) = (table.kind(), stored.deleted, stored.properties);
            let preamble = Preamble { kind, chunks: chunks as u64, deleted, properties };
            Some([preamble.encode(), table.piece(0)?].concat())
        }
        _ if number > chunks => None,
        _ => {
            let first = 1 + (number - 2) * PIECES;
            let pieces = (first..first + PIECES).map_while(|piece| table.piece(piece));
            Some(pieces.collect::<Vec<_>>().concat())
        }
    }
}
