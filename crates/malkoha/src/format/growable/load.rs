//! Assembling growable filters from pieces. Every piece is checked.

use std::fmt;
use std::io::Read;
use std::mem;

use xxhash_rust::xxh3::Xxh3;

use super::header::{GrowableHeader, RECORD_BYTES};
use crate::format::checksums::{CHECKSUM_BYTES, is_right};
use crate::format::error::{ReadError, check, impossible, impossible_copies};
use crate::format::fields::{u16_at, u32_at, u64_at};
use crate::format::kind::{FileKind, HEADER_BYTES};
use crate::format::spilled;
use crate::growable::{
    Form, Grid, GrowParts, Growing, Home, Known, MAX_BITS, MAX_DEPTH, NOTHING_KNOWN, PLACES, Pool,
    Record, Shape, count_slots,
};
use crate::key::KeyHasher;
use crate::spill::{MAX_LEN, Spill, SpillKey};
#[cfg(feature = "mmap")]
use crate::table::Memory;

/// Takes the bytes of a [`GrowableCuckooFilter`](crate::GrowableCuckooFilter) or
/// [`GrowableCuckooMap`](crate::GrowableCuckooMap) in order, cut anywhere,
/// and makes it of them. Holds a segment of undigested bytes at most; memory is taken as bytes
/// arrive, so a lying header costs nothing.
///
/// ```
/// use malkoha::{GrowableCuckooFilter, GrowableLoader};
///
/// let mut seen = GrowableCuckooFilter::with_capacity(10, 0.01)?;
/// (0..1_000_u32).try_for_each(|key| seen.insert(&key))?;
/// let mut loader = GrowableLoader::for_filter();
/// for piece in seen.pieces() {
///     loader.push(&piece)?;
/// }
/// assert_eq!(loader.into_filter()?.len(), 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GrowableLoader {
    kind: FileKind,
    header: Option<GrowableHeader>,
    stage: Stage,
    /// Bytes of a part that is not complete yet.
    rest: Vec<u8>,
    /// Bytes of all parts that are complete.
    taken: u64,
    records: Vec<Record>,
    /// Copies of the segments, unless they stay in a mapped file.
    segments: Pool,
    /// Where the segments lie in the bytes: first byte and length of each.
    spans: Vec<(u64, usize)>,
    is_mapped: bool,
    known: Known,
    spill: Spill,
    /// Entries of the spill list so far, and the last of them.
    spilled: u64,
    last: Option<SpillKey>,
    checksum: Box<Xxh3>,
}

/// The next part.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Header,
    /// In front of a segment.
    Record,
    /// A segment: its record, and the record's bytes.
    Segment(Record, [u8; RECORD_BYTES]),
    Spill,
    SpillChecksum,
    Done,
}

impl fmt::Debug for GrowableLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, taken, .. } = self;
        f.debug_struct("GrowableLoader")
            .field("kind", kind)
            .field("taken", taken)
            .finish_non_exhaustive()
    }
}

impl GrowableLoader {
    /// For the bytes of a [`GrowableCuckooFilter`](crate::GrowableCuckooFilter).
    #[must_use]
    pub fn for_filter() -> Self {
        Self::new(FileKind::GrowableSet)
    }

    /// For the bytes of a [`GrowableCuckooMap`](crate::GrowableCuckooMap).
    #[must_use]
    pub fn for_map() -> Self {
        Self::new(FileKind::GrowableMap)
    }

    pub(super) fn new(kind: FileKind) -> Self {
        Self {
            kind,
            header: None,
            stage: Stage::Header,
            rest: Vec::new(),
            taken: 0,
            records: Vec::new(),
            segments: Pool::default(),
            spans: Vec::new(),
            is_mapped: false,
            known: NOTHING_KNOWN,
            spill: Spill::default(),
            spilled: 0,
            last: None,
            checksum: Box::new(spilled::checksum()),
        }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    ///
    /// If they are not what such a file has there, or there are more of them than it announces.
    /// The loader is of no use then.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<(), ReadError> {
        while !bytes.is_empty() {
            let wanted = self.wanted();
            if wanted == 0 {
                let expected = self.taken;
                return Err(ReadError::Length { expected, found: expected + bytes.len() as u64 });
            }
            if self.rest.is_empty() && bytes.len() >= wanted {
                let (part, after) = bytes.split_at(wanted);
                self.take(part)?;
                bytes = after;
                continue;
            }
            let (part, after) = bytes.split_at(bytes.len().min(wanted - self.rest.len()));
            self.rest.extend_from_slice(part);
            bytes = after;
            if self.rest.len() == wanted {
                let part = mem::take(&mut self.rest);
                self.take(&part)?;
            }
        }
        Ok(())
    }

