//! Large batches: hashes are sorted by segment as they are made, so that each segment is filled
//! while it is in cache. Segments share no memory, so threads fill them in parallel.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addressing::{index, scale};
use crate::arch::prefetch_from;
use crate::geometry::Geometry;
use crate::layout::copies::{self, Overflow};
use crate::layout::{Search, TableLayout};
use crate::spill::{Spill, SpillKey};
use crate::table::batch;
use crate::table::memory::{Memory, zeroed};
use crate::threads::side_by_side;

/// With fewer hashes per segment, bringing the segment into cache does not pay: with 1900, the ring
/// of unsorted batches is faster.
const WORTHWHILE_HASHES: usize = 4096;
/// Hashes per segment that are sorted at a time. This bounds the memory, at about 9 bytes each.
const HASHES_PER_SEGMENT: usize = 24 << 10;
/// Minimum hashes per sorting round. Each round starts new threads.
const LEAST_HASHES: usize = 1 << 18;
/// Minimum hashes per thread and bin: with fewer, the slack for uneven bins would exceed the hashes
/// themselves.
const HASHES_PER_BUFFER: usize = 64;
/// Hashes, two cache lines of them, by which prefetches run ahead of the writes to a bin: there are
/// more streams of writes than processors prefetch by themselves.
const AHEAD: usize = 16;
/// The most bins: each is a stream of writes while sorting.
const MAX_BINS: u32 = 4096;
/// Bytes of a hash.
const WORD: usize = size_of::<u64>();

/// The rounds of a batch, which are sorted one after the other into the same memory.
#[derive(Debug)]
pub struct Rounds {
    bins: Bins,
    /// Segments that the table had.
    segments: usize,
    /// Hashes of a round.
    hashes: usize,
    buffers: Vec<ThreadBuffer>,
}

/// Which bin a hash belongs to.
#[derive(Clone, Copy, Debug)]
struct Bins {
    /// A hash is first multiplied by this.
    factor: u64,
    segments: u32,
    /// Successive segments of one bin, as a power of two.
    shift: u32,
}

impl Bins {
    #[inline(always)]
    fn of(self, hash: u64) -> usize {
        let hash = hash.wrapping_mul(self.factor);
        // As in `Addressing::probe`.
        index(scale(hash >> 32, self.segments.into()) >> self.shift)
    }

    fn count(self) -> usize {
        self.segments.div_ceil(1 << self.shift) as usize
    }
}

impl Rounds {
    /// `None` if sorting does not pay, or the system lacks the memory.
    pub(super) fn new(geometry: &Geometry, hashes: usize, threads: usize) -> Option<Self> {
        let segments = geometry.segments as usize;
        if segments == 1 || hashes / segments < WORTHWHILE_HASHES {
            return None;
        }
        let shift = geometry.segments.div_ceil(MAX_BINS).next_power_of_two().trailing_zeros();
        let bins = Bins { factor: 1, segments: geometry.segments, shift };
        let round = segments.checked_mul(HASHES_PER_SEGMENT)?.max(LEAST_HASHES);
        Self::of(bins, segments, hashes.min(round), threads)
    }

    /// For segments whose hashes, multiplied by `factor`, begin alike: a bin has those whose first
    /// `bits` bits do. `None` if the system lacks the memory.
    pub(crate) fn by_beginning(
        factor: u64,
        bits: u32,
        segments: usize,
        hashes: usize,
        threads: usize,
    ) -> Option<Self> {
        let round = segments.checked_mul(HASHES_PER_SEGMENT)?;
        let bins = Bins { factor, segments: 1 << bits, shift: 0 };
        Self::of(bins, segments, hashes.min(round), threads)
    }

    fn of(bins: Bins, segments: usize, hashes: usize, threads: usize) -> Option<Self> {
        // Each buffer has some room beyond the mean for each bin.
        let worthwhile = hashes / bins.count().saturating_mul(HASHES_PER_BUFFER);
        let threads = threads.clamp(1, segments).min(worthwhile.max(1));
        let buffer = || ThreadBuffer::new(bins, hashes.div_ceil(threads));
        let buffers = (0..threads).map(|_| buffer()).collect::<Option<_>>()?;
        Some(Self { bins, segments, hashes, buffers })
    }

    /// Segments that the table had when these were made.
    pub(crate) fn segments(&self) -> usize {
        self.segments
    }

    /// Hashes of a round.
    pub(crate) fn hashes(&self) -> usize {
        self.hashes
    }

    /// Hashes that its buffers have.
    pub(crate) fn len(&self) -> usize {
        self.buffers.iter().map(ThreadBuffer::len).sum()
    }

    /// Where the hashes of a round go, in equal parts that follow each other.
    pub(crate) fn buffers(&mut self) -> &mut [ThreadBuffer] {
        &mut self.buffers
    }

    pub(crate) fn bins(&self) -> usize {
        self.bins.count()
    }

    /// Sorts the hashes that had no room, when the buffers are complete.
    pub(crate) fn finish(&mut self) {
        for buffer in &mut self.buffers {
            let bins = buffer.bins;
            buffer.others.sort_by_key(|hash| bins.of(u64::from_le_bytes(*hash)));
        }
    }

    /// The hashes of a bin, in parts, of buffers that are [finished](Self::finish).
    pub(crate) fn bin(&self, number: usize) -> impl Iterator<Item = &[[u8; WORD]]> {
        self.buffers.iter().flat_map(move |buffer| buffer.bin(number))
    }

