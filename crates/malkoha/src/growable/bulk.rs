//! Large batches: hashes are sorted by path, so that each segment is filled while it lies in cache.
//! Segments share no memory, so threads fill them side by side.

use super::directory::Home;
use super::kernel::with_codec;
use super::segment::{Position, Segment, Slot};
use super::shape::{LANES, MIX_BITS, full};
use super::strings::Strings;
use super::table::{Growing, MAX_KICKS, Record};
use crate::addressing::{MIX, Probe};
use crate::layout::bits::Word;
use crate::layout::{self, Search};
use crate::table::Rounds;
use crate::table::traits::Change;
use crate::threads::side_by_side;

/// What a hash is multiplied by to get the path: see [`Strings::key`].
const PATH: u64 = MIX << MIX_BITS;
/// Fewer hashes a segment do not pay for bringing the segment into cache.
const WORTHWHILE_HASHES: usize = 1024;
/// Partitions at most, as a power of two: each is a stream of writes while sorting.
const MAX_PARTITION_BITS: u32 = 12;
/// Segments of a partition, at most, as a power of two: each reads all hashes of the partition.
const MAX_SHARED_BITS: u32 = 4;

/// A segment, of the thread that fills it.
struct Task<'a> {
    number: usize,
    record: Record,
    bytes: &'a mut [u8],
    /// Keys that it takes before it should grow.
    room: u64,
}

/// What was done to a segment.
struct Filled {
    number: usize,
    /// Keys that got slots.
    count: u32,
    /// The hashes that matched what is there, or found no slot, in their order.
    left: Vec<u64>,
}

impl Growing {
    /// How so many hashes are sorted; `None` if that does not pay.
    pub(super) fn sorted(&self, hashes: usize, threads: usize) -> Option<Rounds> {
        let (segments, depth) = (self.segments.len(), self.directory.depth());
        let is_worthwhile = hashes / segments >= WORTHWHILE_HASHES
            && depth <= MAX_PARTITION_BITS + MAX_SHARED_BITS
            // Sorting hashes loses their positions, which values need.
            && self.shape.value_bits == 0
            && self.strings.is_one_tree();
        let bits = depth.min(MAX_PARTITION_BITS);
        is_worthwhile.then(|| Rounds::by_beginning(PATH, bits, segments, hashes, threads))?
    }

    /// Inserts the hashes of a round. The table does not depend on the number of threads.
    pub(super) fn insert_sorted(&mut self, rounds: &mut Rounds) {
        rounds.finish();
        let bits = rounds.partitions().ilog2();
        // Of one unit are the segments and the partitions whose paths begin alike.
        let unit_bits = self.records.iter().map(|record| record.home.depth).min().unwrap_or(0);
        let unit_bits = unit_bits.min(bits);
        let units = 1_usize << unit_bits;
        let a_thread = units.div_ceil(rounds.shares().len());
        let first = self.occupied + rounds.len() as u64 <= self.capacity;
        let rooms: Vec<u64> =
            (0..self.records.len()).map(|number| self.room(number, first)).collect();
        let mut parts: Vec<Vec<Task<'_>>> = Vec::new();
        parts.resize_with(units.div_ceil(a_thread), Vec::new);
        let segments = self.segments.all_mut().into_iter().zip(&self.records).zip(rooms);
        for (number, ((bytes, &record), room)) in segments.enumerate() {
            let Home { depth, path, .. } = record.home;
            // Below the number of units.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            let unit = (path >> (depth - unit_bits)) as usize;
            parts[unit / a_thread].push(Task { number, record, bytes, room });
        }
        let shape = &self.shape;
        let fill = |tasks: Vec<Task<'_>>| -> Vec<Filled> {
            let mut search = Search::new();
            let fill = |Task { number, record, bytes, room }: Task<'_>| {
                let mut left = Vec::new();
                let count = with_codec!(record.kernel(shape), codec => {
                    let segment = Segment::new(codec, record.form, record.home);
                    fill(&segment, record.home, (bytes, room), rounds, &mut search, &mut left)
                });
                Filled { number, count, left }
            };
            tasks.into_iter().map(fill).collect()
        };
        let mut filled: Vec<Filled> = side_by_side(parts, fill).into_iter().flatten().collect();
        rounds.clear();
        // What is left goes in by segment, whichever thread filled it.
        filled.sort_unstable_by_key(|filled| filled.number);
        for &Filled { number, count, .. } in &filled {
            let record = &mut self.records[number];
            record.len += count;
            let known = record.home.depth + self.shape.widths.at(record.home.depth);
            self.known[known as usize] += u64::from(count);
            self.occupied += u64::from(count);
            self.len += u64::from(count);
        }
        for Filled { left, .. } in filled {
            self.insert_batch(&left, |_| 0, |_| {});
        }
    }

    /// Keys that a segment takes before it should grow; none if it has some without a slot, which
    /// every key must be compared with.
    fn room(&self, number: usize, first: bool) -> u64 {
        let Record { form, stashed, .. } = self.records[number];
        let full = full(form.grid.buckets(), first);
        if stashed > 0 { 0 } else { full.saturating_sub(self.keys_of(number)) }
    }
}

