//! Buckets in parts that are split in two, one at a time, while threads look up.
//!
//! A segment begins as one part. A part that has no room is split by the highest bit of the
//! fingerprint by which it was not split yet: fingerprints with a 1 go to the same places of a new
//! part, the others stay. So no key is needed, nothing has to be searched, and what is left to
//! compare is a bit shorter.
//!
//! A part is named by the first of the fingerprint's highest bits that lead to it, and never goes
//! away. Lookups take no lock. A split
//!
//! 1. keeps changes out of the part, but not lookups;
//! 2. fills the new part, and then says that it is there;
//! 3. raises the versions of all stripes;
//! 4. empties what has gone from the old part.
//!
//! A lookup that reads an emptied bucket therefore sees a version raised, and looks again in the
//! new part, just as if the key had been moved.
//!
//! A part that need not be split, because it is not full, or cannot be, is marked: some of its keys
//! lie *beyond* it, in the spill list or in a table below. So lookups read on only there.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{OnceLock, PoisonError};

use super::depth::{Deep, Depth, Root};
use super::{Buckets, Extent, Room, Space};
use crate::addressing::Probe;
use crate::concurrent::bucket::Lanes;
use crate::concurrent::sync::{AtomicU64, Ordering, RwLock};
use crate::concurrent::target::Target;
use crate::concurrent::words::Words;
use crate::geometry::{Geometry, Layout};
use crate::params;

/// Marks of a part, in the words that tell its span.
pub(crate) const STASH: u64 = 1 << 6;
pub(crate) const BELOW: u64 = 1 << 7;
const SPAN: u64 = STASH - 1;
/// It is seen anew whether a part is full for so many keys that fit nowhere, at most: reading all
/// of it is then little work a key.
const LOOK_EACH: u64 = 256;
/// Places of a part for each of them, if that is fewer.
const PLACES_EACH: u64 = 16;

/// A filter that splits a part of it where there is no room.
#[derive(Debug)]
pub struct InParts<D = Root> {
    /// By segment and highest bits of the fingerprint. Those that are no part's name stay empty.
    parts: Box<[OnceLock<Part>]>,
    /// For each of these, how many of its lowest bits its part's name has as 0, and its part's
    /// marks.
    spans: Box<[AtomicU64]>,
    /// Of a segment: how often a part can be split in turn.
    doublings: u32,
    /// Bits of a fingerprint below those that name a part.
    low_bits: u32,
    places: u64,
    depth: D,
}

#[derive(Debug)]
struct Part {
    words: Words,
    /// Shared by changes, held alone by a split.
    lock: RwLock<()>,
    /// Keys that fit nowhere. No part of the protocol.
    stashed: AtomicU32,
}

impl Part {
    fn new(places: u64) -> Option<Self> {
        Some(Self { words: Words::new(places)?, lock: RwLock::new(()), stashed: AtomicU32::new(0) })
    }
}

impl InParts {
    /// Every segment of a root in one part, all empty. `None` if the system does not give the
    /// memory.
    pub(crate) fn new(geometry: &Geometry, doublings: u32) -> Option<Self> {
        Self::at(geometry, doublings, Root)
    }
}

impl InParts<Deep> {
    /// Where a key of the table above is here.
    pub(crate) fn target(&self, above: &Target) -> Target {
        let mut target = self.depth.target(above);
        let bits = self.low_bits + self.doublings;
        // 0 is an empty slot. The lowest bit is a fresh one.
        target.probe.fingerprint = (target.fingerprint & (u64::MAX >> (64 - bits))).max(1);
        target
    }
}

#[expect(private_bounds, reason = "how a table uses its memory is no promise")]
impl<D: Depth> InParts<D> {
    /// Bytes that an empty one takes.
    pub(crate) fn bytes_of(geometry: &Geometry, doublings: u32) -> u64 {
        let name = (size_of::<OnceLock<Part>>() + size_of::<AtomicU64>()) as u64;
        let names = u64::from(geometry.segments) << doublings;
        geometry.table_bytes().unwrap_or(u64::MAX).saturating_add(names.saturating_mul(name))
    }

    /// Every segment in one part, all empty.
    pub(crate) fn at(geometry: &Geometry, doublings: u32, depth: D) -> Option<Self> {
        let mut space = Self::empty(geometry, doublings, depth)?;
        for name in (0..space.names()).step_by(1 << doublings) {
            space.add(Extent { name, span: doublings.into() })?;
        }
        Some(space)
    }

