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

use std::sync::atomic::AtomicU32;
use std::sync::{OnceLock, PoisonError};

use super::{Buckets, Extent, Space};
use crate::addressing::Probe;
use crate::concurrent::bucket::Lanes;
use crate::concurrent::sync::{AtomicU64, Ordering, RwLock};
use crate::concurrent::words::Words;
use crate::error::BuildError;
use crate::geometry::{Geometry, Layout, MAX_CAPACITY, word_lanes};
use crate::params;

/// Buckets of a part, nearly at most: 128 KiB, which a split reads and writes from a core's own
/// cache.
const MAX_PLACES: f64 = 16_384.0;
/// Places of a part, at least: 8 KiB. Three keys with fingerprints that begin alike, whose places
/// are all the same bucket of two slots, are refused however often their part is split. Among few
/// places they are not rare: of 20,000 filters with 95, two refused a key before they had grown 180
/// times.
const LEAST_PLACES: f64 = 1024.0;
/// Room of a part for more keys than the expected, in standard deviations of their number: less
/// than one part in a million needs more.
const SIGMAS: f64 = 5.0;
/// Slots of a part beyond that, since few places even out badly.
const SPARE: f64 = 32.0;
/// Names of parts in all: some 0.9 GB of directory.
const MOST_NAMES: f64 = 16_777_216.0;
/// The most doublings: each segment has that many names for parts.
const MAX_DOUBLINGS: u32 = 16;

/// A filter that splits a part of it where there is no room.
#[derive(Debug)]
pub struct InParts {
    /// By segment and highest bits of the fingerprint. Those that are no part's name stay empty.
    parts: Box<[OnceLock<Part>]>,
    /// For each of these, how many of its lowest bits its part's name has as 0.
    spans: Box<[AtomicU64]>,
    /// Of a segment: how often a part can be split in turn.
    doublings: u32,
    /// Bits of a fingerprint below those that name a part.
    low_bits: u32,
    places: u64,
}

#[derive(Debug)]
struct Part {
    words: Words,
    /// Shared by changes, held alone by a split.
    lock: RwLock<()>,
}

impl Part {
    fn new(places: u64) -> Option<Self> {
        Some(Self { words: Words::new(places)?, lock: RwLock::new(()) })
    }
}

/// The shape of a filter that begins with room for `capacity` keys and grows to `growth` times as
/// many at this rate: the one of the fewest bits a key. Also the number of doublings.
pub(crate) fn plan(capacity: u64, fpr: f64, growth: f64) -> Result<(Geometry, u32), BuildError> {
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(BuildError::Capacity(capacity));
    }
    // Written so that a NaN is refused too.
    if !(fpr > 0.0 && fpr < 1.0) {
        return Err(BuildError::Fpr(fpr));
    }
    let most = f64::from(1 << MAX_DOUBLINGS);
    if !(growth >= 1.0 && growth <= most) {
        return Err(BuildError::Growth { asked: growth, most });
    }
    // At most 16.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let doublings = growth.log2().ceil() as u32;
    let load = |bits| Layout::Words.load(bits);
    let rate = |bits: u32| {
        params::cuckoo_fpr(bits - doublings, Layout::Words.probed_slots(bits), load(bits))
    };
    let price = |bits: &u32| 1.0 / (f64::from(word_lanes(*bits)) * load(*bits));
    let widths = (doublings + 4).max(Layout::Words.least_fingerprint_bits())..=32;
    let enough = widths.filter(|&bits| rate(bits) <= fpr);
    let bits = enough
        .min_by(|a, b| price(a).total_cmp(&price(b)))
        .ok_or(BuildError::FprTooSmall { asked: fpr, reachable: rate(32) })?;
    let lanes = f64::from(word_lanes(bits));
    let segments = (params::float(capacity) / load(bits) / lanes / MAX_PLACES).ceil();
    // A part's number of keys scatters, and the last split leaves it as it is.
    let keys = params::float(capacity) / segments;
    let slots = keys / load(bits) + SIGMAS * keys.sqrt() + SPARE;
    let places = (slots / lanes).ceil().max(LEAST_PLACES);
    // Segments of a capacity of 2^36 keys, and places of a part.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "see above")]
    let narrow = |number: f64| number as u32;
    // The whole directory is made at once, for whole doublings.
    if segments * f64::from(1 << doublings) > MOST_NAMES {
        let most = (MOST_NAMES / segments).max(1.0).log2().floor().exp2();
        return Err(BuildError::Growth { asked: growth, most });
    }
    let geometry = Geometry {
        layout: Layout::Words,
        fingerprint_bits: bits,
        value_bits: 0,
        segments: narrow(segments),
        places: narrow(places),
    };
    Ok((geometry, doublings))
}

