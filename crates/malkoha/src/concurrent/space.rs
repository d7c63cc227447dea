//! Where the buckets of a shared table lie: segment after segment.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::sync::AtomicU64;
use super::words::Words;
use crate::addressing::Probe;
use crate::arch::prefetch_from;
use crate::geometry::Geometry;

/// The buckets of all segments, and what each segment owes.
#[derive(Debug)]
pub(super) struct Space {
    words: Words,
    places: usize,
    /// Whether anything was ever refused. Most filters refuse nothing, and need not look further.
    is_owing: AtomicBool,
    /// What each segment owes for a refusal: not part of the protocol.
    owed: Box<[AtomicU32]>,
}

// The bucket is in memory, so its index fits usize.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
impl Space {
    /// `None` if the system lacks the memory.
    pub(super) fn new(geometry: &Geometry) -> Option<Self> {
        let (segments, places) = (geometry.segments, geometry.places);
        let words = Words::new(u64::from(segments) * u64::from(places))?;
        let owed = (0..segments).map(|_| AtomicU32::new(0)).collect();
        let is_owing = AtomicBool::new(false);
        Some(Self { words, places: places as usize, is_owing, owed })
    }

    pub(super) fn segments(&self) -> usize {
        self.owed.len()
    }

    /// The buckets of a segment.
    #[inline(always)]
    pub(super) fn segment(&self, segment: u64) -> &[AtomicU64] {
        &self.words[segment as usize * self.places..][..self.places]
    }

    /// Both buckets of a key.
    #[inline(always)]
    pub(super) fn buckets(&self, probe: &Probe) -> [&AtomicU64; 2] {
        self.numbers(probe).map(|number| self.bucket(number))
    }

    /// The numbers of both.
    #[inline(always)]
    pub(super) fn numbers(&self, probe: &Probe) -> [usize; 2] {
        let start = probe.segment as usize * self.places;
        [start + probe.first as usize, start + probe.second as usize]
    }

    /// The buckets of all segments.
    #[inline(always)]
    pub(super) fn all(&self) -> &[AtomicU64] {
        &self.words
    }

    /// The bucket of a number.
    #[inline(always)]
    pub(super) fn bucket(&self, number: usize) -> &AtomicU64 {
        &self.words[number]
    }

    /// Requests the line of the bucket of a number.
    #[inline(always)]
    pub(super) fn prefetch(&self, number: usize) {
        prefetch_from(self.words.as_ptr().cast(), (number * size_of::<AtomicU64>()) as u64);
    }

    /// Whether some segment may owe for a refusal.
    #[inline(always)]
    pub(super) fn is_owing(&self) -> bool {
        self.is_owing.load(Relaxed)
    }

    /// What the segment owes for a refusal. The caller may add to it.
    pub(super) fn owed(&self, segment: u64) -> &AtomicU32 {
        self.is_owing.store(true, Relaxed);
        &self.owed[segment as usize]
    }

    /// The number of buckets.
    pub(super) fn len(&self) -> u64 {
        self.words.len() as u64
    }
}
