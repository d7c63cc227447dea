//! From the filter of one owner and back: to save it, or to open it for threads.

use super::locks::Locking;
use super::shared::Shared;
use super::space::Fixed as OnePiece;
use super::sync::Ordering;
use crate::error::BuildError;
use crate::geometry::Layout;
use crate::table::{Fixed, zeroed};

impl<P: Locking> Shared<P, OnePiece> {
    /// The table of one owner.
    pub(crate) fn into_fixed(mut self) -> Result<Fixed, BuildError> {
        let parts = self.parts();
        let bytes = parts.geometry.table_bytes().unwrap_or(u64::MAX);
        let mut memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        let (lanes, places) = (self.table.lanes, parts.geometry.places as usize);
        let segments = memory.chunks_exact_mut(segment_bytes(&parts.geometry));
        for (segment, words) in segments.zip(self.table.space.words().chunks_exact(places)) {
            for (bucket, word) in segment.chunks_exact_mut(8).zip(words) {
                let word = lanes.packed(word.load(Ordering::Relaxed));
                bucket.copy_from_slice(&word.to_le_bytes());
            }
        }
        let mut table = Fixed::from_bytes(memory, parts);
        for (key, copies) in self.table.spill_list().iter() {
            let added = table.add_spilled(key, copies);
            debug_assert!(added, "copies are spilled only while others lie in the table");
        }
        Ok(table)
    }

    /// The table of many threads; an error if the layout is not [`Layout::Words`].
    pub(crate) fn from_fixed(fixed: &Fixed) -> Result<Self, BuildError> {
        let parts = fixed.parts();
        if parts.geometry.layout != Layout::Words {
            return Err(BuildError::Layout {
                layout: parts.geometry.layout.name(),
                what: "threads that change it: build the filter with the layout words",
            });
        }
        let mut shared = Self::from_parts(parts)?;
        let segments = fixed.bytes().chunks_exact(segment_bytes(&parts.geometry));
        let words = shared.table.space.words().chunks_exact(parts.geometry.places as usize);
        for (words, segment) in words.zip(segments) {
            for (word, bucket) in words.iter().zip(segment.chunks_exact(8)) {
                let bytes = bucket.try_into().expect("eight bytes");
                word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
            }
        }
        shared.table.add_spilled(fixed.spill());
        Ok(shared)
    }
}

fn segment_bytes(geometry: &crate::geometry::Geometry) -> usize {
    usize::try_from(geometry.segment_bytes()).expect("in memory")
}
