//! Growable sets whose keys expire in pieces, as they are: what has expired is still in them, and
//! the times at which blocks were swept. So nothing is swept or copied to write them, and from then
//! on a copy behaves as the set itself.

use std::mem;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::load::GrowableLoader;
use super::pieces;
use crate::expiry::{Expiring, Times};
use crate::format::checksums::{CHECKSUM_BYTES, is_right};
use crate::format::error::{ReadError, check, impossible};
use crate::format::expiring::{Head, put_head};
use crate::format::header::sealed;
use crate::format::kind::{FileKind, HEADER_BYTES};
use crate::growable::Growing;
use crate::key::KeyHasher;

const KIND: FileKind = FileKind::GrowableExpiringSet;
/// Seed of the checksum of the times; no segment has this number.
const TIMES_CHECKSUM_SEED: u64 = u64::MAX - 2;

/// How many pieces there are.
pub(crate) fn count(set: &Expiring<Growing>) -> usize {
    1 + pieces::count(&set.table)
}

/// Piece `number`, from 0; `None` beyond the last.
pub(crate) fn piece(set: &Expiring<Growing>, hasher: KeyHasher, number: usize) -> Option<Vec<u8>> {
    match number.checked_sub(1) {
        None => Some(times_piece(&set.times, hasher)),
        Some(number) => pieces::piece(FileKind::GrowableMap, &set.table, hasher, number),
    }
}

fn times_piece(times: &Times, hasher: KeyHasher) -> Vec<u8> {
    let (swept, counts) = times.state();
    let mut bytes = sealed(KIND, hasher, |put| {
        put_head(times, 0, swept.len(), put);
    })
    .to_vec();
    bytes.extend(swept.iter().chain(counts).flat_map(|number| number.to_le_bytes()));
    let checksum = xxh3_64_with_seed(&bytes[HEADER_BYTES..], TIMES_CHECKSUM_SEED);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// Takes the pieces of a [`GrowableExpiringCuckooFilter`](crate::GrowableExpiringCuckooFilter) in
/// order, cut anywhere, and makes it of them. Memory is taken as bytes arrive, so a lying header
/// costs nothing.
///
/// ```
/// use malkoha::{GrowableExpiringCuckooFilter, GrowableExpiringLoader};
///
/// let mut seen = GrowableExpiringCuckooFilter::with_capacity(10, 0.01, 60)?;
/// seen.advance(1_000);
/// seen.insert("cuckoo")?;
/// let mut loader = GrowableExpiringLoader::new();
/// for number in 0..seen.piece_count() {
///     loader.push(&seen.piece(number).unwrap())?;
/// }
/// assert_eq!(loader.into_filter()?.now(), 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct GrowableExpiringLoader {
    /// The bytes of the first piece that have arrived.
    start: Vec<u8>,
    times: Option<StoredTimes>,
    table: GrowableLoader,
}

/// The content of the first piece.
#[derive(Debug)]
struct StoredTimes {
    head: Head,
    swept: Vec<u64>,
    counts: Vec<u64>,
}

impl Default for GrowableExpiringLoader {
    fn default() -> Self {
        Self::new()
    }
}

impl GrowableExpiringLoader {
    /// For all pieces.
    #[must_use]
    pub fn new() -> Self {
        Self { start: Vec::new(), times: None, table: GrowableLoader::new(FileKind::GrowableMap) }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// If they are not what such pieces have there, or there are more of them than they announce.
    /// The loader is of no use then.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), ReadError> {
        while self.times.is_none() && !bytes.is_empty() {
            let wanted = self.wanted()?;
            let (part, after) = bytes.split_at(bytes.len().min(wanted - self.start.len()));
            self.start.extend_from_slice(part);
            bytes = after;
            if self.start.len() == wanted && wanted > HEADER_BYTES {
                let start = mem::take(&mut self.start);
                self.times = Some(StoredTimes::of(&start)?);
            }
        }
        if bytes.is_empty() { Ok(()) } else { self.table.push(bytes) }
    }

    /// Bytes of the first piece, as far as they are known.
    fn wanted(&self) -> Result<usize, ReadError> {
        match self.start.first_chunk() {
            None => Ok(HEADER_BYTES),
            Some(header) => {
                let head = Head::of(header, KIND)?;
                let numbers = head.blocks()? as u64 + (1 << head.window.label_bits());
                let bytes = 8 * numbers + (HEADER_BYTES + CHECKSUM_BYTES) as u64;
                usize::try_from(bytes).map_err(|_| ReadError::Memory(bytes))
            }
        }
    }

    pub(crate) fn into_table(self) -> Result<(Expiring<Growing>, KeyHasher), ReadError> {
        let Some(StoredTimes { head, swept, counts }) = self.times else {
            // Not this format, or too short.
            FileKind::of(&self.start)?;
            let found = self.start.len() as u64;
            return Err(ReadError::Length { expected: self.wanted()? as u64, found });
        };
        let (table, of_table) = self.table.into_table(FileKind::GrowableMap)?;
        let Head { hasher, window, now, capacity, .. } = head;
        let blocks = swept.len();
        let set = Expiring::new(table, window, capacity).filter(|_| of_table == hasher);
        let set = set.and_then(|set| set.with_state(now, swept, counts));
        let set = set.ok_or_else(|| impossible("times", HEADER_BYTES, blocks as u64))?;
        Ok((set, hasher))
    }
}

impl StoredTimes {
    /// The error of a first piece that is complete.
    fn of(piece: &[u8]) -> Result<Self, ReadError> {
        let (header, times) = piece.split_first_chunk().expect("as long as wanted");
        let (times, checksum) = times.split_last_chunk().expect("as long as wanted");
        let head = Head::of(header, KIND)?;
        let blocks = head.blocks()?;
        let found = xxh3_64_with_seed(times, TIMES_CHECKSUM_SEED);
        let right = is_right(found, u64::from_le_bytes(*checksum));
        check(right, "checksum of times", HEADER_BYTES, blocks as u64)?;
        let (numbers, _) = times.as_chunks();
        let mut swept: Vec<u64> = numbers.iter().copied().map(u64::from_le_bytes).collect();
        let counts = swept.split_off(blocks);
        Ok(Self { head, swept, counts })
    }
}
