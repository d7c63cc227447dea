//! A table: bytes, and the layout that makes sense of them. Knows hashes, but no keys.

pub(crate) mod batch;
mod memory;

pub use memory::Memory;
pub(crate) use memory::zeroed;

use std::ops::{Deref, DerefMut};

use crate::error::BuildError;
use crate::geometry::Geometry;
use crate::layout::{self, Lanes, Swar, TableLayout};

/// The layouts, with the constants of this table's geometry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kernel {
    /// Buckets of at most 64 bits.
    Word(Swar<u64>),
    /// Buckets of at most 128 bits.
    Double(Swar<u128>),
    /// All other buckets.
    Lanes(Lanes),
}

/// Runs one expression with the layout's own type, so that it is compiled once for each layout.
macro_rules! with_layout {
    ($kernel:expr, $layout:ident => $body:expr) => {
        match $kernel {
            Kernel::Word($layout) => $body,
            Kernel::Double($layout) => $body,
            Kernel::Lanes($layout) => $body,
        }
    };
}

impl Kernel {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        if let Some(swar) = Swar::new(geometry) {
            Self::Word(swar)
        } else if let Some(swar) = Swar::new(geometry) {
            Self::Double(swar)
        } else {
            Self::Lanes(Lanes::new(geometry))
        }
    }
}

/// `B` is the bytes' owner: [`Memory`], a slice, or a mapped file.
#[derive(Clone, Debug)]
pub(crate) struct Table<B> {
    bytes: B,
    geometry: Geometry,
    kernel: Kernel,
}

impl Table<Memory> {
    pub(crate) fn new(geometry: Geometry) -> Result<Self, BuildError> {
        let bytes = geometry.table_bytes().unwrap_or(u64::MAX);
        let memory = zeroed(bytes).ok_or(BuildError::Memory { bytes })?;
        Ok(Self::from_bytes(memory, geometry))
    }
}

impl<B: Deref<Target = [u8]>> Table<B> {
    /// `bytes` has exactly `geometry.table_bytes()` bytes.
    pub(crate) fn from_bytes(bytes: B, geometry: Geometry) -> Self {
        assert_eq!(u64::try_from(bytes.len()).ok(), geometry.table_bytes(), "table length");
        Self { kernel: Kernel::new(&geometry), bytes, geometry }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The owner of the bytes.
    #[cfg(feature = "mmap")]
    pub(crate) fn owner(&self) -> &B {
        &self.bytes
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        with_layout!(&self.kernel, layout => layout.contains(&self.bytes, &layout.probe(hash)))
    }

    #[inline]
    pub(crate) fn count(&self, hash: u64) -> u32 {
        with_layout!(&self.kernel, layout => layout.count(&self.bytes, &layout.probe(hash)))
    }

    /// Calls `answer(i, found)` for each hash, in order.
    #[inline]
    pub(crate) fn contains_batch(&self, hashes: &[u64], answer: impl FnMut(usize, bool)) {
        with_layout!(&self.kernel, layout => {
            batch::contains(layout, &self.bytes, hashes, answer);
        });
    }

    /// Occupied slots, counted one by one.
    pub(crate) fn occupied(&self) -> u64 {
        let geometry = &self.geometry;
        let (slot_bits, width) = (u64::from(geometry.slot_bits()), geometry.fingerprint_bits);
        let segment_slots = geometry.slots() / u64::from(geometry.segments);
        // The table is in memory, so a segment's bytes fit usize.
        let segment_bytes = usize::try_from(geometry.segment_bytes()).expect("in memory");
        let mut occupied = 0;
        for segment in 0..geometry.segments as usize {
            for slot in 0..segment_slots {
                let base = segment * segment_bytes;
                let fingerprint = layout::bits::read(&self.bytes, base, slot * slot_bits, width);
                occupied += u64::from(fingerprint != 0);
            }
        }
        occupied
    }
}

impl<B: DerefMut<Target = [u8]>> Table<B> {
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, value: u64, max_kicks: u32) -> bool {
        with_layout!(&self.kernel, layout => {
            layout::insert(layout, &mut self.bytes, &layout.probe(hash), value, max_kicks)
        })
    }

    #[inline]
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        with_layout!(&self.kernel, layout => layout.remove(&mut self.bytes, &layout.probe(hash)))
    }

    /// Calls `answer(i, inserted)` for each hash, in order.
    #[inline]
    pub(crate) fn insert_batch(
        &mut self,
        hashes: &[u64],
        max_kicks: u32,
        answer: impl FnMut(usize, bool),
    ) {
        with_layout!(&self.kernel, layout => {
            batch::insert(layout, &mut self.bytes, hashes, max_kicks, answer);
        });
    }

    /// Calls `answer(i, removed)` for each hash, in order.
    #[inline]
    pub(crate) fn remove_batch(&mut self, hashes: &[u64], answer: impl FnMut(usize, bool)) {
        with_layout!(&self.kernel, layout => {
            batch::remove(layout, &mut self.bytes, hashes, answer);
        });
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.fill(0);
    }
}
