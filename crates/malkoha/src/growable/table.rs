//! The segments of a growable filter: finding, filling, splitting, widening and merging them.

use super::buckets::{Buckets, Segment};
use super::directory::{Directory, Home, MAX_SEGMENTS};
use super::shape::{KeyBits, MAX_LOAD, Shape};
use crate::addressing::Probe;
use crate::arch::prefetch;
use crate::layout::bits::Word;
use crate::layout::{self, Search};
use crate::params::float;
use crate::spill::{MAX_COPIES, Spill, SpillKey};

/// Places that an insert looks at before it splits the segment instead.
const MAX_KICKS: u32 = 500;
/// Keys whose lines are on their way in a batch.
const RING: usize = 64;

/// A table for words that hold a bucket: 128 bits always do.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Narrow(Buckets<u64>),
    Wide(Buckets<u128>),
}

macro_rules! with_buckets {
    ($kernel:expr, $buckets:ident => $body:expr) => {
        match $kernel {
            Kernel::Narrow($buckets) => $body,
            Kernel::Wide($buckets) => $body,
        }
    };
}

impl Kernel {
    fn new(shape: &Shape) -> Self {
        let wide = || Buckets::new(shape).map(Self::Wide).expect("four slots fit 128 bits");
        Buckets::new(shape).map_or_else(wide, Self::Narrow)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct GrowTable {
    shape: Shape,
    kernel: Kernel,
    directory: Directory,
    segments: Vec<Box<[u8]>>,
    homes: Vec<Home>,
    /// Occupied slots of each segment.
    lens: Vec<u32>,
    /// `born[g]`: occupied slots whose key arrived in a segment of depth g. What a fingerprint
    /// matches by chance depends on that alone: it knows `g + bits` bits, in slot and path.
    born: [u64; 32],
    spill: Spill,
    search: Search,
}

fn zeroed(shape: &Shape) -> Box<[u8]> {
    // At most 2^15 slots of 64 bits.
    vec![0; usize::try_from(shape.segment_bytes()).expect("small")].into_boxed_slice()
}

impl GrowTable {
    pub(super) fn new(shape: Shape) -> Self {
        let homes: Vec<Home> =
            (0..shape.roots).map(|root| Home { root, depth: 0, path: 0 }).collect();
        Self {
            shape,
            kernel: Kernel::new(&shape),
            directory: Directory::new(shape.roots),
            segments: homes.iter().map(|_| zeroed(&shape)).collect(),
            lens: vec![0; homes.len()],
            homes,
            born: [0; 32],
            spill: Spill::default(),
            search: Search::default(),
        }
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Occupied slots.
    pub(super) fn occupied(&self) -> u64 {
        self.lens.iter().map(|&len| u64::from(len)).sum()
    }

    pub(super) fn slots(&self) -> u64 {
        self.segments.len() as u64 * self.shape.slots()
    }

    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        let about = size_of::<Box<[u8]>>() + size_of::<Home>() + size_of::<u32>();
        let segment = self.shape.segment_bytes() + about as u64;
        self.segments.len() as u64 * segment
            + self.directory.size_in_bytes()
            + self.spill.size_in_bytes()
    }

    /// The probability that a key that is not in is found: a fingerprint that knows n bits of its
    /// string, in one of two buckets, matches with probability 2^-n.
    pub(super) fn expected_fpr(&self) -> f64 {
        let buckets = float(self.shape.buckets()) * f64::from(self.shape.roots);
        let matches: f64 = (0_u32..)
            .zip(self.born)
            .map(|(depth, count)| float(count) * (-f64::from(depth + self.shape.bits)).exp2())
            .sum();
        -(-2.0 / buckets * matches).exp_m1()
    }

    #[inline(always)]
    fn probe(&self, key: &KeyBits, depth: u32) -> Probe {
        let fingerprint = self.shape.fingerprint(key.string, depth);
        Probe { segment: 0, first: key.first, second: key.second, fingerprint }
    }

    fn locate(&self, hash: u64) -> (usize, Probe) {
        let key = self.shape.key(hash);
        let (segment, depth) = self.directory.find(key.root, key.string);
        (segment, self.probe(&key, depth))
    }

    #[inline]
    pub(super) fn contains(&self, hash: u64) -> bool {
        let (segment, probe) = self.locate(hash);
        with_buckets!(&self.kernel, buckets => {
            let (first, second) = (buckets.bit(probe.first), buckets.bit(probe.second));
            buckets.contains(&self.segments[segment], first, second, probe.fingerprint)
        })
    }

    /// Whether each hash's fingerprint is in, with the lines of the next keys on their way.
    pub(super) fn contains_batch(&self, hashes: &[u64], found: &mut [bool]) {
        assert_eq!(hashes.len(), found.len(), "one answer for each hash");
        with_buckets!(&self.kernel, buckets => self.contains_batch_in(buckets, hashes, found));
    }

    fn contains_batch_in<W: Word>(&self, buckets: &Buckets<W>, hashes: &[u64], found: &mut [bool]) {
        let mut ring: [(&[u8], u64, u64, u64); RING] = [(&[], 0, 0, 0); RING];
        for i in 0..hashes.len() + RING {
            let aimed = ring[i % RING];
            if let Some(&hash) = hashes.get(i) {
                let (segment, probe) = self.locate(hash);
                let bytes = &*self.segments[segment];
                let (first, second) = (buckets.bit(probe.first), buckets.bit(probe.second));
                prefetch(bytes, first >> 3);
                prefetch(bytes, second >> 3);
                ring[i % RING] = (bytes, first, second, probe.fingerprint);
            }
            if let Some(i) = i.checked_sub(RING) {
                let (bytes, first, second, fingerprint) = aimed;
                found[i] = buckets.contains(bytes, first, second, fingerprint);
            }
        }
    }

    /// Asks for the lines of a key that will be inserted or removed.
    pub(super) fn prefetch(&self, hash: u64) {
        let (segment, probe) = self.locate(hash);
        let bytes = &*self.segments[segment];
        with_buckets!(&self.kernel, buckets => {
            prefetch(bytes, buckets.bit(probe.first) >> 3);
            prefetch(bytes, buckets.bit(probe.second) >> 3);
        });
    }

    fn find(&self, segment: usize, probe: &Probe) -> Option<(u64, u32)> {
        with_buckets!(&self.kernel, buckets => buckets.find(&self.segments[segment], probe))
    }

    pub(super) fn count(&self, hash: u64) -> u64 {
        let (segment, probe) = self.locate(hash);
        self.find(segment, &probe).map_or(0, |(fingerprint, copies)| {
            self.spill.count(&spill_key(segment, &probe, fingerprint)) + u64::from(copies)
        })
    }

    /// Inserts a copy of a key. `false` if there is no room and the fingerprints have no bit left
    /// for another split; nothing has changed then but that segments may have been split.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        loop {
            let (segment, mut probe) = self.locate(hash);
            let found = self.find(segment, &probe);
            if let Some((fingerprint, copies)) = found {
                // A copy that is as long as the first makes nothing more match by chance.
                probe.fingerprint = fingerprint;
                if copies >= MAX_COPIES {
                    self.spill.add(spill_key(segment, &probe, fingerprint), 1);
                    return true;
                }
            }
            if self.insert_probe(segment, &probe, found.is_some()) {
                return true;
            }
            if found.is_some() {
                // A copy is no reason to grow.
                self.spill.add(spill_key(segment, &probe, probe.fingerprint), 1);
                return true;
            }
            if !self.grow(segment) {
                return false;
            }
        }
    }

