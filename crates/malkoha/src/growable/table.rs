//! The table of a growable filter: which segment, which slots, and the counts of them.

use std::io::Read;

use super::codec::AnyCodec;
use super::directory::{Directory, Entry};
use super::grid::{Grid, PLACES};
use super::pool::Pool;
use super::record::{CodecCounts, Home, Known, NOTHING_KNOWN, Record, known_bits, most_known};
use super::segment::{Form, Segment, segment_bytes};
use super::shape::Shape;
use crate::error::BuildError;
use crate::format::{self, FileKind, ReadError, whole};
use crate::key::KeyHasher;
use crate::layout::Search;
use crate::params::float;
use crate::spill::Spill;
use crate::table::memory;
use crate::table::traits::Stored;

/// Places that an insert looks at before its segment grows instead.
pub(super) const MAX_KICKS: u32 = 500;
/// Searches of one segment that may fail before later ones look at fewer places.
const FAILURES: u32 = 32;
/// As few as those look at, at least.
const LEAST_KICKS: u32 = 8;

/// Places that an insert looks at where this many searches of its segment failed. Only chosen keys
/// fail so often, and then nearly all do: each failed search would cost as much as the first.
pub(super) fn kicks(failures: u32) -> u32 {
    match failures {
        0..=FAILURES => MAX_KICKS,
        _ => (MAX_KICKS * FAILURES / failures).max(LEAST_KICKS),
    }
}

/// The parts of a table without spilled copies.
#[derive(Debug)]
pub(crate) struct GrowParts {
    pub(crate) shape: Shape,
    /// The home that the segments cover together.
    pub(crate) within: Home,
    pub(crate) capacity: u64,
    /// Keys, copies included.
    pub(crate) len: u64,
    /// With the numbers of occupied slots.
    pub(crate) records: Vec<Record>,
    pub(crate) segments: Pool,
    pub(crate) known: Known,
}

impl GrowParts {
    /// Whether a table may have this many segments this deep: must be checked for data from
    /// outside.
    pub(crate) fn is_admitted(&self) -> bool {
        let depth = self.records.iter().map(|record| record.home.depth).max().unwrap_or(0);
        Directory::admits(depth, self.records.len())
    }
}

/// A table that grows: segments that are rebuilt and split, and the directory that leads to them.
#[derive(Clone, Debug)]
pub struct Growing {
    pub(super) shape: Shape,
    pub(super) directory: Directory,
    pub(super) segments: Pool,
    pub(super) records: Vec<Record>,
    /// Keys, copies included.
    pub(super) len: u64,
    /// Occupied slots.
    pub(super) occupied: u64,
    /// The number of keys up to which segments grow in small steps.
    pub(super) capacity: u64,
    /// `known[n]`: occupied slots that know n bits of their key's string, in slot and path. The
    /// chance matches of a fingerprint depend on that alone. Only as long as the deepest segment
    /// needs: small filters are to be small.
    pub(super) known: Vec<u64>,
    pub(super) spill: Spill,
    /// Segments with keys that have no slot: usually none.
    pub(super) stashing: usize,
    pub(super) codecs: CodecCounts,
    /// The codec of all segments, if they have the same one and all keys have slots.
    pub(super) uniform_codec: Option<&'static AnyCodec>,
    /// A copy of that codec: single lookups read it without a pointer dereference.
    pub(super) uniform_codec_copy: AnyCodec,
    /// Whether it is a set with a uniform codec, and all its segments have groups whose buckets fit
    /// one word of 64 bits or two: single lookups are compiled for that.
    pub(super) has_fast_lookup: bool,
    pub(super) search: Search,
    /// How often a segment has changed its form or its address.
    pub(super) version: u64,
    /// Ages that splits have put into both halves, since they were last read.
    pub(super) copied_ages: Vec<u64>,
}