impl InParts {
    /// Bytes that an empty one takes.
    pub(crate) fn bytes_of(geometry: &Geometry, doublings: u32) -> u64 {
        let name = (size_of::<OnceLock<Part>>() + size_of::<AtomicU64>()) as u64;
        let names = u64::from(geometry.segments) << doublings;
        geometry.table_bytes().unwrap_or(u64::MAX).saturating_add(names.saturating_mul(name))
    }

    /// Every segment in one part, all empty. `None` if the system does not give the memory.
    pub(crate) fn new(geometry: &Geometry, doublings: u32) -> Option<Self> {
        let mut space = Self::without_parts(geometry, doublings)?;
        for name in (0..space.names()).step_by(1 << doublings) {
            space.add(Extent { name, span: doublings.into() })?;
        }
        Some(space)
    }

    /// To be given its parts, until which it cannot be used. `None` if the system does not give the
    /// memory.
    pub(crate) fn without_parts(geometry: &Geometry, doublings: u32) -> Option<Self> {
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
        })
    }

    /// How often a part can be split in turn.
    pub(crate) fn doublings(&self) -> u32 {
        self.doublings
    }

    /// The part that such fingerprints belong to now.
    #[inline(always)]
    fn owner(&self, name: usize) -> Extent {
        let span = self.spans[name].load(Ordering::Acquire);
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
        assert!(self.parts[name + half].set(new).is_ok(), "a part is made once");
        for span in &self.spans[name..name + 2 * half] {
            span.store(half.trailing_zeros().into(), Ordering::Release);
        }
        raise();
        for word in old.iter() {
            word.store(parted(word).0, Ordering::Release);
        }
        true
    }
}

impl Space for InParts {}

impl Buckets for InParts {
    const HAS_LOCKS: bool = true;

    fn without_parts(&self, geometry: &Geometry) -> Option<Self> {
        Self::without_parts(geometry, self.doublings)
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

    #[inline(always)]
    fn bucket(&self, segment: u64, place: u64, fingerprint: u64) -> &AtomicU64 {
        let Extent { name, .. } = self.owner(self.name(segment, fingerprint));
        // The part is in memory, so the index fits usize.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let place = place as usize;
        &self.part(name).words[place]
    }

    #[inline]
    fn in_part<R>(&self, probe: &Probe, change: impl FnOnce(&[AtomicU64]) -> R) -> R {
        let name = self.name(probe.segment, probe.fingerprint);
        loop {
            let owner = self.owner(name);
            let part = self.part(owner.name);
            let _shared = part.lock.read().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have split it while we waited.
            if self.owner(name).name == owner.name {
                return change(&part.words);
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

    fn split(&self, lanes: &Lanes, probe: &Probe, full: Extent, raise: impl FnOnce()) -> bool {
        let _alone = self.part(full.name).lock.write().unwrap_or_else(PoisonError::into_inner);
        if self.extent(probe) != full {
            // Another thread has made room.
            return true;
        }
        full.span > 0 && self.split_part(lanes, full.name, full.span, raise)
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
            let span = u32::try_from(span.load(Ordering::Relaxed)).unwrap_or(0);
            params::cuckoo_fpr(bits - self.doublings + span, probed, load)
        };
        self.spans.iter().map(rate).sum::<f64>() / params::float(self.spans.len() as u64)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// The growth that an error names can be had, though a directory has whole doublings.
    #[test]
    fn the_growth_that_an_error_names_can_be_had() {
        let mut refused = 0;
        for capacity in (20..=36).map(|bits| 1 << bits) {
            for growth in (0..16).map(|doublings| 1.5 * f64::from(1 << doublings)) {
                let Err(error) = plan(capacity, 0.01, growth) else { continue };
                let BuildError::Growth { most, .. } = error else { panic!("{error}") };
                assert!(most < growth && plan(capacity, 0.01, most).is_ok(), "{capacity}: {error}");
                refused += 1;
            }
        }
        assert!(refused > 20, "only {refused} have too many parts");
    }
}