    fn insert_probe(&mut self, segment: usize, probe: &Probe, is_copy: bool) -> bool {
        let full = float(self.lens[segment].into()) >= float(self.shape.slots()) * MAX_LOAD;
        if full && (is_copy || self.can_grow(segment)) {
            return false;
        }
        let Home { depth, path, .. } = self.homes[segment];
        let (bytes, search) = (&mut self.segments[segment], &mut self.search);
        let inserted = with_buckets!(&self.kernel, buckets => {
            let layout = Segment { buckets, depth, path };
            layout::insert(&layout, bytes, search, probe, 0, MAX_KICKS)
        });
        if inserted {
            self.lens[segment] += 1;
            self.born[self.birth(depth, probe.fingerprint)] += 1;
        }
        inserted
    }

    /// The depth of the segment in which a fingerprint arrived that now lies at `depth`.
    fn birth(&self, depth: u32, fingerprint: u64) -> usize {
        let length = with_buckets!(&self.kernel, buckets => buckets.length(fingerprint));
        (depth + length).saturating_sub(self.shape.bits).min(31) as usize
    }

    pub(super) fn remove(&mut self, hash: u64) -> bool {
        let (segment, probe) = self.locate(hash);
        let Some((fingerprint, _)) = self.find(segment, &probe) else { return false };
        if self.spill.take(&spill_key(segment, &probe, fingerprint)) {
            return true;
        }
        let bytes = &mut self.segments[segment];
        with_buckets!(&self.kernel, buckets => buckets.remove(bytes, &probe, fingerprint));
        self.lens[segment] -= 1;
        let birth = self.birth(self.homes[segment].depth, fingerprint);
        self.born[birth] = self.born[birth].saturating_sub(1);
        true
    }

