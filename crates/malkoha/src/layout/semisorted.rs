//! Semi-sorted buckets (paper, section 5.2): the order of a bucket's four fingerprints means
//! nothing, and not storing it saves one bit per fingerprint.
//!
//! The four fingerprints are kept sorted. Their top nibbles are then one of 3876 non-decreasing
//! sequences, and the number of that sequence takes 12 bits instead of 16. The lower bits of each
//! follow as they are. Empty slots are fingerprint 0 and come first.

use crate::addressing::{Addressing, Aim, Probe};
use crate::geometry::{CODE_BITS, Geometry, Layout, semi_sorted_bits};
use crate::layout::bits::{Word, load_at, split};
use crate::layout::traits::{Placement, Relocate, TableLayout, relocate_between_buckets};

const LANES: usize = 4;
/// Non-decreasing sequences of 4 nibbles: C(16 + 4 - 1, 4).
const SEQUENCES: usize = 3876;

/// `CHOOSE[k][n]` is C(n + k, k + 1): the number of non-decreasing sequences of `k + 1` nibbles
/// below `n`. The sequences are numbered in order of their last nibble, then the one before.
const CHOOSE: [[u16; 16]; LANES] = {
    let mut table = [[0; 16]; LANES];
    let mut n = 1;
    while n < 16 {
        table[0][n as usize] = n;
        let mut k = 1;
        while k < LANES {
            table[k][n as usize] = table[k][n as usize - 1] + table[k - 1][n as usize];
            k += 1;
        }
        n += 1;
    }
    table
};

/// The nibbles of each sequence, the least one lowest. It has 4096 entries, so a 12-bit index needs
/// no check: numbers that no bucket has decode to some nibbles too.
static NIBBLES: [u16; 1 << CODE_BITS] = {
    let mut table = [0; 1 << CODE_BITS];
    let mut code = 0;
    let mut d = 0;
    while d < 16 {
        let mut c = 0;
        while c <= d {
            let mut b = 0;
            while b <= c {
                let mut a = 0;
                while a <= b {
                    table[code] = a | b << 4 | c << 8 | d << 12;
                    code += 1;
                    a += 1;
                }
                b += 1;
            }
            c += 1;
        }
        d += 1;
    }
    assert!(code == SEQUENCES);
    table
};

/// A bucket's fingerprints, ascending.
type Bucket = [u64; LANES];

#[derive(Clone, Copy, Debug)]
pub(crate) struct SemiSorted<W> {
    addressing: Addressing,
    segment_bytes: u64,
    bucket_bits: u32,
    /// Bits of a fingerprint below its top nibble.
    low_bits: u32,
    mask: W,
}

impl<W: Word> SemiSorted<W> {
    /// `None` if a bucket of this geometry can straddle two words.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        debug_assert!(geometry.layout == Layout::SemiSorted && geometry.value_bits == 0);
        let bucket_bits = semi_sorted_bits(geometry.fingerprint_bits);
        // A bucket is a whole number of nibbles.
        let furthest_shift = if bucket_bits.is_multiple_of(8) { 0 } else { 4 };
        (bucket_bits + furthest_shift <= W::BITS).then(|| Self {
            addressing: Addressing::new(
                geometry.segments,
                geometry.places,
                geometry.fingerprint_bits,
            ),
            segment_bytes: geometry.segment_bytes(),
            bucket_bits,
            low_bits: geometry.fingerprint_bits - 4,
            mask: W::ones(bucket_bits),
        })
    }

    #[inline(always)]
    fn load(&self, bytes: &[u8], base: usize, place: u64) -> Bucket {
        let (at, shift) = split(base, self.offset(place));
        self.decode(W::load(bytes, at) >> shift)
    }

    /// The fingerprints in a bucket's word; bits above the bucket are arbitrary.
    #[inline(always)]
    fn decode(&self, word: W) -> Bucket {
        // 12 bits index 4096 entries.
        let nibbles = NIBBLES[(word.low() & 0xfff) as usize];
        let low_mask = u64::ones(self.low_bits);
        let mut lows = word >> CODE_BITS;
        let mut bucket = [0; LANES];
        for (lane, fingerprint) in bucket.iter_mut().enumerate() {
            let nibble = u64::from(nibbles >> (4 * lane)) & 15;
            *fingerprint = (nibble << self.low_bits) | (lows.low() & low_mask);
            lows = lows >> self.low_bits;
        }
        bucket
    }

    #[inline(always)]
    fn store(&self, bytes: &mut [u8], base: usize, place: u64, bucket: Bucket) {
        let [a, b, c, d] = bucket;
        let nibble = |fingerprint: u64| (fingerprint >> self.low_bits & 15) as usize;
        let code = CHOOSE[0][nibble(a)]
            + CHOOSE[1][nibble(b)]
            + CHOOSE[2][nibble(c)]
            + CHOOSE[3][nibble(d)];
        let low_mask = u64::ones(self.low_bits);
        let word = [d, c, b, a].iter().fold(W::ZERO, |word, fingerprint| {
            (word << self.low_bits) | W::from_u64(fingerprint & low_mask)
        });
        let word = (word << CODE_BITS) | W::from_u64(code.into());
        let (at, shift) = split(base, self.offset(place));
        let rest = W::load(bytes, at) & !(self.mask << shift);
        (rest | (word << shift)).store(bytes, at);
    }

    #[inline(always)]
    fn matches(&self, bucket: Bucket, fingerprint: u64) -> u32 {
        bucket.iter().map(|&lane| u32::from(lane == fingerprint)).sum()
    }

    /// Puts a fingerprint into a bucket that has an empty slot.
    #[inline(always)]
    fn fill(&self, bytes: &mut [u8], base: usize, place: u64, bucket: Bucket, new: u64) {
        debug_assert_eq!(bucket[0], 0);
        // The empty slot goes, and what is less than the new one moves down by a slot.
        let [_, b, c, d] = bucket;
        let bucket = [b.min(new), b.max(c.min(new)), c.max(d.min(new)), d.max(new)];
        self.store(bytes, base, place, bucket);
    }

    /// Takes a fingerprint out of a bucket, if it is there.
    #[inline(always)]
    fn take(&self, bytes: &mut [u8], base: usize, place: u64, bucket: Bucket, old: u64) -> bool {
        let is_there = self.matches(bucket, old) != 0;
        if is_there {
            // Fingerprints below the old one move up by a slot, and leave the first one empty.
            let [a, b, c, d] = bucket;
            let moved = |below: u64, own: u64| if below < old { below } else { own };
            self.store(bytes, base, place, [0, moved(a, b), moved(b, c), moved(c, d)]);
        }
        is_there
    }
}