/// Puts hashes of a segment into free slots, up to its room, and returns how many. Those that match
/// what is there, or find no slot, are left.
fn fill<W: Word>(
    segment: &Segment<'_, W>,
    home: Home,
    (bytes, room): (&mut [u8], u64),
    rounds: &Rounds,
    search: &mut Search,
    left: &mut Vec<u64>,
) -> u32 {
    let bits = rounds.partitions().ilog2();
    let (codec, grid) = (segment.codec, segment.form.grid);
    let (shared, deeper) = (home.depth.saturating_sub(bits), bits.saturating_sub(home.depth));
    let first = home.path >> shared << deeper;
    let mut count = 0;
    for partition in first..first + (1 << deeper) {
        // Below the number of partitions.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        for &hash in rounds.partition(partition as usize).flatten() {
            let hash = u64::from_le_bytes(hash);
            let key = Strings::ONE_TREE.key::<true>(hash);
            // Others of the partition belong to other segments.
            if shared > 0 && key.path >> (u64::BITS - home.depth) != home.path {
                continue;
            }
            let buckets = key.places.map(|place| grid.bucket(place, key.mix));
            let fingerprint = Strings::fingerprint::<true>(key.string, home.depth, codec.bits);
            let words = buckets.map(|bucket| segment.load(bytes, bucket));
            let is_in = codec.contains(words[0], words[1], codec.broadcast(fingerprint));
            if is_in || u64::from(count) >= room {
                left.push(hash);
                continue;
            }
            let lens = words.map(|word| codec.len(word));
            let emptier = usize::from(lens[1] < lens[0]);
            if lens[emptier] < LANES {
                let at = Position { bucket: buckets[emptier], lane: lens[emptier] };
                segment.set(bytes, at, Slot { fingerprint, place: key.places[emptier], value: 0 });
            } else {
                let [first, second] = key.places;
                let probe = Probe { segment: 0, first, second, fingerprint };
                if !layout::insert_with_moves(segment, bytes, search, &probe, 0, MAX_KICKS) {
                    left.push(hash);
                    continue;
                }
            }
            count += 1;
        }
    }
    count
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::GrowableCuckooFilter;
    use crate::table::traits::Change;

    /// As when the sample told of few keys: each of the segments that came would read all hashes.
    #[test]
    fn a_table_that_grows_beyond_what_was_foreseen_wants_other_rounds() {
        let mut table = GrowableCuckooFilter::with_capacity(1_000, 0.01).unwrap().table;
        let hashes: Vec<u64> =
            (1..400_000).map(|n: u64| n.wrapping_mul(0x9fb2_1c65_1e98_df25)).collect();
        let mut rounds = table.rounds(hashes.len(), 1).unwrap();
        let size = rounds.hashes();
        let inserted = hashes.chunks(size).take_while(|chunk| {
            rounds.shares()[0].push(chunk);
            table.insert_round(&mut rounds);
            !table.has_outgrown(&rounds)
        });
        let inserted = inserted.count() + 1;
        assert!((2..10).contains(&inserted), "{inserted}");
        assert!(rounds.partitions() < table.rounds(1 << 20, 1).unwrap().partitions());
        assert!(hashes[..inserted * size].iter().all(|&hash| table.contains(hash)));
    }
}