    pub(super) fn clear(&mut self) {
        self.segments.iter_mut().for_each(|bytes| bytes.fill(0));
        self.lens.fill(0);
        self.born = [0; 32];
        self.spill.clear();
    }

    fn can_grow(&self, segment: usize) -> bool {
        // At least one bit stays in each slot.
        self.shape.narrowing > 0
            || (self.homes[segment].depth + 2 <= self.shape.bits
                && self.segments.len() < MAX_SEGMENTS)
    }

    /// Doubles the room of a segment.
    fn grow(&mut self, segment: usize) -> bool {
        let can = self.can_grow(segment);
        if can {
            if self.shape.narrowing > 0 { self.widen() } else { self.split(segment) }
        }
        can
    }

    /// Twice as many buckets in the only segment: each occupant's place is known in full.
    fn widen(&mut self) {
        let shape = Shape { narrowing: self.shape.narrowing - 1, ..self.shape };
        let (old, mut bytes) = (self.kernel, zeroed(&shape));
        self.kernel = Kernel::new(&shape);
        with_buckets!(&old, old => with_buckets!(&self.kernel, new => {
            for bucket in 0..self.shape.buckets() {
                for slot in old.occupants(&self.segments[0], bucket) {
                    new.push(&mut bytes, slot);
                }
            }
        }));
        self.segments[0] = bytes;
        self.shape = shape;
    }

    /// Splits a segment by the next bit of its keys. Each stays in its bucket, so all fit.
    fn split(&mut self, segment: usize) {
        let home = self.homes[segment];
        let mut upper = zeroed(&self.shape);
        let (bytes, top) = (&mut self.segments[segment], self.shape.bits);
        let mut moved = 0;
        with_buckets!(&self.kernel, buckets => {
            for bucket in 0..self.shape.buckets() {
                moved += buckets.split(bytes, &mut upper, bucket);
            }
        });
        let number = self.segments.len();
        self.directory.split(home, segment, number);
        let child = |bit| Home { depth: home.depth + 1, path: home.path << 1 | bit, ..home };
        self.homes[segment] = child(0);
        self.homes.push(child(1));
        self.segments.push(upper);
        self.lens[segment] -= moved;
        self.lens.push(moved);
        for (key, copies) in self.spill.drain(narrow(segment)) {
            let fingerprint = u64::from(key.fingerprint);
            let in_upper = fingerprint >> top != 0;
            let rest = (fingerprint << 1) & ((2 << top) - 1);
            let segment = if in_upper { narrow(number) } else { key.segment };
            // 31 bits at most.
            #[expect(clippy::cast_possible_truncation, reason = "see above")]
            self.spill.add(SpillKey { segment, fingerprint: rest as u32, ..key }, copies);
        }
    }
}

fn narrow(segment: usize) -> u32 {
    u32::try_from(segment).expect("fewer than MAX_SEGMENTS")
}

fn spill_key(segment: usize, probe: &Probe, fingerprint: u64) -> SpillKey {
    // Places are below 2^13, fingerprints of 31 bits.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let (place, fingerprint) = (probe.first.min(probe.second) as u32, fingerprint as u32);
    SpillKey { segment: narrow(segment), place, fingerprint }
}