impl<W: Word> Relocate for SemiSorted<W> {
    relocate_between_buckets!();

    #[inline(always)]
    fn offset(&self, place: u64) -> u64 {
        place * u64::from(self.bucket_bits)
    }

    #[inline(always)]
    unsafe fn has_room(&self, bytes: &[u8], place: u64) -> bool {
        // SAFETY: the place is a bucket of this table, and behind the last one there are tail
        // bytes for the rest of the word.
        let word: W = unsafe { load_at(bytes, self.offset(place)) };
        self.decode(word)[0] == 0
    }

    #[inline(always)]
    fn for_each_target(&self, bytes: &[u8], place: u64, mut each: impl FnMut(u64)) {
        for fingerprint in self.load(bytes, 0, place) {
            each(self.addressing.alternate(place, fingerprint));
        }
    }

    fn relocate(&self, bytes: &mut [u8], base: usize, place: u64, choice: usize, to: u64) {
        let bucket = self.load(bytes, base, place);
        let moving = bucket[choice];
        self.take(bytes, base, place, bucket, moving);
        self.fill(bytes, base, to, self.load(bytes, base, to), moving);
    }

    fn put(&self, bytes: &mut [u8], probe: &Probe, candidate: usize, _value: u64) {
        let (base, place) = (self.base(probe.segment), self.candidates(probe)[candidate]);
        let bucket = self.load(bytes, base, place);
        self.fill(bytes, base, place, bucket, probe.fingerprint);
    }
}

impl<W: Word> TableLayout for SemiSorted<W> {
    #[inline(always)]
    fn addressing(&self) -> &Addressing {
        &self.addressing
    }

    #[inline(always)]
    unsafe fn contains<const ALONE: bool>(&self, bytes: &[u8], aim: &Aim) -> bool {
        // SAFETY: an aim is the start of a bucket of this table, and behind the last bucket there
        // are tail bytes for the rest of the word.
        let (first, second) = unsafe { (load_at(bytes, aim.first), load_at(bytes, aim.second)) };
        let (first, second) = (self.decode(first), self.decode(second));
        self.matches(first, aim.fingerprint) | self.matches(second, aim.fingerprint) != 0
    }

    #[inline]
    fn count_at(&self, bytes: &[u8], base: usize, place: u64, fingerprint: u64) -> u32 {
        self.matches(self.load(bytes, base, place), fingerprint)
    }

    fn is_ordered(&self, bytes: &[u8], segment: u64) -> bool {
        let base = self.base(segment);
        (0..self.places()).all(|place| self.load(bytes, base, place).is_sorted())
    }

    #[inline]
    unsafe fn try_place(
        &self,
        bytes: &mut [u8],
        _aim: &Aim,
        probe: &Probe,
        _value: u64,
    ) -> Placement {
        let (base, new) = (self.base(probe.segment), probe.fingerprint);
        for place in [probe.first, probe.second] {
            let bucket = self.load(bytes, base, place);
            if self.matches(bucket, new) != 0 {
                return Placement::Copy;
            }
            if bucket[0] == 0 {
                self.fill(bytes, base, place, bucket, new);
                return Placement::Taken;
            }
        }
        Placement::Full
    }

    fn occupants(
        &self,
        bytes: &[u8],
        segment: u64,
        place: u64,
    ) -> impl Iterator<Item = (Probe, u64)> {
        let bucket = self.load(bytes, self.base(segment), place).into_iter();
        bucket
            .filter(|&lane| lane != 0)
            .map(move |fingerprint| (self.addressing.occupant(segment, place, fingerprint), 0))
    }

    #[inline]
    fn vacate(&self, bytes: &mut [u8], place: u64, probe: &Probe, _value: u64) -> bool {
        let base = self.base(probe.segment);
        let bucket = self.load(bytes, base, place);
        self.take(bytes, base, place, bucket, probe.fingerprint)
    }
}