    /// To be given its parts, until which it cannot be used. `None` if the system does not give the
    /// memory.
    pub(crate) fn empty(geometry: &Geometry, doublings: u32, depth: D) -> Option<Self> {
        let names = usize::try_from(u64::from(geometry.segments) << doublings).ok()?;
        let mut parts = Vec::new();
        parts.try_reserve_exact(names).ok()?;
        parts.extend((0..names).map(|_| OnceLock::new()));
        let mut spans = Vec::new();
        spans.try_reserve_exact(names).ok()?;
        spans.extend((0..names).map(|_| AtomicU64::new(doublings.into())));
        Some(Self {
            parts: parts.into(),
            spans: spans.into(),
            doublings,
            low_bits: geometry.fingerprint_bits - doublings,
            places: geometry.places.into(),
            depth,
        })
    }

    /// How often a part can be split in turn.
    pub(crate) fn doublings(&self) -> u32 {
        self.doublings
    }

    /// The part that such fingerprints belong to now.
    #[inline(always)]
    fn owner(&self, name: usize) -> Extent {
        let span = self.spans[name].load(Ordering::Acquire) & SPAN;
        Extent { name: name >> span << span, span }
    }

    #[inline(always)]
    fn part(&self, name: usize) -> &Part {
        self.parts[name].get().expect("a span names a part")
    }

    fn split_part(&self, lanes: &Lanes, name: usize, span: u64, raise: impl FnOnce()) -> bool {
        let Some(new) = Part::new(self.places) else { return false };
        let old = &self.part(name).words;
        let bit = 1 << (u64::from(self.low_bits) + span - 1);
        let parted = |word: &AtomicU64| lanes.parted(word.load(Ordering::Acquire), bit);
        for (old, new) in old.iter().zip(&*new.words) {
            new.store(parted(old).1, Ordering::Relaxed);
        }
        let half = 1 << (span - 1);
        // Of what lies beyond, each half may have some.
        let marks = self.spans[name].load(Ordering::Acquire) & !SPAN;
        assert!(self.parts[name + half].set(new).is_ok(), "a part is made once");
        for span in &self.spans[name..name + 2 * half] {
            span.store(marks | u64::from(half.trailing_zeros()), Ordering::Release);
        }
        raise();
        for word in old.iter() {
            word.store(parted(word).0, Ordering::Release);
        }
        true
    }
}

impl Space for InParts {}

impl<D: Depth> Buckets for InParts<D> {
    const HAS_LOCKS: bool = true;
    const STRIPES: u64 = D::STRIPES;

    fn without_parts(&self, geometry: &Geometry) -> Option<Self> {
        Self::empty(geometry, self.doublings, self.depth)
    }

    #[inline(always)]
    fn known(&self, fingerprint: u64) -> u64 {
        self.depth.known(fingerprint)
    }

    fn is_stashing(&self, probe: &Probe) -> bool {
        let part = self.part(self.extent(probe).name);
        // Not each time: what was seen not to be full must let the key go.
        let each = (self.places / PLACES_EACH).clamp(2, LOOK_EACH);
        u64::from(part.stashed.fetch_add(1, Relaxed)) % each != each - 1
    }

    fn mark(&self, extent: Extent, mark: u64) -> bool {
        for span in &self.spans[extent.name..extent.end()] {
            span.fetch_or(mark, Ordering::AcqRel);
        }
        true
    }

    fn shape_below(&self, geometry: &Geometry) -> (Geometry, u32) {
        self.depth.level(self.low_bits).shape_below(geometry, self.low_bits)
    }

    fn below(&self, name: usize, geometry: &Geometry, doublings: u32) -> Option<InParts<Deep>> {
        let in_segment = name as u64 & ((1 << self.doublings) - 1);
        let bits = geometry.fingerprint_bits;
        let depth = self.depth.level(self.low_bits).below(in_segment, self.low_bits, bits)?;
        let is_spent = name < self.names() && self.owner(name).span == 0;
        let fits = u64::from(geometry.places) == self.places && geometry.segments == 1;
        if is_spent && fits { InParts::empty(geometry, doublings, depth) } else { None }
    }

    fn names(&self) -> usize {
        self.parts.len()
    }

