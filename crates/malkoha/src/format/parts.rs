//! Growable sets that threads share: a header, the parts one by one, the spilled copies.

use std::io::{self, Read, Write};

use crate::concurrent::{Extent, Piece};
use crate::format::header::{
    HEADER_BYTES, MAX_SPILLED, check, field, hasher, impossible, offset, preamble, sealed,
};
use crate::format::{CHECKSUM_BYTES, FileKind, ReadError, is_right, segment_checksum, spilled};
use crate::geometry::{Geometry, Layout, MAX_CAPACITY};
use crate::key::KeyHasher;
use crate::spill::{MAX_LEN, Spill, SpillKey};

/// The layout's number: one word per bucket, as in a table of fixed size.
const LAYOUT: u8 = 5;
/// How often a part can be split in turn; reserved in other headers.
const DOUBLINGS: usize = 17;
const MAX_DOUBLINGS: u8 = 16;
/// Buckets of a part: fewer would let a small file ask for a large directory.
const PLACES: std::ops::RangeInclusive<u32> = 1 << 10..=1 << 20;
/// Names of parts in all, at most.
const MOST_NAMES: u64 = 1 << 24;
/// Bytes in front of a part's words: its first name, the span of its names, and zeros.
const RECORD_BYTES: usize = 16;
/// Bytes of all tables below; reserved in other headers.
const BELOW: usize = offset::RESERVED;
const AFTER_BELOW: usize = BELOW + 8;
/// Bytes in front of a table below: the name of its part, how many bytes it has, and a checksum of
/// them, which files of before do not have.
const BELOW_RECORD_BYTES: usize = 24;
const BELOW_RECORD_BYTES_BEFORE: usize = 16;
/// More than any memory holds.
const MOST_BELOW: u64 = 1 << 60;

/// What a file says beside its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartsFile {
    /// Of each segment in one part.
    pub(crate) geometry: Geometry,
    pub(crate) doublings: u32,
    pub(crate) hasher: KeyHasher,
    pub(crate) capacity: u64,
    /// Copies, with those of tables below.
    pub(crate) len: u64,
}

/// A file with all that is in it, which still has to be found to fit together.
pub(crate) struct Content {
    pub(crate) file: PartsFile,
    pub(crate) parts: Vec<(Extent, Vec<u64>)>,
    pub(crate) spilled: Vec<(SpillKey, u64)>,
    /// Tables below, as files, with the names of the parts that they are below of.
    pub(crate) below: Vec<(usize, Vec<u8>)>,
}

impl PartsFile {
    pub(crate) fn misfit(field: &'static str, number: u64) -> ReadError {
        ReadError::Field { field, offset: HEADER_BYTES as u64, value: number }
    }

    pub(crate) fn write(
        self,
        pieces: &[Piece],
        below: &[(usize, Vec<u8>)],
        writer: &mut dyn Write,
    ) -> io::Result<()> {
        let mut spill = Spill::default();
        for piece in pieces {
            spill.extend(piece.spilled.iter().copied());
        }
        let bytes = below.iter().map(|(_, file)| (BELOW_RECORD_BYTES + file.len()) as u64).sum();
        writer.write_all(&self.header(pieces.len(), spill.entries(), bytes))?;
        for (number, piece) in (0_u64..).zip(pieces) {
            let name = u32::try_from(piece.extent.name).expect("at most 2^24 names");
            let span = u8::try_from(piece.extent.span).expect("at most 16");
            let mut part = Vec::with_capacity(RECORD_BYTES + piece.words.len() * 8);
            part.extend(name.to_le_bytes());
            part.push(span);
            part.resize(RECORD_BYTES, 0);
            part.extend(piece.words.iter().flat_map(|word| word.to_le_bytes()));
            writer.write_all(&part)?;
            writer.write_all(&segment_checksum(number, &part).to_le_bytes())?;
        }
        spilled::write_section(writer, &spill)?;
        for (name, file) in below {
            let name = u32::try_from(*name).expect("at most 2^24 names");
            let checksum = segment_checksum(name.into(), file);
            for field in [name.into(), file.len() as u64, checksum] {
                writer.write_all(&field.to_le_bytes())?;
            }
            writer.write_all(file)?;
        }
        Ok(())
    }

    fn part_bytes(&self) -> u64 {
        RECORD_BYTES as u64 + u64::from(self.geometry.places) * 8 + CHECKSUM_BYTES
    }

