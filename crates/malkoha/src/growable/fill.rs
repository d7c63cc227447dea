//! Fills a segment that lies in cache. Looks at the buckets of a group of keys together, and then
//! inserts them one by one.

use super::codec::Codec;
use super::grid::KeyBits;
use super::record::Home;
use super::segment::{Position, Segment, Slot, Spot, segment_bytes};
use super::table::kicks;
use crate::arch::vectorized;
use crate::layout::Search;
use crate::layout::four_lanes::{FourLanes, SLOTS};
use crate::ring::GROUP;

/// A hash in little-endian order, as partitions have them.
type Hash = [u8; 8];

/// Keys that go into one segment.
pub(super) struct Filling<'a, const N: usize> {
    segment: Segment<'a, N>,
    home: Home,
    bytes: &'a mut [u8],
    /// Keys that it takes before it should grow.
    room: u64,
    /// Those that got slots.
    pub(super) count: u32,
    /// Keys that searches found no room for.
    failures: u32,
    /// The hashes that matched what is there, or found no slot, in their order.
    pub(super) left: Vec<u64>,
}

/// The buckets of a group of keys, before any of them goes in.
#[derive(Default)]
struct Found {
    paths: [u64; GROUP],
    fingerprints: [u64; GROUP],
    places: [[u64; GROUP]; 2],
    buckets: [[u64; GROUP]; 2],
    are_in: [bool; GROUP],
    lens: [[u32; GROUP]; 2],
}

/// Which buckets may have changed since a group was looked at, by the last bits of their numbers.
type Changed = [bool; 256];

#[inline(always)]
fn last_bits(bucket: u64) -> usize {
    (bucket & 0xff) as usize
}

/// Whether a bucket has what begins a fingerprint, and the occupied lanes of each.
#[inline(always)]
fn compare<const N: usize>(
    codec: &Codec<N>,
    words: [FourLanes<N>; 2],
    fingerprint: u64,
) -> (bool, [u32; 2]) {
    let is_in = codec.contains(words[0], words[1], codec.broadcast(fingerprint));
    (is_in, [codec.len(words[0]), codec.len(words[1])])
}

vectorized! {
    /// # Safety
    ///
    /// `bytes` are the segment's.
    unsafe fn look[const N: usize](
        segment: &Segment<'_, N>,
        bytes: &[u8],
        depth: u32,
        hashes: &[Hash; GROUP],
        found: &mut Found,
    ) {
        let (codec, grid) = (segment.codec, segment.form.grid);
        for (i, hash) in hashes.iter().enumerate() {
            let key = KeyBits::of_many(u64::from_le_bytes(*hash));
            found.paths[i] = key.path;
            found.fingerprints[i] = key.fingerprint(depth, codec.bits);
            for at in 0..2 {
                found.places[at][i] = key.places[at];
                found.buckets[at][i] = grid.bucket(key.places[at], key.mix);
            }
        }
        // SAFETY: as the caller promises.
        unsafe {
            if codec.is_short() {
                compare_all::<true, N>(segment, bytes, found);
            } else {
                compare_all::<false, N>(segment, bytes, found);
            }
        }
    }
}

/// # Safety
///
/// `bytes` are the segment's, and the buckets too.
#[inline(always)]
unsafe fn compare_all<const SHORT: bool, const N: usize>(
    segment: &Segment<'_, N>,
    bytes: &[u8],
    found: &mut Found,
) {
    let (codec, start) = (segment.codec, bytes.as_ptr());
    for i in 0..GROUP {
        let [first, second] = [found.buckets[0][i], found.buckets[1][i]];
        // SAFETY: a segment has 16 bytes behind its buckets, so as many can be read at each lane.
        let words = unsafe {
            [
                FourLanes::read::<SHORT>(start, segment.bit(first), codec.width),
                FourLanes::read::<SHORT>(start, segment.bit(second), codec.width),
            ]
        };
        let (is_in, lens) = compare(codec, words, found.fingerprints[i]);
        found.are_in[i] = is_in;
        found.lens[0][i] = lens[0];
        found.lens[1][i] = lens[1];
    }
}

impl<'a, const N: usize> Filling<'a, N> {
    pub(super) fn new(segment: Segment<'a, N>, home: Home, bytes: &'a mut [u8], room: u64) -> Self {
        assert!(bytes.len() >= segment_bytes(segment.codec.width, segment.form));
        Self { segment, home, bytes, room, count: 0, failures: 0, left: Vec::new() }
    }

    /// Puts hashes into free slots. Skips those of other segments, if `are_mixed`.
    // Inlined, it runs out of registers: 3 % more instructions per key of a batch.
    #[inline(never)]
    pub(super) fn fill(&mut self, hashes: &[Hash], are_mixed: bool, search: &mut Search) {
        let Home { depth, path, .. } = self.home;
        let mut found = Found::default();
        for hashes in hashes.chunks(GROUP) {
            let mut padded = [[0; 8]; GROUP];
            padded[..hashes.len()].copy_from_slice(hashes);
            // SAFETY: `new` asserted their length.
            unsafe { look(&self.segment, self.bytes, depth, &padded, &mut found) };
            let mut changed = [false; 256];
            for (i, hash) in hashes.iter().enumerate() {
                if are_mixed && found.paths[i] >> (u64::BITS - depth) != path {
                    continue;
                }
                if !self.put(&found, i, &mut changed, search) {
                    self.left.push(u64::from_le_bytes(*hash));
                }
            }
        }
    }

