//! Copies of a shared table: for one owner, from one owner, and for other threads.

use std::sync::atomic::Ordering::Relaxed;

use super::counter::Counter;
use super::shared::Shared;
use crate::addressing::index;
use crate::error::BuildError;
use crate::geometry::Layout;
use crate::locks::Locking;
use crate::table::{Fixed, Parts, zeroed};

impl<P: Locking> Clone for Shared<P> {
    /// A copy, consistent as the pieces of a saved file are.
    ///
    /// # Panics
    ///
    /// If the system has no memory for two more tables: the copy, and a temporary one.
    fn clone(&self) -> Self {
        let copy = self.to_fixed().and_then(|fixed| Self::from_fixed(&fixed));
        copy.expect("memory for copies of the table")
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
        let mut shared = Self::fixed(geometry, max_kicks, capacity)?;
        // Counted, because the header of a mapped file may say anything.
        let mut len = 0_u64;
        for (bucket, &word) in shared.table.buckets.all().iter().zip(words) {
            let word = u64::from_le_bytes(word);
            if !shared.table.lanes.is_within(word) {
                return Err(BuildError::Layout {
                    layout: geometry.layout.name(),
                    what: "bits outside its slots: build the filter again from its keys",
                });
            }
            bucket.store(word, Relaxed);
            len += u64::from(shared.table.lanes.occupied(word));
        }
        for (key, copies) in fixed.spill().iter() {
            shared.table.add_spilled(key, copies);
            len = len.saturating_add(copies);
        }
        shared.len = Counter::new(len);
        Ok(shared)
    }
}