    fn header(&self, parts: usize, spilled: u64, below: u64) -> [u8; HEADER_BYTES] {
        let byte = |n: u32| [u8::try_from(n).expect("at most 32")];
        let Geometry { fingerprint_bits, segments, places, .. } = self.geometry;
        sealed(FileKind::SharedGrowableSet, self.hasher, |put| {
            put(offset::LAYOUT, &[LAYOUT]);
            put(offset::FINGERPRINT_BITS, &byte(fingerprint_bits));
            put(DOUBLINGS, &byte(self.doublings));
            put(offset::BOUND, &[(below > 0).into()]);
            put(offset::CAPACITY, &self.capacity.to_le_bytes());
            put(offset::LEN, &self.len.to_le_bytes());
            put(offset::SEGMENTS, &segments.to_le_bytes());
            put(offset::PLACES, &places.to_le_bytes());
            put(offset::TABLE_BYTES, &(parts as u64 * self.part_bytes()).to_le_bytes());
            put(offset::SPILLED, &spilled.to_le_bytes());
            put(BELOW, &below.to_le_bytes());
        })
    }

    /// Reads exactly the bytes of a file, as they arrive: memory is taken for what is there.
    pub(crate) fn read(reader: &mut dyn Read) -> Result<Content, ReadError> {
        let mut source = Source { reader, taken: 0, expected: HEADER_BYTES as u64 };
        let header = match source.take(HEADER_BYTES as u64) {
            Ok(header) => *header.first_chunk().expect("as long as asked for"),
            Err((start, error)) => return Err(FileKind::of(&start).err().unwrap_or(error)),
        };
        let word = |at: usize| u64::from_le_bytes(field(&header, at));
        let file = Self::from_header(&header)?;
        let (table_bytes, spilled) = (word(offset::TABLE_BYTES), word(offset::SPILLED));
        let below_bytes = word(BELOW);
        source.expected += table_bytes + spilled::section_bytes(spilled) + below_bytes;
        let mut parts = Vec::new();
        for number in 0..table_bytes / file.part_bytes() {
            let at = source.taken;
            let part = source.take(file.part_bytes()).map_err(|(_, error)| error)?;
            let (extent, words) = file.part(number, at, &part)?;
            parts.push((extent, words));
        }
        let (at, mut entries) = (source.taken, Vec::new());
        let section = source.take(spilled::section_bytes(spilled)).map_err(|(_, error)| error)?;
        spilled::read_section(&section, at, |key, count| {
            entries.push((key, count));
            true
        })?;
        let below = source.below(below_bytes, header[offset::BOUND] == 1)?;
        Ok(Content { file, parts, spilled: entries, below })
    }

    fn from_header(bytes: &[u8; HEADER_BYTES]) -> Result<Self, ReadError> {
        preamble(bytes)?.expected(FileKind::SharedGrowableSet)?;
        let word = |at: usize| u64::from_le_bytes(field(bytes, at));
        let half = |at: usize| u32::from_le_bytes(field(bytes, at));
        let is = |at: usize, name, value: u8| check(bytes[at] == value, name, at, bytes[at]);
        is(offset::LAYOUT, "layout", LAYOUT)?;
        for at in [14, 16].into_iter().chain(19..24).chain(AFTER_BELOW..offset::CHECKSUM) {
            is(at, "reserved", 0)?;
        }
        let (bits, doublings) = (bytes[offset::FINGERPRINT_BITS], bytes[DOUBLINGS]);
        check((5..=32).contains(&bits), "fingerprint bits", offset::FINGERPRINT_BITS, bits)?;
        check(doublings <= MAX_DOUBLINGS && doublings < bits, "doublings", DOUBLINGS, doublings)?;
        let (segments, places) = (half(offset::SEGMENTS), half(offset::PLACES));
        check(PLACES.contains(&places), "places", offset::PLACES, places)?;
        let names = u64::from(segments) << doublings;
        check((1..=MOST_NAMES).contains(&names), "segments", offset::SEGMENTS, segments)?;
        let geometry = Geometry {
            layout: Layout::Words,
            fingerprint_bits: bits.into(),
            value_bits: 0,
            segments,
            places,
        };
        let (capacity, len) = (word(offset::CAPACITY), word(offset::LEN));
        check((1..=MAX_CAPACITY).contains(&capacity), "capacity", offset::CAPACITY, capacity)?;
        check(len <= MAX_LEN, "len", offset::LEN, len)?;
        let spilled = word(offset::SPILLED);
        check(spilled <= MAX_SPILLED, "spilled", offset::SPILLED, spilled)?;
        let hasher = hasher(bytes)?;
        let file = Self { geometry, doublings: doublings.into(), hasher, capacity, len };
        let (below, is_bound) = (word(BELOW), bytes[offset::BOUND]);
        check(is_bound <= (below > 0).into(), "bound", offset::BOUND, is_bound)?;
        check(below <= MOST_BELOW, "bytes of tables below", BELOW, below)?;
        let table_bytes = word(offset::TABLE_BYTES);
        let parts = table_bytes / file.part_bytes();
        let fits =
            table_bytes % file.part_bytes() == 0 && (u64::from(segments)..=names).contains(&parts);
        check(fits, "table bytes", offset::TABLE_BYTES, table_bytes)?;
        Ok(file)
    }

