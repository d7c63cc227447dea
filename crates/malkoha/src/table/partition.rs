//! Large batches: hashes are first sorted by segment, roughly, so that each segment is filled while
//! it lies in cache. Segments share no memory, so threads fill them side by side.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::addressing::scale;
use crate::geometry::Geometry;
use crate::layout::{Search, TableLayout};
use crate::spill::Spill;
use crate::table::batch;
use crate::threads::side_by_side;

/// A table of fewer bytes lies in cache anyway.
const WORTHWHILE_BYTES: u64 = 2 << 20;
/// Fewer hashes a segment do not pay for bringing the segment into cache.
const WORTHWHILE_HASHES: usize = 512;
/// Hashes a segment sorted at a time: what bounds the memory, at 8 bytes each.
pub(super) const HASHES_PER_SEGMENT: usize = 16 << 10;
/// Partitions at most: each is a stream of writes while sorting.
const MAX_PARTITIONS: u32 = 4096;

/// How a batch is cut up.
pub(super) struct Plan {
    segments: u32,
    segment_bytes: usize,
    /// Successive segments of one partition.
    segments_per_partition: u32,
    /// Hashes sorted at a time.
    round: usize,
    threads: usize,
}

impl Plan {
    /// `None` if cutting up does not pay.
    pub(super) fn new(geometry: &Geometry, hashes: usize, threads: usize) -> Option<Self> {
        let segments = geometry.segments as usize;
        let worthwhile = geometry.table_bytes()? >= WORTHWHILE_BYTES
            && segments > 1
            && hashes / segments >= WORTHWHILE_HASHES;
        worthwhile.then_some(Self {
            segments: geometry.segments,
            segment_bytes: usize::try_from(geometry.segment_bytes()).ok()?,
            segments_per_partition: geometry.segments.div_ceil(MAX_PARTITIONS),
            round: segments.checked_mul(HASHES_PER_SEGMENT)?,
            threads: threads.clamp(1, segments),
        })
    }

    fn partition_of(&self, hash: u64) -> usize {
        // As in `Addressing::probe`. Below 2^32.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let segment = scale(hash >> 32, self.segments.into()) as u32;
        (segment / self.segments_per_partition) as usize
    }

    fn partitions(&self) -> usize {
        self.segments.div_ceil(self.segments_per_partition) as usize
    }
}

/// Inserts all hashes. Calls `refused(i)` for each that found no place; of equal hashes, for the
/// last ones.
pub(super) fn insert<L: TableLayout + Sync>(
    layout: &L,
    (bytes, spill): (&mut [u8], &mut Spill),
    hashes: &[u64],
    max_kicks: u32,
    plan: &Plan,
    mut refused: impl FnMut(usize),
) {
    let shares = plan.round.min(hashes.len()).div_ceil(plan.threads);
    let mut sorted: Vec<Sorted> = (0..plan.threads).map(|_| Sorted::default()).collect();
    for (round, hashes) in hashes.chunks(plan.round).enumerate() {
        let parts = hashes.chunks(shares).zip(&mut sorted).collect();
        side_by_side(parts, |(hashes, sorted)| sorted.sort(hashes, plan));
        let sorted = &sorted[..hashes.len().div_ceil(shares)];
        let rejects = fill(layout, (&mut *bytes, &mut *spill), sorted, max_kicks, plan);
        locate(hashes, &rejects, |i| refused(round * plan.round + i));
    }
}

/// A thread's share of a round, sorted by partition.
#[derive(Default)]
struct Sorted {
    hashes: Vec<u64>,
    /// Where each partition ends.
    ends: Vec<usize>,
}

impl Sorted {
    fn sort(&mut self, hashes: &[u64], plan: &Plan) {
        self.hashes.resize(hashes.len(), 0);
        self.ends.clear();
        self.ends.resize(plan.partitions(), 0);
        for &hash in hashes {
            self.ends[plan.partition_of(hash)] += 1;
        }
        let mut start = 0;
        for end in &mut self.ends {
            (start, *end) = (start + *end, start);
        }
        for &hash in hashes {
            let end = &mut self.ends[plan.partition_of(hash)];
            self.hashes[*end] = hash;
            *end += 1;
        }
    }

    fn partition(&self, number: usize) -> &[u64] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.hashes[start..self.ends[number]]
    }
}

/// Fills the table from the shares of a round, in their order. Answers with those that found no
/// place.
fn fill<L: TableLayout + Sync>(
    layout: &L,
    (bytes, spill): (&mut [u8], &mut Spill),
    shares: &[Sorted],
    max_kicks: u32,
    plan: &Plan,
) -> Vec<u64> {
    // Each thread takes a run of partitions, and with it a part of the table that is its own.
    let a_thread = plan.partitions().div_ceil(plan.threads);
    let part_bytes = a_thread * plan.segments_per_partition as usize * plan.segment_bytes;
    let mut parts = Vec::new();
    for (number, bytes) in bytes.chunks_mut(part_bytes).enumerate() {
        let partitions = number * a_thread..plan.partitions().min((number + 1) * a_thread);
        parts.push((partitions, bytes));
    }
    let fill_part = |(partitions, bytes): (core::ops::Range<usize>, &mut [u8])| {
        let first_segment = (partitions.start * plan.segments_per_partition as usize) as u64;
        let (mut rejects, mut search) = (Vec::new(), Search::default());
        let mut spill = Spill::default();
        // A key that finds no room is searched for at once, since the segment is in cache: so it
        // does not matter where a share ends.
        let hashes =
            partitions.flat_map(|partition| shares.iter().map(move |s| s.partition(partition)));
        for hashes in hashes {
            let range = (first_segment, max_kicks);
            let room = (&mut search, &mut spill);
            batch::insert(layout, bytes, room, hashes, |_| 0, range, |i| rejects.push(hashes[i]));
        }
        (rejects, spill.shifted(first_segment))
    };
    let mut all = Vec::new();
    for (rejects, spilled) in side_by_side(parts, fill_part) {
        all.extend(rejects);
        spill.extend(spilled.iter());
    }
    all
}

/// Calls `each(i)` for as many positions of each reject as it was rejected times.
fn locate(hashes: &[u64], rejects: &[u64], mut each: impl FnMut(usize)) {
    if rejects.is_empty() {
        return;
    }
    let mut times: BTreeMap<u64, usize> = BTreeMap::new();
    for &hash in rejects {
        *times.entry(hash).or_default() += 1;
    }
    for (i, hash) in hashes.iter().enumerate().rev() {
        if let Some(left) = times.get_mut(hash).filter(|left| **left > 0) {
            *left -= 1;
            each(i);
        }
    }
}
