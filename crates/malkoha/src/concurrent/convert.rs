//! From the filter of one owner and back: to save it, or to open it for threads.

use super::filter::ConcurrentCuckooFilter;
use super::sync::Ordering;
use crate::error::BuildError;
use crate::filter::CuckooFilter;
use crate::geometry::Layout;
use crate::locks::Locking;
use crate::table::{Table, zeroed};

impl<P: Locking> ConcurrentCuckooFilter<P> {
    /// The same filter for one owner, who can write it to a file, or look up a little faster.
    /// Copies the table: O(size).
    ///
    /// # Errors
    ///
    /// If the system does not give the memory.
    pub fn into_filter(mut self) -> Result<CuckooFilter, BuildError> {
        let mut parts = self.parts();
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
        let mut table = Table::from_bytes(memory, parts.geometry);
        for (key, copies) in self.table.spill_list().iter() {
            // `set_slot` may have emptied the slots that they were copies of.
            if !table.add_spilled(key, copies) {
                parts.len = parts.len.saturating_sub(copies);
            }
        }
        Ok(CuckooFilter::from_parts(table, &parts))
    }
}

impl CuckooFilter {
    /// The same filter for many threads. Copies the table: O(size).
    ///
    /// # Errors
    ///
    /// If its layout is not [`Layout::Words`], or the system does not give the memory.
    pub fn into_concurrent<P: Locking>(self) -> Result<ConcurrentCuckooFilter<P>, BuildError> {
        let parts = self.parts();
        if parts.geometry.layout != Layout::Words {
            return Err(BuildError::Layout {
                layout: parts.geometry.layout.name(),
                what: "threads that change it: build the filter with the layout words",
            });
        }
        let mut filter = ConcurrentCuckooFilter::from_parts(&parts)?;
        let segments = self.table().bytes().chunks_exact(segment_bytes(&parts.geometry));
        let shared = filter.table.space.words().chunks_exact(parts.geometry.places as usize);
        for (words, segment) in shared.zip(segments) {
            for (word, bucket) in words.iter().zip(segment.chunks_exact(8)) {
                let bytes = bucket.try_into().expect("eight bytes");
                word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
            }
        }
        for (key, copies) in self.table().spill().iter() {
            filter.table.add_spilled(key, copies);
        }
        Ok(filter)
    }
}

fn segment_bytes(geometry: &crate::geometry::Geometry) -> usize {
    usize::try_from(geometry.segment_bytes()).expect("in memory")
}
