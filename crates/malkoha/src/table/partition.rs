//! Large batches: hashes are sorted by segment as they are made, so that each segment is filled
//! while it is in cache. Segments share no memory, so threads fill them in parallel.

use alloc::vec::Vec;
use core::ops::Range;

use crate::addressing::scale;
use crate::arch::prefetch_from;
use crate::geometry::Geometry;
use crate::layout::bits::index;
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
/// Hashes that are sorted at a time, at least: threads start anew for each round.
const LEAST_HASHES: usize = 1 << 18;
/// Hashes of a thread's share of each partition, at least: with fewer, what a share has beyond the
/// mean would be most of it.
const HASHES_PER_SHARE: usize = 64;
/// Hashes, two lines of them, that a partition is ahead of its writes with requests: there are more
/// streams of writes than processors foresee.
const AHEAD: usize = 16;
/// The most partitions: each is a stream of writes while sorting.
const MAX_PARTITIONS: u32 = 4096;
/// Bytes of a hash.
const WORD: usize = size_of::<u64>();

/// How a batch is cut up: into rounds, which are sorted one after the other into the same memory.
#[derive(Debug)]
pub struct Rounds {
    cut: Cut,
    /// Segments that the table had.
    #[cfg_attr(not(feature = "std"), expect(dead_code, reason = "tables that grow need std"))]
    segments: usize,
    /// Hashes of a round.
    hashes: usize,
    shares: Vec<Share>,
}

/// Which partition a hash belongs to.
#[derive(Clone, Copy, Debug)]
struct Cut {
    /// A hash is first multiplied by this.
    factor: u64,
    segments: u32,
    /// Successive segments of one partition, as a power of two.
    shift: u32,
}

impl Cut {
    #[inline(always)]
    fn of(self, hash: u64) -> usize {
        let hash = hash.wrapping_mul(self.factor);
        // As in `Addressing::probe`.
        index(scale(hash >> 32, self.segments.into()) >> self.shift)
    }

    fn partitions(self) -> usize {
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
        let shift = geometry.segments.div_ceil(MAX_PARTITIONS).next_power_of_two().trailing_zeros();
        let cut = Cut { factor: 1, segments: geometry.segments, shift };
        let round = segments.checked_mul(HASHES_PER_SEGMENT)?.max(LEAST_HASHES);
        Self::of(cut, segments, hashes.min(round), threads)
    }

    /// For segments whose hashes, multiplied by `factor`, begin alike: a partition has those whose
    /// first `bits` bits do. `None` if the system lacks the memory.
    #[cfg(feature = "std")]
    pub(crate) fn by_beginning(
        factor: u64,
        bits: u32,
        segments: usize,
        hashes: usize,
        threads: usize,
    ) -> Option<Self> {
        let round = segments.checked_mul(HASHES_PER_SEGMENT)?;
        let cut = Cut { factor, segments: 1 << bits, shift: 0 };
        Self::of(cut, segments, hashes.min(round), threads)
    }

    fn of(cut: Cut, segments: usize, hashes: usize, threads: usize) -> Option<Self> {
        // Each share has some room beyond the mean for each partition.
        let worthwhile = hashes / cut.partitions().saturating_mul(HASHES_PER_SHARE);
        let threads = threads.clamp(1, segments).min(worthwhile.max(1));
        let share = || Share::new(cut, hashes.div_ceil(threads));
        let shares = (0..threads).map(|_| share()).collect::<Option<_>>()?;
        Some(Self { cut, segments, hashes, shares })
    }

    /// Segments that the table had when these were made.
    #[cfg(feature = "std")]
    pub(crate) fn segments(&self) -> usize {
        self.segments
    }

    /// Hashes of a round.
    pub(crate) fn hashes(&self) -> usize {
        self.hashes
    }

    /// Hashes that its shares have.
    pub(crate) fn len(&self) -> usize {
        self.shares.iter().map(Share::len).sum()
    }

    /// Where the hashes of a round go, in equal parts that follow each other.
    pub(crate) fn shares(&mut self) -> &mut [Share] {
        &mut self.shares
    }

    pub(crate) fn partitions(&self) -> usize {
        self.cut.partitions()
    }

    /// Sorts the hashes that had no room, when the shares are complete.
    pub(crate) fn finish(&mut self) {
        for share in &mut self.shares {
            let cut = share.cut;
            share.others.sort_by_key(|hash| cut.of(u64::from_le_bytes(*hash)));
        }
    }

    /// The hashes of a partition, in parts, of shares that are [finished](Self::finish).
    pub(crate) fn partition(&self, number: usize) -> impl Iterator<Item = &[[u8; WORD]]> {
        self.shares.iter().flat_map(move |share| share.partition(number))
    }