impl Growing {
    /// An empty table; an error if the system does not give the memory.
    pub(crate) fn new(shape: Shape, buckets: u32, capacity: u64) -> Result<Self, BuildError> {
        let bytes = Self::first_bytes(&shape, buckets);
        // The total is asked for first: a system that overcommits may give each of many chunks, but
        // not all of them together.
        if !memory::can_allocate(bytes) {
            return Err(BuildError::Memory { bytes });
        }
        Self::new_within(Home::ROOT, shape, buckets, capacity).ok_or(BuildError::Memory { bytes })
    }

    /// Bytes of an empty table of this shape.
    pub(crate) fn first_bytes(shape: &Shape, buckets: u32) -> u64 {
        let form = Form { grid: Grid::new(buckets), value_bits: 0 };
        let len = segment_bytes(shape.widths.at(shape.root_depth()) + 1, form);
        let records = (size_of::<Record>() + size_of::<Entry>()) as u64;
        Pool::bytes_of(shape.roots.into(), len).saturating_add(u64::from(shape.roots) * records)
    }

    /// The empty partition of a table of this shape, at a home that is no deeper than the roots.
    pub(crate) fn new_within(
        within: Home,
        shape: Shape,
        buckets: u32,
        capacity: u64,
    ) -> Option<Self> {
        let form = Form { grid: Grid::new(buckets), value_bits: 0 };
        let depth = shape.root_depth();
        let below = depth - within.depth;
        let len = segment_bytes(shape.widths.at(depth) + 1, form);
        let home = |root| Home { depth, path: within.path << below | root };
        let records = (0..1 << below).map(|root| Record::new(home(root), form, 0));
        let records: Vec<Record> = records.collect();
        let segments = Pool::zeroed(records.len(), len)?;
        let known = NOTHING_KNOWN;
        Self::from_parts(GrowParts { shape, within, capacity, len: 0, records, segments, known })
    }

    /// A table of these segments; `None` if they do not cover exactly once what they should cover.
    ///
    /// Each segment has its form's bytes. Whatever they hold, no operation panics.
    pub(crate) fn from_parts(parts: GrowParts) -> Option<Self> {
        let GrowParts { shape, within, capacity, len, records, segments, known } = parts;
        for (number, record) in records.iter().enumerate() {
            let wanted = segment_bytes(record.any_codec(&shape).width(), record.form);
            assert_eq!(segments.bytes(number).len(), wanted, "segment length");
        }
        let mut codecs = CodecCounts::default();
        records.iter().for_each(|record| codecs.count_in(record.any_codec(&shape)));
        let directory = Directory::of(&records, &segments, &shape, within)?;
        let deepest = records.iter().map(|record| record.home.depth).max().unwrap_or(0);
        let mut table = Self {
            shape,
            directory,
            segments,
            occupied: records.iter().map(|record| u64::from(record.len)).sum(),
            records,
            len,
            capacity,
            known: known[..most_known(&shape, deepest)].to_vec(),
            spill: Spill::default(),
            stashing: 0,
            uniform_codec: None,
            uniform_codec_copy: *AnyCodec::of(0),
            has_fast_lookup: false,
            codecs,
            search: Search::default(),
            version: 0,
            copied_ages: Vec::new(),
        };
        table.refresh_fast_paths();
        Some(table)
    }

    pub(crate) const fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Occupied slots and spilled copies: one per key, except for doubles of exhausted
    /// fingerprints.
    pub(crate) fn filled(&self) -> u64 {
        self.occupied.saturating_add(self.spill.copies())
    }

    /// The fewest bits of its string that a slot knows.
    pub(super) fn least_known(&self) -> u32 {
        (0..).zip(&self.known).find(|&(_, &count)| count > 0).map_or(u32::MAX, |(bits, _)| bits)
    }

    /// Whether the buckets of all segments are in groups. A small table has one segment, whose
    /// buckets are not.
    #[inline(always)]
    pub(super) fn is_grouped(&self) -> bool {
        self.records[0].form.grid.is_grouped()
    }

