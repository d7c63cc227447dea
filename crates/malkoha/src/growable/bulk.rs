//! Large batches: hashes are sorted by path, so that each segment is filled while it lies in cache.
//! Segments share no memory, so threads fill them side by side.

use std::ops::Range;

use super::codec::with_codec;
use super::fill::Filling;
use super::grid::MIX_BITS;
use super::record::{Home, Record};
use super::sample::{New, is_large, keys_with};
use super::segment::Segment;
use super::table::Growing;
use crate::addressing::{MIX, index};
use crate::layout::Search;
use crate::table::Rounds;
use crate::table::batch::value_at;
use crate::table::traits::{Fill, Lookup};
use crate::threads::side_by_side;

/// The factor of a hash that gives the path: see [`KeyBits`](super::grid::KeyBits).
const PATH: u64 = MIX << MIX_BITS;
/// With fewer hashes per segment, bringing the segment into cache does not pay.
const WORTHWHILE_HASHES: usize = 1024;
/// Bins at most, as a power of two: each is a stream of writes while sorting.
const MAX_BIN_BITS: u32 = 12;
/// Segments of a bin, at most, as a power of two: each reads all hashes of the bin.
const MAX_SHARED_BITS: u32 = 4;
/// New rounds are made when there are more than this many times the segments that they were made
/// for: every segment of a bin reads all hashes of it.
const OUTGROWN: usize = 4;

/// A segment, of the thread that fills it.
struct Task<'a> {
    number: usize,
    record: Record,
    bytes: &'a mut [u8],
    /// Keys that it takes before it should grow.
    room: u64,
    /// Those whose hashes it takes.
    bins: Range<usize>,
}

/// The result of filling the segment of this number: keys that got slots, and the hashes that
/// matched what is there, or found no slot, in their order.
type Filled = (usize, u32, Vec<u64>);

/// How this many hashes are best sorted for a tree of this many segments; `None` if that does not
/// pay. `depth` returns the depth of the deepest segment, or `None` if hashes cannot be sorted.
pub(crate) fn sorted(
    segments: usize,
    hashes: usize,
    threads: usize,
    depth: impl FnOnce() -> Option<u32>,
) -> Option<Rounds> {
    if hashes / segments < WORTHWHILE_HASHES {
        return None;
    }
    let depth = depth().filter(|&depth| depth <= MAX_BIN_BITS + MAX_SHARED_BITS)?;
    Rounds::by_beginning(PATH, depth.min(MAX_BIN_BITS), segments, hashes, threads)
}

/// Whether a tree of this many segments has grown so much since these rounds were made that new
/// ones would be much faster.
pub(crate) fn has_outgrown(segments: usize, rounds: &Rounds) -> bool {
    segments > OUTGROWN * rounds.segments()
}

/// The bins of 2^`bits` that a segment's keys belong to.
fn bins_of(Home { depth, path, .. }: Home, bits: u32) -> Range<usize> {
    let (shared, deeper) = (depth.saturating_sub(bits), bits.saturating_sub(depth));
    let first = index(path >> shared << deeper);
    first..first + (1 << deeper)
}

impl Fill for Growing {
    /// Makes room if that saves many rebuilds. Where the system does not give the memory, the table
    /// grows as the keys come.
    fn make_room(&mut self, hashes: usize, hash: &mut dyn FnMut(usize) -> Option<u64>) {
        // Maps insert batches in their order.
        if self.shape.value_bits > 0 || !is_large(hashes, self.records.len()) {
            return;
        }
        let (len, room) = (self.occupied, self.room_for());
        let keys = keys_with(hashes as f64, len, room).and_then(|_| {
            let new = New::of(hashes, 0, hash, |some, found| self.contains_batch(some, found));
            keys_with(new.keys, len, room)
        });
        if let Some(keys) = keys {
            self.make_room_to(keys);
        }
    }

    fn rounds(&self, hashes: usize, threads: usize) -> Option<Rounds> {
        sorted(self.segments.len(), hashes, threads, || self.sorted_depth())
    }

    fn has_outgrown(&self, rounds: &Rounds) -> bool {
        has_outgrown(self.segments.len(), rounds)
    }

    fn insert_round(&mut self, rounds: &mut Rounds) -> Vec<u64> {
        rounds.finish();
        let threads = rounds.buffers().len();
        self.insert_bins(rounds, 0..rounds.bins(), threads);
        rounds.clear();
        Vec::new()
    }

    fn insert_batch(&mut self, hashes: &[u64], values: &[u64]) -> Vec<usize> {
        self.insert_stream(hashes, values, |table, i, _, inserted| {
            if !inserted {
                table.insert_or_grow(hashes[i], value_at(values, i));
            }
        });
        Vec::new()
    }
}