    /// How many hashes a bin has, in buffers that are [finished](Self::finish).
    pub(crate) fn count(&self, number: usize) -> usize {
        self.bin(number).map(<[_]>::len).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.buffers.iter_mut().for_each(ThreadBuffer::clear);
    }
}

/// The hashes of a round that one thread sorts, by bin.
#[derive(Debug)]
pub(crate) struct ThreadBuffer {
    bins: Bins,
    /// Room for equally many hashes of each bin, in little-endian order.
    sorted: Memory,
    /// The number of hashes per bin that there is room for.
    room: usize,
    /// From where each bin's hashes end there to where its room does.
    rooms: Vec<Range<usize>>,
    /// Hashes whose bin was full: few, unless somebody chose them.
    others: Vec<[u8; WORD]>,
}

impl ThreadBuffer {
    fn new(bins: Bins, hashes: usize) -> Option<Self> {
        let count = bins.count();
        // Five standard deviations above the mean.
        let mean = hashes.div_ceil(count);
        let room = mean + 5 * mean.isqrt() + WORD;
        let sorted = zeroed(room.checked_mul(count)?.checked_mul(WORD)? as u64)?;
        let mut buffer = Self { bins, sorted, room, rooms: Vec::new(), others: Vec::new() };
        buffer.rooms.resize(count, 0..0);
        buffer.clear();
        Some(buffer)
    }

    /// Appends hashes.
    pub(crate) fn push(&mut self, hashes: &[u64]) {
        let start = self.sorted.as_ptr();
        let (words, _) = self.sorted.as_chunks_mut::<WORD>();
        // A copy, which the writes below cannot change.
        let bins = self.bins;
        for &hash in hashes {
            let room = &mut self.rooms[bins.of(hash)];
            if room.start < room.end {
                words[room.start] = hash.to_le_bytes();
                room.start += 1;
                prefetch_from(start, ((room.start + AHEAD) * WORD) as u64);
            } else {
                self.others.push(hash.to_le_bytes());
            }
        }
    }

    /// Where a bin's hashes lie in `sorted`.
    fn place(&self, number: usize) -> Range<usize> {
        number * self.room..self.rooms[number].start
    }

    /// The hashes of a bin, in order: those that had room, then the others.
    fn bin(&self, number: usize) -> [&[[u8; WORD]]; 2] {
        let (words, _) = self.sorted.as_chunks::<WORD>();
        let of = |hash: &[u8; WORD]| self.bins.of(u64::from_le_bytes(*hash));
        let others = &self.others[self.others.partition_point(|hash| of(hash) < number)..];
        let length = others.partition_point(|hash| of(hash) == number);
        [&words[self.place(number)], &others[..length]]
    }

    fn len(&self) -> usize {
        let sorted = (0..self.rooms.len()).map(|number| self.place(number).len());
        sorted.sum::<usize>() + self.others.len()
    }

    fn clear(&mut self) {
        for (number, room) in self.rooms.iter_mut().enumerate() {
            *room = number * self.room..(number + 1) * self.room;
        }
        self.others.clear();
    }
}

/// Inserts the hashes of a round, and returns those that found no place. Empties the buffers.
pub(super) fn insert<L: TableLayout + Sync>(
    layout: &L,
    bytes: &mut [u8],
    spill: &mut Spill,
    rounds: &mut Rounds,
    max_kicks: u32,
) -> Vec<u64> {
    rounds.finish();
    // Each thread takes a run of bins, and with it a part of the table that is its own.
    let bins = rounds.bins();
    let a_thread = bins.div_ceil(rounds.buffers.len());
    let part_bytes = (a_thread << rounds.bins.shift) * index(layout.segment_bytes());
    let parts = bytes
        .chunks_mut(part_bytes)
        .enumerate()
        .map(|(number, bytes)| (number * a_thread..bins.min((number + 1) * a_thread), bytes));
    let fill =
        |(bins, bytes): (Range<usize>, &mut [u8])| fill(layout, bytes, rounds, bins, max_kicks);
    let mut all = Vec::new();
    for (refused, spilled) in side_by_side(parts.collect(), fill) {
        all.extend(refused);
        spill.extend(spilled);
    }
    rounds.clear();
    all
}

/// Fills the segments of these bins, which `bytes` are. Returns the hashes that found no
/// place, and what was spilled.
fn fill<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    rounds: &Rounds,
    bins: Range<usize>,
    max_kicks: u32,
) -> (Vec<u64>, Vec<(SpillKey, u64)>) {
    let (mut refused, mut search, mut spill) = (Vec::new(), Search::default(), Spill::default());
    let mut overflow = Overflow { search: &mut search, spill: &mut spill, max_kicks };
    let mut left = Vec::new();
    let first_segment = (bins.start << rounds.bins.shift) as u64;
    for bin in bins {
        for hashes in rounds.bin(bin) {
            batch::try_place(layout, bytes, first_segment, hashes, &mut left);
        }
        left.retain(|hash| {
            let probe = batch::probe_from(layout, hash.to_le_bytes(), first_segment);
            !copies::insert(layout, bytes, &mut overflow, &probe, 0)
        });
        refused.append(&mut left);
    }
    (refused, spill.shifted(first_segment))
}