    /// Puts key number `i` of a group into a free slot, unless it matches what is there.
    #[inline(always)]
    fn put(&mut self, found: &Found, i: usize, changed: &mut Changed, search: &mut Search) -> bool {
        let (segment, fingerprint) = (&self.segment, found.fingerprints[i]);
        let buckets = [found.buckets[0][i], found.buckets[1][i]];
        let (is_in, lens) = if buckets.iter().any(|&bucket| changed[last_bits(bucket)]) {
            let words = buckets.map(|bucket| segment.load(self.bytes, bucket));
            compare(segment.codec, words, fingerprint)
        } else {
            (found.are_in[i], [found.lens[0][i], found.lens[1][i]])
        };
        if is_in || u64::from(self.count) >= self.room {
            return false;
        }
        let emptier = usize::from(lens[1] < lens[0]);
        if lens[emptier] < SLOTS {
            let at = Position { bucket: buckets[emptier], lane: lens[emptier] };
            let place = found.places[emptier][i];
            segment.fill(self.bytes, at, Slot { fingerprint, place, value: 0 });
            changed[last_bits(at.bucket)] = true;
        } else {
            let places = [found.places[0][i], found.places[1][i]];
            let spot = Spot { places, buckets, fingerprint };
            let kicks = kicks(self.failures);
            if !segment.insert(self.bytes, search, &spot, 0, kicks) {
                self.failures += 1;
                return false;
            }
            *changed = [true; 256];
        }
        self.count += 1;
        true
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::growable::grid::Grid;
    use crate::growable::segment::Form;
    use proptest::prelude::*;

    /// The same, key by key.
    fn one_by_one<const N: usize>(
        segment: &Segment<'_, N>,
        home: Home,
        bytes: &mut [u8],
        room: u64,
        hashes: &[Hash],
    ) -> (u32, Vec<u64>) {
        let (mut search, mut count, mut failures, mut left) = (Search::new(), 0, 0, Vec::new());
        for hash in hashes {
            let hash = u64::from_le_bytes(*hash);
            let key = KeyBits::of(hash);
            if home.depth > 0 && key.path >> (u64::BITS - home.depth) != home.path {
                continue;
            }
            let fingerprint = key.fingerprint(home.depth, segment.codec.bits);
            let spot = segment.spot(key.places[0], fingerprint);
            let words = spot.buckets.map(|bucket| segment.load(bytes, bucket));
            let wanted = segment.codec.broadcast(fingerprint);
            let is_in = segment.codec.contains(words[0], words[1], wanted);
            let inserted = !is_in && u64::from(count) < room && {
                let found = segment.insert(bytes, &mut search, &spot, 0, kicks(failures));
                failures += u32::from(!found);
                found
            };
            count += u32::from(inserted);
            if !inserted {
                left.push(hash);
            }
        }
        (count, left)
    }

    fn agrees<const N: usize>(
        codec: &Codec<N>,
        buckets: u32,
        depth: u32,
        hashes: &[Hash],
        room: u64,
    ) {
        let form = Form { grid: Grid::new(buckets), value_bits: 0 };
        let home = Home { depth, path: u64::from(depth > 0) };
        let segment = Segment::new(codec, form);
        let [mut bytes, mut expected] = [segment.zeroed(), segment.zeroed()];
        let mut filling = Filling::new(segment, home, &mut bytes, room);
        let mut search = Search::new();
        // In parts, as partitions have them.
        for hashes in hashes.chunks(hashes.len() / 3) {
            filling.fill(hashes, depth > 0, &mut search);
        }
        let found = (filling.count, filling.left);
        let agree = found == one_by_one(&segment, home, &mut expected, room, hashes);
        assert!(agree && bytes == expected, "{buckets} buckets of {} bits", codec.bits);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 24 }))]
        /// Small segments beyond what they hold, large ones with keys that come again.
        #[test]
        fn groups_are_keys_one_by_one(
            bits in 9..=30_u32, depth in 0..=1_u32, few in 1..200_u32, many in 4096..=8192_u32,
            seed: u64, times in 1..4_u64, room in 1..2000_u64,
        ) {
            let number = if cfg!(miri) { 100 } else { 3000 };
            let hashes: Vec<Hash> = (0..number)
                .map(|i| (seed ^ (i / times)).wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(32))
                .map(|hash| hash.wrapping_mul(0xff51_afd7_ed55_8ccd).to_le_bytes())
                .collect();
            for (buckets, room) in [(few, room), (few, u64::MAX), (many, u64::MAX)] {
                // A table of fewer buckets than places is one segment.
                let depth = if buckets < 4096 { 0 } else { depth };
                agrees(&Codec::<2>::new(bits), buckets, depth, &hashes, room);
                if bits <= 12 {
                    agrees(&Codec::<1>::new(bits), buckets, depth, &hashes, room);
                }
            }
        }
    }
}