    /// The table, when all its bytes have come, if they are of this kind.
    pub(crate) fn into_table(mut self, kind: FileKind) -> Result<(Growing, KeyHasher), ReadError> {
        kind.expected(self.kind)?;
        let found = self.taken + self.rest.len() as u64;
        let Some(header) = self.header else {
            // Not this format, or too short.
            FileKind::of(&self.rest)?;
            return Err(ReadError::Length { expected: HEADER_BYTES as u64, found });
        };
        if !matches!(self.stage, Stage::Done) {
            return Err(ReadError::Length { expected: header.file_bytes(), found });
        }
        let mut table = self.put_together(&header)?;
        for (entry, (key, copies)) in (0..).zip(self.spill.iter()) {
            if !table.take_spilled(key, copies) {
                let after = (header.spilled - entry) * spilled::ENTRY_BYTES as u64;
                let at = header.file_bytes() - CHECKSUM_BYTES as u64 - after;
                return Err(impossible_copies(at, entry));
            }
        }
        // Where fingerprints lie in several segments, not every slot is a key. It is unknown which
        // ones do: a shrunk table gave some of them their bits back.
        let filled = table.filled();
        let has_doubles =
            header.shape.copies_exhausted() && header.len < filled && filled <= MAX_LEN;
        if header.len != filled && !has_doubles {
            return Err(ReadError::Count { header: header.len, table: filled });
        }
        Ok((table, header.hasher))
    }

    /// The table of all segments.
    fn put_together(&mut self, header: &GrowableHeader) -> Result<Growing, ReadError> {
        let parts = GrowParts {
            shape: header.shape,
            within: Home::ROOT,
            capacity: header.capacity,
            len: header.len,
            records: mem::take(&mut self.records),
            segments: mem::take(&mut self.segments),
            known: self.known,
        };
        let table = Some(parts).filter(GrowParts::is_admitted).and_then(Growing::from_parts);
        table.ok_or_else(|| impossible("segments", 48, header.segments))
    }

    /// Bytes of the next part; 0 at the end.
    fn wanted(&self) -> usize {
        match self.stage {
            Stage::Header => HEADER_BYTES,
            Stage::Record => RECORD_BYTES,
            Stage::Segment(record, _) => {
                let bits = self.shape().widths.at(record.home.depth);
                record.form.segment_bytes(bits) + CHECKSUM_BYTES
            }
            // At most a piece.
            Stage::Spill => self.entries_wanted() * spilled::ENTRY_BYTES,
            Stage::SpillChecksum => CHECKSUM_BYTES,
            Stage::Done => 0,
        }
    }

    fn entries_wanted(&self) -> usize {
        let all = self.header.map_or(0, |header| header.spilled);
        usize::try_from(all - self.spilled).unwrap_or(usize::MAX).min(spilled::PIECE)
    }

    /// Takes a part of `wanted` bytes.
    fn take(&mut self, part: &[u8]) -> Result<(), ReadError> {
        self.stage = match self.stage {
            Stage::Header => {
                let bytes = part.first_chunk().expect("as long as wanted");
                self.header = Some(GrowableHeader::from_bytes(bytes, self.kind)?);
                Stage::Record
            }
            Stage::Record => {
                let bytes = *part.first_chunk().expect("as long as wanted");
                Stage::Segment(self.record(&bytes)?, bytes)
            }
            Stage::Segment(record, bytes) => self.segment(record, bytes, part)?,
            Stage::Spill => {
                self.checksum.update(part);
                part.as_chunks().0.iter().try_for_each(|entry| self.entry(entry))?;
                if self.entries_wanted() > 0 { Stage::Spill } else { Stage::SpillChecksum }
            }
            Stage::SpillChecksum => {
                let stored = u64_at(part, 0);
                if !is_right(self.checksum.digest(), stored) {
                    return Err(ReadError::SpillChecksum);
                }
                Stage::Done
            }
            Stage::Done => Stage::Done,
        };
        self.taken += part.len() as u64;
        Ok(())
    }

    fn shape(&self) -> Shape {
        self.header.expect("the header comes first").shape
    }

