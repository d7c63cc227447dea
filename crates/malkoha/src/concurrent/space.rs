//! The memory of a shared table, and where its buckets lie: segment after segment.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use super::sync::AtomicU64;
use crate::addressing::Probe;
use crate::arch::prefetch_from;
use crate::geometry::Geometry;
#[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
use crate::table::{IS_MAPPED, MAPPED_FROM, mapped};

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

/// Zeroed words: on huge pages if there are many and the system has such pages.
struct Words(Inner);

enum Inner {
    Heap(Box<[AtomicU64]>),
    #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
    Mapped(memmap2::MmapRaw),
}

impl Words {
    /// This many words, or `None` if the system lacks the memory.
    fn new(words: u64) -> Option<Self> {
        let words = usize::try_from(words).ok()?;
        #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
        if IS_MAPPED && words.checked_mul(8)? >= MAPPED_FROM {
            return mapped(words * 8).map(|map| Self(Inner::Mapped(map.into())));
        }
        let mut heap = Vec::new();
        heap.try_reserve_exact(words).ok()?;
        heap.extend((0..words).map(|_| AtomicU64::new(0)));
        Some(Self(Inner::Heap(heap.into_boxed_slice())))
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    #[inline(always)]
    fn deref(&self) -> &[AtomicU64] {
        match &self.0 {
            Inner::Heap(words) => words,
            #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
            Inner::Mapped(map) => {
                let start = map.as_mut_ptr().cast::<AtomicU64>();
                // SAFETY: a mapping begins at a page, is readable and writable, anonymous and so of
                // nobody else, and lives as long as `self`. All access is through this slice.
                unsafe { std::slice::from_raw_parts(start, map.len() / 8) }
            }
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({})", self.len())
    }
}