    /// How many hashes a partition has, in shares that are [finished](Self::finish).
    #[cfg(feature = "std")]
    pub(crate) fn count(&self, number: usize) -> usize {
        self.partition(number).map(<[_]>::len).sum()
    }

    pub(crate) fn clear(&mut self) {
        self.shares.iter_mut().for_each(Share::clear);
    }
}

/// A thread's share of a round, sorted by partition.
#[derive(Debug)]
pub(crate) struct Share {
    cut: Cut,
    /// Room for equally many hashes of each partition, in little-endian order.
    sorted: Memory,
    /// The number of hashes per partition that there is room for.
    room: usize,
    /// From where each partition's hashes end there to where its room does.
    rooms: Vec<Range<usize>>,
    /// Hashes for which there was no room: few, unless somebody chose them.
    others: Vec<[u8; WORD]>,
}

impl Share {
    fn new(cut: Cut, hashes: usize) -> Option<Self> {
        let partitions = cut.partitions();
        // Five standard deviations above the mean.
        let mean = hashes.div_ceil(partitions);
        let room = mean + 5 * mean.isqrt() + WORD;
        let sorted = zeroed(room.checked_mul(partitions)?.checked_mul(WORD)? as u64)?;
        let mut share = Self { cut, sorted, room, rooms: Vec::new(), others: Vec::new() };
        share.rooms.resize(partitions, 0..0);
        share.clear();
        Some(share)
    }

    /// Appends hashes.
    pub(crate) fn push(&mut self, hashes: &[u64]) {
        let start = self.sorted.as_ptr();
        let (words, _) = self.sorted.as_chunks_mut::<WORD>();
        // A copy, which the writes below cannot change.
        let cut = self.cut;
        for &hash in hashes {
            let room = &mut self.rooms[cut.of(hash)];
            if room.start < room.end {
                words[room.start] = hash.to_le_bytes();
                room.start += 1;
                prefetch_from(start, ((room.start + AHEAD) * WORD) as u64);
            } else {
                self.others.push(hash.to_le_bytes());
            }
        }
    }

    /// Where a partition's hashes lie in `sorted`.
    fn place(&self, number: usize) -> Range<usize> {
        number * self.room..self.rooms[number].start
    }

    /// The hashes of a partition, in order: those that had room, then the others.
    fn partition(&self, number: usize) -> [&[[u8; WORD]]; 2] {
        let (words, _) = self.sorted.as_chunks::<WORD>();
        let of = |hash: &[u8; WORD]| self.cut.of(u64::from_le_bytes(*hash));
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

/// Inserts the hashes of a round, and returns those that found no place. The shares are empty then.
pub(super) fn insert<L: TableLayout + Sync>(
    layout: &L,
    bytes: &mut [u8],
    spill: &mut Spill,
    rounds: &mut Rounds,
    max_kicks: u32,
) -> Vec<u64> {
    rounds.finish();
    // Each thread takes a run of partitions, and with it a part of the table that is its own.
    let partitions = rounds.partitions();
    let a_thread = partitions.div_ceil(rounds.shares.len());
    let part_bytes = (a_thread << rounds.cut.shift) * index(layout.segment_bytes());
    let parts = bytes
        .chunks_mut(part_bytes)
        .enumerate()
        .map(|(number, bytes)| (number * a_thread..partitions.min((number + 1) * a_thread), bytes));
    let fill = |(partitions, bytes): (Range<usize>, &mut [u8])| {
        fill(layout, bytes, rounds, partitions, max_kicks)
    };
    let mut all = Vec::new();
    for (refused, spilled) in side_by_side(parts.collect(), fill) {
        all.extend(refused);
        spill.extend(spilled);
    }
    rounds.clear();
    all
}

/// Fills the segments of these partitions, which `bytes` are. Returns the hashes that found no
/// place, and what was spilled.
fn fill<L: TableLayout>(
    layout: &L,
    bytes: &mut [u8],
    rounds: &Rounds,
    partitions: Range<usize>,
    max_kicks: u32,
) -> (Vec<u64>, Vec<(SpillKey, u64)>) {
    let (mut refused, mut search, mut spill) = (Vec::new(), Search::default(), Spill::default());
    let mut overflow = Overflow { search: &mut search, spill: &mut spill, max_kicks };
    let mut left = Vec::new();
    let first_segment = (partitions.start << rounds.cut.shift) as u64;
    for partition in partitions {
        for hashes in rounds.partition(partition) {
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