    fn record(&self, bytes: &[u8; RECORD_BYTES]) -> Result<Record, ReadError> {
        let shape = self.shape();
        let reserved = u32_at(bytes, 0);
        let (depth, value_bits) = (u32::from(bytes[4]), u32::from(bytes[5]));
        let buckets = u16_at(bytes, 6);
        let path = u64_at(bytes, 8);
        let at = |at: usize| usize::try_from(self.taken).unwrap_or(usize::MAX).saturating_add(at);
        check(reserved == 0, "reserved", at(0), reserved)?;
        check((shape.root_depth()..=MAX_DEPTH).contains(&depth), "depth", at(4), depth)?;
        check(value_bits <= shape.value_bits, "value bits of a segment", at(5), value_bits)?;
        // Only a table of one segment can be small.
        let is_only = self.header.is_some_and(|header| header.segments == 1);
        let least = if is_only { 1 } else { PLACES };
        let grid = Grid::from_bits(buckets, least);
        let grid = grid.ok_or_else(|| impossible("buckets", at(6), buckets))?;
        check(path >> depth == 0, "path", at(8), path)?;
        let form = Form { grid, value_bits };
        Ok(Record::new(Home { depth, path }, form, 0))
    }

    fn segment(
        &mut self,
        mut record: Record,
        before: [u8; RECORD_BYTES],
        part: &[u8],
    ) -> Result<Stage, ReadError> {
        let (bytes, stored) = part.split_at(part.len() - CHECKSUM_BYTES);
        let number = self.spans.len();
        let mut checksum = Xxh3::with_seed(number as u64);
        checksum.update(&before);
        checksum.update(bytes);
        if !is_right(checksum.digest(), u64_at(stored, 0)) {
            let segment = u32::try_from(number).expect("counted by the header");
            let offset = self.taken - RECORD_BYTES as u64;
            return Err(ReadError::SegmentChecksum { segment, offset });
        }
        let at = usize::try_from(self.taken).unwrap_or(usize::MAX);
        let len = count_slots(&self.shape(), &record, bytes, &mut self.known);
        record.len = len.ok_or_else(|| impossible("slots of segment", at, number as u64))?;
        self.records.push(record);
        self.spans.push((self.taken, bytes.len()));
        if !self.is_mapped {
            self.segments.push(bytes.into());
        }
        let header = self.header.expect("the header comes first");
        if self.spans.len() < header.segments as usize {
            return Ok(Stage::Record);
        }
        let table_bytes = self.taken + part.len() as u64 - HEADER_BYTES as u64;
        check(table_bytes == header.table_bytes, "table bytes", 56, header.table_bytes)?;
        Ok(if header.spilled > 0 { Stage::Spill } else { Stage::SpillChecksum })
    }

    /// An entry of the spill list.
    fn entry(&mut self, bytes: &[u8; spilled::ENTRY_BYTES]) -> Result<(), ReadError> {
        let shape = self.shape();
        let entry = spilled::parse(bytes).filter(|(key, _)| {
            (key.segment as usize) < self.spans.len()
                && u64::from(key.place) < PLACES
                && (1..2_u64 << MAX_BITS).contains(&key.fingerprint.into())
                && u64::BITS - key.value.leading_zeros() <= shape.value_bits
                && self.last.is_none_or(|last| last < *key)
        });
        let (key, copies) = entry.ok_or_else(|| impossible_copies(self.taken, self.spilled))?;
        self.spill.add(key, copies);
        (self.last, self.spilled) = (Some(key), self.spilled + 1);
        Ok(())
    }
}

/// Reads exactly the bytes of a file of this kind, and checks all of them.
pub(crate) fn read(
    kind: FileKind,
    reader: &mut dyn Read,
) -> Result<(Growing, KeyHasher), ReadError> {
    let mut loader = GrowableLoader::new(kind);
    let mut part = Vec::new();
    while loader.wanted() > 0 {
        part.clear();
        // Never more than a segment.
        let whole = loader.wanted();
        (&mut *reader).take(whole as u64).read_to_end(&mut part)?;
        loader.push(&part)?;
        if part.len() < whole {
            break;
        }
    }
    loader.into_table(kind)
}

/// The table in a whole file that is memory: all of it is checked, and its segments stay there.
#[cfg(feature = "mmap")]
pub(crate) fn map(kind: FileKind, file: Memory) -> Result<(Growing, KeyHasher), ReadError> {
    let mut loader = GrowableLoader { is_mapped: true, ..GrowableLoader::new(kind) };
    loader.push(&file)?;
    let length = file.len() as u64;
    // Segments in chunks are found by 32 bits.
    let pool = Pool::in_place(file, &loader.spans).ok_or(ReadError::Memory(length))?;
    GrowableLoader { segments: pool, ..loader }.into_table(kind)
}