    fn segment(&self, name: usize) -> u64 {
        (name >> self.doublings) as u64
    }

    /// The name that a fingerprint would have for a part of its own.
    #[inline(always)]
    fn name(&self, segment: u64, fingerprint: u64) -> usize {
        // As many names were allocated.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let name = (segment << self.doublings | fingerprint >> self.low_bits) as usize;
        name
    }

    /// One load for all: a part that is split meanwhile raises versions before it empties a bucket,
    /// and a part is marked before a key lies beyond it.
    #[inline(always)]
    fn look(&self, probe: &Probe) -> ([&AtomicU64; 2], u64) {
        let name = self.name(probe.segment, probe.fingerprint);
        let word = self.spans[name].load(Ordering::Acquire);
        let span = word & SPAN;
        let words = &self.part(name >> span << span).words;
        // The part is in memory, so the index fits usize.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let bucket = |place: u64| &words[place as usize];
        ([probe.first, probe.second].map(bucket), word & !SPAN)
    }

    type Part<'a>
        = &'a [AtomicU64]
    where
        D: 'a;

    #[inline]
    fn in_part<R>(&self, probe: &Probe, change: impl FnOnce(&Self::Part<'_>) -> R) -> R {
        let name = self.name(probe.segment, probe.fingerprint);
        loop {
            let owner = self.owner(name);
            let part = self.part(owner.name);
            let _shared = part.lock.read().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have split it while we waited.
            if self.owner(name).name == owner.name {
                return change(&&*part.words);
            }
        }
    }

    fn alone(&self, name: usize, operation: impl FnOnce(Extent, &[AtomicU64])) {
        let part = self.part(name);
        let _alone = part.lock.write().unwrap_or_else(PoisonError::into_inner);
        // While the lock is held, no thread splits the part, so the extent stays.
        operation(self.owner(name), &part.words);
    }

    fn is_extent(&self, extent: Extent) -> bool {
        let Extent { name, span } = extent;
        span <= self.doublings.into() && name < self.names() && name % (1 << span) == 0
    }

    fn add(&mut self, extent: Extent) -> Option<&[AtomicU64]> {
        for span in &mut self.spans[extent.name..extent.end()] {
            *span = AtomicU64::new(extent.span);
        }
        self.parts[extent.name] = Part::new(self.places)?.into();
        Some(&self.part(extent.name).words)
    }

    #[inline(always)]
    fn extent(&self, probe: &Probe) -> Extent {
        self.owner(self.name(probe.segment, probe.fingerprint))
    }

    fn split(
        &self,
        lanes: &Lanes,
        probe: &Probe,
        full: Extent,
        is_full: impl FnOnce(&[AtomicU64]) -> bool,
        raise: impl FnOnce(),
    ) -> Room {
        let part = self.part(full.name);
        let _alone = part.lock.write().unwrap_or_else(PoisonError::into_inner);
        if self.extent(probe) != full {
            // Another thread has made room.
            return Room::Made;
        }
        if !is_full(&part.words) {
            self.mark(full, STASH);
            return Room::Made;
        }
        if full.span == 0 {
            return Room::Spent;
        }
        if self.split_part(lanes, full.name, full.span, raise) { Room::Made } else { Room::None }
    }

    #[inline(always)]
    fn is_owing(&self) -> bool {
        false
    }

    #[inline(always)]
    fn owed(&self, _: u64) -> Option<&AtomicU32> {
        None
    }

    fn buckets(&self) -> u64 {
        self.parts.iter().filter(|part| part.get().is_some()).count() as u64 * self.places
    }

    fn bytes(&self) -> u64 {
        self.buckets() * 8 + (size_of_val(&*self.parts) + size_of_val(&*self.spans)) as u64
    }

    fn fpr(&self, geometry: &Geometry, load: f64) -> f64 {
        let bits = geometry.fingerprint_bits;
        let probed = Layout::Words.probed_slots(bits);
        // A name's share of the keys times the rate of its part, in which all fingerprints have the
        // bits in common by which it was split.
        let rate = |span: &AtomicU64| {
            let span = u32::try_from(span.load(Ordering::Relaxed) & SPAN).unwrap_or(0);
            params::cuckoo_fpr(bits - self.doublings + span, probed, load)
        };
        self.spans.iter().map(rate).sum::<f64>() / params::float(self.spans.len() as u64)
    }
}
