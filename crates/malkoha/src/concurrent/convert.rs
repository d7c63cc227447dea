//! Copies of a shared table: for one owner, from one owner, and for other threads.

use super::restore::{Misfit, Restorer};
use super::shared::Shared;
use crate::error::BuildError;
use crate::geometry::{Geometry, Layout};
use crate::locks::Locking;
use crate::table::{Fixed, Parts, zeroed};

impl<P: Locking> Shared<P> {
    /// A copy, consistent as [`pieces`](super::table::Table::pieces) are.
    fn try_clone(&self) -> Result<Self, Misfit> {
        let mut restorer = Restorer::new(self.table.geometry)?;
        for piece in self.table.pieces() {
            restorer.add(&piece.words)?;
            for (key, copies) in piece.spilled {
                restorer.add_spilled(key, copies)?;
            }
        }
        restorer.finish(self.max_kicks, self.capacity)
    }
}

impl<P: Locking> Clone for Shared<P> {
    /// # Panics
    ///
    /// If the system has no memory for a second table.
    fn clone(&self) -> Self {
        self.try_clone().expect("memory for a copy of the table")
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
    /// A copy for one owner, consistent as [`pieces`](super::table::Table::pieces) are.
    pub(crate) fn to_fixed(&self) -> Result<Fixed, BuildError> {
        let geometry = self.table.geometry;
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let mut memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        let (mut spilled, mut len) = (Vec::new(), 0_u64);
        let segments = memory.chunks_exact_mut(segment_bytes(&geometry));
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

    /// The table of many threads; an error if the layout is not [`Layout::Words`].
    pub(crate) fn from_fixed(fixed: &Fixed) -> Result<Self, BuildError> {
        let &Parts { geometry, max_kicks, capacity, .. } = fixed.parts();
        if geometry.layout != Layout::Words {
            return Err(BuildError::Layout {
                layout: geometry.layout.name(),
                what: "threads that change it: build the filter with the layout words",
            });
        }
        let restored = || {
            let mut restorer = Restorer::new(geometry)?;
            for segment in fixed.bytes().chunks_exact(segment_bytes(&geometry)) {
                let words = &segment.as_chunks().0[..geometry.places as usize];
                let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
                restorer.add(&words)?;
            }
            for (key, copies) in fixed.spill().iter() {
                restorer.add_spilled(key, copies)?;
            }
            restorer.finish(max_kicks, capacity)
        };
        restored().map_err(|misfit| match misfit {
            Misfit::Memory => BuildError::Memory { bytes: geometry.table_bytes().unwrap_or(0) },
            _ => BuildError::Layout {
                layout: geometry.layout.name(),
                what: "bits that are no fingerprint's: build the filter anew from its keys",
            },
        })
    }
}

fn segment_bytes(geometry: &Geometry) -> usize {
    usize::try_from(geometry.segment_bytes()).expect("in memory")
}