    /// Part `number`, which begins at byte `at` of the file.
    fn part(&self, number: u64, at: u64, bytes: &[u8]) -> Result<(Extent, Vec<u64>), ReadError> {
        let (part, stored) = bytes.split_last_chunk().expect("longer than a checksum");
        if !is_right(segment_checksum(number, part), u64::from_le_bytes(*stored)) {
            let segment = u32::try_from(number).unwrap_or(u32::MAX);
            return Err(ReadError::SegmentChecksum { segment, offset: at });
        }
        let (record, words) = part.split_at(RECORD_BYTES);
        let name = u32::from_le_bytes(*record.first_chunk().expect("a record is longer"));
        let span = u64::from(record[4]);
        let is_record = span <= self.doublings.into() && record[5..].iter().all(|&b| b == 0);
        if !is_record {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            return impossible("part", at, number);
        }
        let words = words.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
        Ok((Extent { name: name as usize, span }, words.collect()))
    }
}

/// A stream, and how many bytes of it were taken and are expected.
struct Source<'a> {
    reader: &'a mut dyn Read,
    taken: u64,
    expected: u64,
}

impl Source<'_> {
    /// Tables below in so many bytes, one by one; with checksums, if they are bound to their parts.
    fn below(&mut self, bytes: u64, is_bound: bool) -> Result<Vec<(usize, Vec<u8>)>, ReadError> {
        let (mut left, mut tables) = (bytes, Vec::new());
        let record_bytes = if is_bound { BELOW_RECORD_BYTES } else { BELOW_RECORD_BYTES_BEFORE };
        while left > 0 {
            let offset = self.taken;
            let record = self.take(record_bytes as u64).map_err(|(_, error)| error)?;
            let fields = record.as_chunks().0;
            let [name, length] = [0, 1].map(|at: usize| u64::from_le_bytes(fields[at]));
            let after =
                left.checked_sub(record_bytes as u64).and_then(|left| left.checked_sub(length));
            let (Some(after), Ok(name)) = (after, u32::try_from(name)) else {
                return impossible("bytes of tables below", BELOW, bytes);
            };
            // In order, so that equal filters are equal bytes.
            if tables.last().is_some_and(|(last, _)| *last >= name as usize) {
                return impossible("table below", BELOW, u64::from(name));
            }
            let file = self.take(length).map_err(|(_, error)| error)?;
            let checksum = fields.get(2).map(|&field| u64::from_le_bytes(field));
            if checksum
                .is_some_and(|stored| !is_right(segment_checksum(name.into(), &file), stored))
            {
                return Err(ReadError::ShardChecksum { shard: name, offset });
            }
            tables.push((name as usize, file));
            left = after;
        }
        Ok(tables)
    }

    /// The next `bytes` bytes, or those that there are and why that is too few.
    fn take(&mut self, bytes: u64) -> Result<Vec<u8>, (Vec<u8>, ReadError)> {
        let mut part = Vec::new();
        match (&mut *self.reader).take(bytes).read_to_end(&mut part) {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                return Err((part, ReadError::Memory(bytes)));
            }
            Err(error) => return Err((part, error.into())),
            Ok(_) => {}
        }
        self.taken += part.len() as u64;
        if part.len() as u64 == bytes {
            return Ok(part);
        }
        let (expected, found) = (self.expected, self.taken);
        Err((part, ReadError::Length { expected, found }))
    }
}