impl Growing {
    /// The depth of the deepest segment; `None` if hashes cannot be sorted for this table: that
    /// loses their positions, which values need.
    pub(crate) fn sorted_depth(&self) -> Option<u32> {
        (self.shape.value_bits == 0).then(|| self.directory.depth())
    }

    /// Inserts the hashes of these bins of a round, whose buffers are finished. The table does
    /// not depend on the number of threads.
    pub(crate) fn insert_bins(&mut self, rounds: &Rounds, bins: Range<usize>, threads: usize) {
        let bits = rounds.bins().ilog2();
        let hashes: usize = bins.clone().map(|bin| rounds.count(bin)).sum();
        let first = self.occupied + hashes as u64 <= self.capacity;
        let rooms: Vec<u64> =
            (0..self.records.len()).map(|number| self.room(number, first)).collect();
        let segments = self.segments.all_mut().into_iter().zip(&self.records).zip(rooms);
        let tasks = segments.enumerate().filter_map(|(number, ((bytes, &record), room))| {
            let all = bins_of(record.home, bits);
            let bins = all.start.max(bins.start)..all.end.min(bins.end);
            let task = Task { number, record, bytes, room, bins };
            (!task.bins.is_empty()).then_some(task)
        });
        let mut tasks: Vec<Task<'_>> = tasks.collect();
        let shape = &self.shape;
        let fill = |tasks: Vec<Task<'_>>| -> Vec<Filled> {
            let mut search = Search::new();
            let fill = |task: Task<'_>| {
                let Task { number, record, bytes, room, bins } = task;
                let Record { home, form, .. } = record;
                let hashes = bins.flat_map(|bin| rounds.bin(bin));
                with_codec!(record.any_codec(shape), codec => {
                    let segment = Segment::new(codec, form);
                    let mut filling = Filling::new(segment, home, bytes, room);
                    hashes.for_each(|hashes| filling.fill(hashes, home.depth > bits, &mut search));
                    (number, filling.count, filling.left)
                })
            };
            tasks.into_iter().map(fill).collect()
        };
        // Segments that read the same bins follow each other, usually on one thread.
        tasks.sort_unstable_by_key(|task| task.bins.start);
        let a_thread = tasks.len().div_ceil(threads).max(1);
        let (parts, mut tasks) = (tasks.len().div_ceil(a_thread), tasks.into_iter());
        let parts = (0..parts).map(|_| tasks.by_ref().take(a_thread).collect()).collect();
        let mut filled: Vec<Filled> = side_by_side(parts, fill).into_iter().flatten().collect();
        // The remaining hashes go in by segment, whichever thread filled it.
        filled.sort_unstable_by_key(|&(number, ..)| number);
        for &(number, count, _) in &filled {
            let record = &mut self.records[number];
            record.len += count;
            let known = record.home.depth + self.shape.widths.at(record.home.depth);
            self.known[known as usize] += u64::from(count);
            self.occupied += u64::from(count);
            self.len += u64::from(count);
        }
        for (_, _, left) in filled {
            self.insert_batch(&left, &[]);
        }
    }

    /// Keys that a segment takes before it should grow; none if it has some without a slot, which
    /// every key must be compared with.
    fn room(&self, number: usize, first: bool) -> u64 {
        let Record { form, stashed, .. } = self.records[number];
        let full = self.shape.full(form.grid.buckets(), first);
        if stashed > 0 { 0 } else { full.saturating_sub(self.keys_of(number)) }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::GrowableCuckooFilter;
    use crate::table::traits::{Fill, Lookup};

    /// As when the sample was misleading: each of the segments that came would read all hashes.
    #[test]
    #[cfg_attr(miri, ignore = "inserts 400,000 keys; what loads without checks is in `fill`")]
    fn a_table_that_grows_beyond_what_was_foreseen_wants_other_rounds() {
        let mut table = GrowableCuckooFilter::with_capacity(1_000, 0.01).unwrap().table;
        let hashes: Vec<u64> =
            (1..400_000).map(|n: u64| n.wrapping_mul(0x9fb2_1c65_1e98_df25)).collect();
        let mut rounds = table.rounds(hashes.len(), 1).unwrap();
        let size = rounds.hashes();
        let inserted = hashes.chunks(size).take_while(|chunk| {
            rounds.buffers()[0].push(chunk);
            table.insert_round(&mut rounds);
            !table.has_outgrown(&rounds)
        });
        let inserted = inserted.count() + 1;
        assert!((2..10).contains(&inserted), "{inserted}");
        assert!(rounds.bins() < table.rounds(1 << 20, 1).unwrap().bins());
        assert!(hashes[..inserted * size].iter().all(|&hash| table.contains(hash)));
    }
}
