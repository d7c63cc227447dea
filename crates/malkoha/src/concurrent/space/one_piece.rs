//! Buckets in one piece.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::{Buckets, Depth, Extent, Room, Root, Space};
use crate::addressing::Probe;
use crate::concurrent::bucket::Lanes;
use crate::concurrent::sync::AtomicU64;
use crate::concurrent::words::Words;
use crate::geometry::Geometry;

/// A filter of the size that it was built with, which refuses what it has no room for.
#[derive(Debug)]
pub struct OnePiece {
    words: Words,
    places: usize,
    /// Whether there was a refusal: most filters see none, and need not look further.
    is_owing: AtomicBool,
    /// What each segment owes for a refusal.
    owed: Box<[AtomicU32]>,
}

impl OnePiece {
    /// `None` if the system does not give the memory.
    pub(crate) fn new(geometry: &Geometry) -> Option<Self> {
        let (segments, places) = (geometry.segments, geometry.places);
        let words = Words::new(u64::from(segments) * u64::from(places))?;
        let owed = (0..segments).map(|_| AtomicU32::new(0)).collect();
        let is_owing = AtomicBool::new(false);
        Some(Self { words, places: places as usize, is_owing, owed })
    }

    /// All buckets, segment by segment.
    #[cfg(all(test, not(target_family = "wasm")))]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }
}

impl Space for OnePiece {}

/// A segment, which most changes do not look at as a whole.
pub(crate) struct SegmentOf<'a> {
    piece: &'a OnePiece,
    segment: usize,
}

impl Deref for SegmentOf<'_> {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        let places = self.piece.places;
        &self.piece.words[self.segment * places..][..places]
    }
}

// What is in memory has an index that fits usize.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
impl Buckets for OnePiece {
    const HAS_LOCKS: bool = false;
    const STRIPES: u64 = Root::STRIPES;

    fn without_parts(&self, geometry: &Geometry) -> Option<Self> {
        Self::new(geometry)
    }

    fn names(&self) -> usize {
        self.words.len() / self.places
    }

    fn segment(&self, name: usize) -> u64 {
        name as u64
    }

    fn name(&self, segment: u64, _: u64) -> usize {
        segment as usize
    }

    #[inline(always)]
    fn look(&self, probe: &Probe) -> ([&AtomicU64; 2], u64) {
        let start = probe.segment as usize * self.places;
        ([probe.first, probe.second].map(|place| &self.words[start + place as usize]), 0)
    }

    type Part<'a> = SegmentOf<'a>;

    #[inline(always)]
    fn in_part<R>(&self, probe: &Probe, change: impl FnOnce(&SegmentOf<'_>) -> R) -> R {
        change(&SegmentOf { piece: self, segment: probe.segment as usize })
    }

    fn alone(&self, name: usize, operation: impl FnOnce(Extent, &[AtomicU64])) {
        operation(Extent { name, span: 0 }, &self.words[name * self.places..][..self.places]);
    }

    fn is_extent(&self, extent: Extent) -> bool {
        extent.span == 0 && extent.name < self.names()
    }

    fn add(&mut self, extent: Extent) -> Option<&[AtomicU64]> {
        Some(&self.words[extent.name * self.places..][..self.places])
    }

    #[inline(always)]
    fn extent(&self, _: &Probe) -> Extent {
        Extent::default()
    }

    #[inline(always)]
    fn split(
        &self,
        _: &Lanes,
        _: &Probe,
        _: Extent,
        _: impl FnOnce(&[AtomicU64]) -> bool,
        _: impl FnOnce(),
    ) -> Room {
        Room::None
    }

    #[inline(always)]
    fn is_owing(&self) -> bool {
        self.is_owing.load(Relaxed)
    }

    /// Whoever asks may add to it.
    fn owed(&self, segment: u64) -> Option<&AtomicU32> {
        self.is_owing.store(true, Relaxed);
        Some(&self.owed[segment as usize])
    }

    fn buckets(&self) -> u64 {
        self.words.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.buckets() * 8
    }

    fn fpr(&self, geometry: &Geometry, load: f64) -> f64 {
        geometry.fpr_at(load)
    }
}
