//! Copies of a shared table: for one owner, from one owner, and for other threads.

use std::sync::atomic::Ordering::Relaxed;

use super::counter::Counter;
use super::shared::Shared;
use crate::error::BuildError;
use crate::geometry::{Geometry, Layout};
use crate::layout::bits::index;
use crate::locks::Locking;
use crate::spill::SpillKey;
use crate::table::{Fixed, Parts, zeroed};

impl<P: Locking> Clone for Shared<P> {
    /// A copy, consistent as the pieces of a saved file are.
    ///
    /// # Panics
    ///
    /// If the system has no memory for a second table.
    fn clone(&self) -> Self {
        let mut spilled = Vec::new();
        let words = self.table.pieces().flat_map(|piece| {
            spilled.extend(piece.spilled);
            piece.words
        });
        let copy = Self::filled(self.table.geometry, self.max_kicks, self.capacity, words);
        let mut copy = copy.expect("memory for a copy of the table");
        copy.add_spilled(spilled);
        copy
    }
}

impl<P: Locking, Q: Locking> PartialEq<Shared<Q>> for Shared<P> {
    /// Whether the files of both would be the same, while no thread changes them.
    fn eq(&self, other: &Shared<Q>) -> bool {
        (self.max_kicks, self.capacity) == (other.max_kicks, other.capacity)
            && self.table.geometry == other.table.geometry
            && self.table.pieces().eq(other.table.pieces())
    }
}

impl<P: Locking> Shared<P> {
    /// A copy for one owner, consistent as the pieces of a saved file are.
    pub(crate) fn to_fixed(&self) -> Result<Fixed, BuildError> {
        let geometry = self.table.geometry;
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let mut memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        let (mut spilled, mut len) = (Vec::new(), 0_u64);
        let segments = memory.chunks_exact_mut(index(geometry.segment_bytes()));
        for (segment, piece) in segments.zip(self.table.pieces()) {
            for (bucket, word) in segment.chunks_exact_mut(8).zip(piece.words) {
                bucket.copy_from_slice(&word.to_le_bytes());
            }
            spilled.extend(piece.spilled);
            len = len.saturating_add(piece.copies);
        }
        let (max_kicks, capacity) = (self.max_kicks, self.capacity);
        let mut fixed = Fixed::from_bytes(memory, Parts { geometry, max_kicks, capacity, len });
        for (key, copies) in spilled {
            let added = fixed.add_spilled(key, copies);
            debug_assert!(added, "copies are spilled only while others lie in the table");
        }
        Ok(fixed)
    }

    /// The table of many threads. Returns an error if the layout is not [`Layout::Words`], or if a
    /// word has bits above its lanes, as it can in a damaged file.
    pub(crate) fn from_fixed(fixed: &Fixed) -> Result<Self, BuildError> {
        let &Parts { geometry, max_kicks, capacity, .. } = fixed.parts();
        if geometry.layout != Layout::Words {
            return Err(BuildError::Layout {
                layout: geometry.layout.name(),
                what: "threads that change it: build the filter with the layout words",
            });
        }
        let segments = fixed.bytes().chunks_exact(index(geometry.segment_bytes()));
        let words = segments.flat_map(|segment| &segment.as_chunks().0[..geometry.places as usize]);
        let words = words.map(|&word| u64::from_le_bytes(word));
        let mut shared = Self::filled(geometry, max_kicks, capacity, words)?;
        shared.add_spilled(fixed.spill().iter());
        Ok(shared)
    }

    /// A table with the words of all buckets, in their order.
    fn filled(
        geometry: Geometry,
        max_kicks: u32,
        capacity: u64,
        words: impl Iterator<Item = u64>,
    ) -> Result<Self, BuildError> {
        let mut shared = Self::fixed(geometry, max_kicks, capacity)?;
        let (lanes, mut occupied) = (shared.table.lanes, 0);
        for (bucket, word) in shared.table.buckets.all().iter().zip(words) {
            if !lanes.is_within(word) {
                return Err(BuildError::Layout {
                    layout: geometry.layout.name(),
                    what: "bits outside its slots: build the filter again from its keys",
                });
            }
            bucket.store(word, Relaxed);
            occupied += u64::from(lanes.occupied(word));
        }
        shared.len = Counter::new(occupied);
        Ok(shared)
    }

    /// Adds spilled copies, an equal of each of which is in the table.
    fn add_spilled(&mut self, spilled: impl IntoIterator<Item = (SpillKey, u64)>) {
        for (key, copies) in spilled {
            self.table.add_spilled(key, copies);
            self.len.add(copies.cast_signed());
        }
    }
}
