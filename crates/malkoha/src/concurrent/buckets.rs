//! The memory of a shared table, and where its buckets lie: segment after segment.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use crate::addressing::{Probe, index};
use crate::arch::prefetch_from;
use crate::geometry::Geometry;
use crate::sync::AtomicU64;
#[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
use crate::table::{IS_MAPPED, MAPPED_FROM, mapped};

/// The buckets of all segments, and the search budget of each.
#[derive(Debug)]
pub(super) struct Buckets {
    words: SharedWords,
    places: usize,
    /// Whether anything was ever refused. Most filters refuse nothing, and need not look further.
    has_refused: AtomicBool,
    /// The places of a refused search that removals from each segment have still to make up for:
    /// not part of the protocol.
    missing: Box<[AtomicU32]>,
}

impl Buckets {
    /// `None` if the system lacks the memory.
    pub(super) fn new(geometry: &Geometry) -> Option<Self> {
        let (segments, places) = (geometry.segments, geometry.places);
        let words = SharedWords::new(u64::from(segments) * u64::from(places))?;
        let missing = (0..segments).map(|_| AtomicU32::new(0)).collect();
        let has_refused = AtomicBool::new(false);
        Some(Self { words, places: places as usize, has_refused, missing })
    }

    pub(super) fn segments(&self) -> usize {
        self.missing.len()
    }

    /// The buckets of a segment.
    #[inline(always)]
    pub(super) fn segment(&self, segment: u64) -> &[AtomicU64] {
        &self.words[index(segment) * self.places..][..self.places]
    }

    /// Both buckets of a key.
    #[inline(always)]
    pub(super) fn of(&self, probe: &Probe) -> [&AtomicU64; 2] {
        self.numbers(probe).map(|number| self.bucket(number))
    }

    /// The numbers of both.
    #[inline(always)]
    pub(super) fn numbers(&self, probe: &Probe) -> [usize; 2] {
        let start = index(probe.segment) * self.places;
        [start + index(probe.first), start + index(probe.second)]
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

    /// Whether some segment may have a short budget.
    #[inline(always)]
    pub(super) fn has_refused(&self) -> bool {
        self.has_refused.load(Relaxed)
    }

    /// The places that removals from the segment have still to make up for.
    pub(super) fn missing(&self, segment: u64) -> &AtomicU32 {
        self.has_refused.store(true, Relaxed);
        &self.missing[index(segment)]
    }

    /// The number of buckets.
    pub(super) fn len(&self) -> u64 {
        self.words.len() as u64
    }
}

/// Zeroed words: on huge pages if there are many and the system has such pages.
struct SharedWords(Inner);

enum Inner {
    Heap(Box<[AtomicU64]>),
    #[cfg(all(feature = "mmap", not(any(loom, shuttle))))]
    Mapped(memmap2::MmapRaw),
}

impl SharedWords {
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

impl Deref for SharedWords {
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

impl fmt::Debug for SharedWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedWords({})", self.len())
    }
}