    /// Sets what single operations are specialised by, after the segments' codecs or the number of
    /// stashed keys have changed.
    pub(super) fn refresh_fast_paths(&mut self) {
        self.uniform_codec = self.codecs.only().filter(|_| self.stashing == 0);
        self.uniform_codec_copy = *self.uniform_codec.unwrap_or(AnyCodec::of(0));
        self.has_fast_lookup = self.uniform_codec.is_some()
            && self.is_grouped()
            && self.shape.value_bits == 0
            && self.uniform_codec_copy.wide().is_short();
    }

    /// The bits that a slot of a segment knows.
    pub(super) fn known_bits(&self, number: usize, fingerprint: u64) -> usize {
        known_bits(&self.shape, self.records[number].home.depth, fingerprint)
    }

    /// How the buckets of a segment are compared.
    pub(super) fn any_codec(&self, number: usize) -> &'static AnyCodec {
        self.records[number].any_codec(&self.shape)
    }

    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn buckets(&self) -> u64 {
        self.records.iter().map(|record| record.form.grid.buckets()).sum()
    }

    pub(crate) fn set_huge_pages(&mut self, huge: bool) {
        self.segments.set_huge_pages(huge);
    }

    /// The expected number of fingerprints that match a key that is not in: one that knows n bits
    /// of its string, at one of two places, matches with probability 2^-n.
    pub(crate) fn expected_matches(&self) -> f64 {
        let places = PLACES >> self.records[0].form.grid.low_bits();
        let mut known = self.known.clone();
        self.stashed_known().for_each(|bits| known[bits] += 1);
        let matches: f64 = (0_u32..)
            .zip(known)
            .map(|(bits, count)| float(count) * (-f64::from(bits)).exp2())
            .sum();
        2.0 * matches / float(places)
    }

    pub(crate) fn bytes(&self, number: usize) -> &[u8] {
        self.segments.bytes(number)
    }

    /// Gives a segment these bytes, which its record tells how to read.
    pub(super) fn install(&mut self, number: usize, record: Record, bytes: Box<[u8]>) {
        let known = most_known(&self.shape, record.home.depth).max(self.known.len());
        self.known.resize(known, 0);
        self.codecs.count_in(record.any_codec(&self.shape));
        let moved = if number == self.records.len() {
            self.records.push(record);
            self.segments.push(bytes)
        } else {
            self.codecs.count_out(self.any_codec(number));
            self.records[number] = record;
            self.segments.replace(number, bytes)
        };
        self.refresh_fast_paths();
        // The segment itself comes last: while halves are put together, both homes are in use.
        for number in moved {
            self.point(number);
        }
    }

    /// Makes the directory point to a segment.
    pub(super) fn point(&mut self, number: usize) {
        self.version += 1;
        let (record, any_codec) = (&self.records[number], self.any_codec(number));
        self.directory.point(number, record, any_codec, self.segments.address(number));
    }

    pub(crate) fn record(&self, number: usize) -> &Record {
        &self.records[number]
    }

    /// How to read a segment, where that need not be as fast as can be.
    pub(super) fn segment(&self, number: usize) -> Segment<'static, 2> {
        self.records[number].segment(&self.shape)
    }

    /// Whether both have the same in the same slots, however many keys that is.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same = |number: usize| {
            self.records[number].is_like(&other.records[number])
                && self.bytes(number) == other.bytes(number)
        };
        self.shape == other.shape
            && self.segments() == other.segments()
            && self.spill == other.spill
            && (0..self.segments()).all(same)
    }
}

impl PartialEq for Growing {
    /// Whether the files of both would be the same.
    fn eq(&self, other: &Self) -> bool {
        (self.capacity, self.len) == (other.capacity, other.len) && self.is_same(other)
    }
}

impl Stored for Growing {
    fn read(kind: FileKind, reader: &mut dyn Read) -> Result<(Self, KeyHasher), ReadError> {
        format::read_growable(kind, reader)
    }

    fn from_bytes(kind: FileKind, mut bytes: &[u8]) -> Result<(Self, KeyHasher), ReadError> {
        whole(&mut bytes, |reader| Self::read(kind, reader))
    }
}

/// A number that is known to be small.
pub(super) fn narrow(number: u64) -> u32 {
    u32::try_from(number).expect("places, fingerprints and segments have at most 32 bits")
}
